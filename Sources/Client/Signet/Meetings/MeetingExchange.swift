// SPDX-License-Identifier: Apache-2.0

public import Credentials
public import KeyTransparency
import MeetingClient
public import SelectiveDisclosure

/// What the user gives, and asks, when both people have confirmed the meeting.
public struct MeetingOffer: Sendable {
    /// A business card that the user's identity key has signed; nil for none. It is shown to the other person alone.
    public var card: HeldCredential?
    /// Which lines of the card.
    public var fields: Set<BusinessCard.Field>
    /// Whether to find out whom both know. Nothing is compared unless both ask.
    public var comparesContacts: Bool
    /// People who are not to be found out.
    public var hidden: Set<Handle>

    /// An offer; without anything, only tokens change hands.
    public init(
        card: HeldCredential? = nil, showing fields: Set<BusinessCard.Field> = Set(BusinessCard.Field.allCases),
        comparesContacts: Bool = false, hidden: Set<Handle> = []
    ) {
        (self.card, self.fields) = (card, fields)
        (self.comparesContacts, self.hidden) = (comparesContacts, hidden)
    }
}

/// What came of it. The meeting stands whatever this says.
public struct MeetingExchange: Hashable, Sendable {
    /// The lines of the other person's card, which the identity key that they proved has signed; nil if they gave none.
    public internal(set) var card: [MetCardLine]?
    /// Whom both know.
    public internal(set) var contacts = CommonContacts.notAsked
    /// Why something did not change hands; nil if nothing went wrong.
    public internal(set) var fault: MeetingRefusal?
}

/// A line of a card.
public struct MetCardLine: Hashable, Sendable {
    /// Which.
    public let field: BusinessCard.Field
    /// What it says.
    public let text: String

    /// The line's name for a page.
    public var label: String {
        switch field {
        case .name: "Name"
        case .organization: "Organization"
        case .title: "Title"
        case .email: "Email"
        case .telephone: "Phone"
        case .website: "Website"
        case .note: "Note"
        }
    }
}

/// Whom two people both know, as far as their meetings tell.
public enum CommonContacts: Hashable, Sendable {
    /// The user did not ask.
    case notAsked
    /// The other person did not ask.
    case theyDidNotAsk
    /// These.
    case people([Handle])
}

/// A person whom the user met, and what they gave.
public struct MetContact: Hashable, Sendable {
    /// Who.
    public let handle: Handle
    /// When they met last, in days since 1970.
    public let day: UInt64
    /// The lines of their card; empty if they gave none.
    public let card: [MetCardLine]
}
