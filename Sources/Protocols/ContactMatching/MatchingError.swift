// SPDX-License-Identifier: Apache-2.0

/// Why two people do not learn whom they both know. A retry with the same messages does not help.
public enum MatchingError: Error, Hashable, Sendable {
    /// This side has more than ``ContactToken/maximumCount`` tokens. Leave some out.
    case tooManyTokens
    /// The other side's lists are not of the form, or have other lengths than they must have.
    case malformed
    /// A point of the other side is none of the group, or is the identity, which every secret leaves as it is.
    case notAPoint
    /// The other side sent a point twice in one list.
    case repeatedPoint
    /// The other side does not stand by a match: asked again under a fresh secret, it gave another answer. It had changed the
    /// order of its answers, or made one up.
    case unprovedMatch
    /// This machine has no library for the group.
    case unavailable
}
