// SPDX-License-Identifier: Apache-2.0

public import ContactMatching
public import Meeting
public import MeetingClient
public import PinnedHTTP
public import SelectiveDisclosure
public import SignetClient

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

    // MARK: What the two give each other, after both have confirmed

    /// The connection ended first, or something arrived that does not open or has another form.
    case giftsLost
    /// The user's card is longer than a meeting takes.
    case cardTooLong
    /// The other person's card is refused by a check.
    case card(PresentationFault)
    /// The other person's card is signed by another identity key than the one that they have just proved.
    case cardOfAnother
    /// The comparison of contacts was not finished.
    case matching(MatchingError)
    /// The file with what people gave cannot be read or written.
    case contacts(FileFault)
    /// The file with what people gave was changed, or is of another device.
    case contactsDamaged

    init(_ error: any Error) {
        self =
            switch error {
            case let error as MeetingError: .check(error)
            case let error as MeetingLinkError: .link(error)
            case let error as MatchingError: .matching(error)
            case let error as MeetingRefusal: error
            case SignetError.meeting(let refusal): refusal
            case SignetError.file(let fault, _): .contacts(fault)
            default: .link(.closed)
            }
    }

    /// Why a gift did not change hands. The meeting stands.
    init(ofGift error: any Error) {
        self =
            switch MeetingRefusal(error) {
            case .check, .link: .giftsLost
            case let refusal: refusal
            }
    }

    /// The error family, which says who is at fault.
    public var family: ErrorFamily {
        switch self {
        case .link(.tooMuch): .peer
        case .link, .giftsLost: .environment
        case .incompleteWords, .over, .cardTooLong, .contactsDamaged: .caller
        case .contacts(let fault): fault.family
        case .matching(.tooManyTokens): .caller
        case .matching(.unavailable): .environment
        case .card, .cardOfAnother, .matching: .peer
        case .check(.notAnInvitation), .check(.expired), .check(.yourself), .check(.signingFailed),
            .check(.otherDirectory), .check(.declined), .check(.otherDay):
            .caller
        case .check: .peer
        }
    }

    /// What the account throws for an error of one of its parts.
    static func error(_ error: any Error) -> SignetError {
        error as? SignetError ?? .meeting(MeetingRefusal(error))
    }
}
