// SPDX-License-Identifier: Apache-2.0

public import StrictJSON

/// What a site can ask a person to prove with a card.
///
/// Spec: OpenID for Verifiable Presentations 1.0, section 6 (DCQL), for the query.
public enum SiteQuestion: String, CaseIterable, Hashable, Sendable {
    /// Whether they are a member.
    case member
    /// Whether they are at least 18 years old.
    case over18

    /// What the query calls the card.
    static let name: JSONText = "card"

    /// The type of the card.
    public var type: JSONText {
        switch self {
        case .member: "urn:signet:member-card:1"
        case .over18: "urn:signet:age:1"
        }
    }

    /// The one claim that is asked for, which must be `true`.
    public var claim: JSONText {
        switch self {
        case .member: "member"
        case .over18: "age_over_18"
        }
    }

    /// Why the site asks, as the person reads it.
    public var purpose: JSONText {
        switch self {
        case .member: "This page is for members."
        case .over18: "This page is for people who are at least 18 years old."
        }
    }

    /// The query. Its `purpose` is not part of the specification, which lets a wallet ignore it.
    var query: JSONObject {
        let claim: JSONObject = ["path": .array([.string(claim)]), "values": .array([.bool(true)])]
        let credential: JSONObject = [
            "id": .string(Self.name), "format": .string("dc+sd-jwt"),
            "meta": .object(["vct_values": .array([.string(type)])]), "claims": .array([.object(claim)]),
        ]
        let set: JSONObject = [
            "options": .array([.array([.string(Self.name)])]), "purpose": .string(purpose),
        ]
        return ["credentials": .array([.object(credential)]), "credential_sets": .array([.object(set)])]
    }
}
