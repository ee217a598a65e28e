// SPDX-License-Identifier: Apache-2.0

/// A sentence about a call.
public struct CallRemark: Hashable, Sendable {
    /// How loud a sentence is.
    public enum Tone: Hashable, Sendable { case plain, warning, alarm }

    /// For a person.
    public let text: String
    /// How loud it is.
    public let tone: Tone

    /// A sentence.
    public init(_ text: String, _ tone: Tone) { (self.text, self.tone) = (text, tone) }
}
