// SPDX-License-Identifier: Apache-2.0

/// A sentence about a call.
public struct CallRemark: Hashable, Sendable {
    /// How loud it is.
    public enum Tone: Hashable, Sendable { case plain, warning, alarm }

    public let text: String
    public let tone: Tone

    public init(_ text: String, _ tone: Tone) { (self.text, self.tone) = (text, tone) }
}
