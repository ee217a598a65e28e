// SPDX-License-Identifier: Apache-2.0

public import Meeting
public import MeetingClient
public import PinnedHTTP

/// Why two people have not met, as far as their devices can tell.
public enum MeetingRefusal: Error, Hashable, Sendable {
    /// A check failed.
    case check(MeetingError)
    /// The connection between the two devices failed.
    case link(MeetingLinkError)
    /// Those are not three words and two digits. Nothing was compared, and the user may type again.
    case incompleteWords
    /// This meeting has been confirmed, declined or given up before.
    case over

    /// The error family, which says who is at fault.
    public var family: ErrorFamily {
        switch self {
        case .link(.tooMuch): .peer
        case .link: .environment
        case .incompleteWords, .over: .caller
        case .check(.notAnInvitation), .check(.expired), .check(.yourself), .check(.signingFailed),
            .check(.otherDirectory), .check(.declined), .check(.otherDay):
            .caller
        case .check: .peer
        }
    }

    /// What the account throws for an error of one of its parts.
    static func error(_ error: any Error) -> SignetError {
        switch error {
        case let error as MeetingError: .meeting(.check(error))
        case let error as MeetingLinkError: .meeting(.link(error))
        case let error as SignetError: error
        default: .meeting(.link(.closed))
        }
    }
}
