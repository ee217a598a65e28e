// SPDX-License-Identifier: Apache-2.0

public import JOSE
public import SelectiveDisclosure
public import StrictJSON
public import TokenStatusList

/// What an issuer states about a person, in one copy for each site that will see it. Each copy has a key of its own.
///
/// Spec: RFC 9901, section 10.1 (unlinkability); draft-ietf-oauth-sd-jwt-vc, section 2.2.
///
/// Security: two sites cannot find out from their copies that they saw one person. The issuer knows all copies, and
/// can find it out together with the sites.
public struct MemberCard: Sendable {
    /// One copy: the person's key for it, and the copy's entry in a status list.
    public struct Copy: Sendable {
        /// The key that will show the copy.
        public let holder: WebKey
        /// The copy's entry; nil if it cannot be withdrawn.
        public let status: StatusReference?

        /// A copy.
        public init(holder: WebKey, status: StatusReference?) { (self.holder, self.status) = (holder, status) }
    }

    /// The name by which verifiers know the issuer; nil if certificates name the issuer.
    public var issuer: JSONText?
    /// The type of the card.
    public var type: JSONText
    /// What the card states. The holder can show or hide each claim separately.
    public var claims: JSONObject
    /// When the card expires, in seconds since 1970. The copies state the end of that day.
    public var expiry: Int64
    /// How many digests each copy has: at least one for each claim, and the same for all cards of one type.
    public var digestCount: Int
    /// The issuer's certificates in DER, the issuer's own first.
    public var certificates: [[UInt8]]

    /// A card of these claims.
    public init(
        issuer: JSONText?, type: JSONText, claims: JSONObject, expiry: Int64, digestCount: Int = 8,
        certificates: [[UInt8]] = []
    ) {
        self.issuer = issuer
        self.type = type
        self.claims = claims
        self.expiry = expiry
        self.digestCount = digestCount
        self.certificates = certificates
    }

    /// The copies before they are signed, in the order of their keys.
    ///
    /// - Throws: ``MemberCardFault``: a mistake of the caller, after which sites could link copies.
    public func drafts(_ copies: [Copy]) throws(MemberCardFault) -> [CredentialDraft] {
        guard claims.members.count <= digestCount else { throw .digestCount }
        for name in ["sub", "jti", "iat"] as [JSONText] where claims[name] != nil { throw .identifier(name) }
        guard Set(copies.map(\.holder)).count == copies.count else { throw .keyTwice }
        let entries = copies.compactMap(\.status)
        guard Set(entries).count == entries.count else { throw .entryTwice }
        return copies.map(draft)
    }

    private func draft(_ copy: Copy) -> CredentialDraft {
        var open: JSONObject = ["vct": .string(type), "exp": .integer(CredentialDay.end(of: expiry))]
        open["iss"] = issuer.map(JSONValue.string)
        open["status"] = copy.status.map { .object($0.claim) }
        return CredentialDraft(
            open: open, hidden: claims, holder: copy.holder, digestCount: digestCount, certificates: certificates)
    }
}

/// Why the copies cannot be made: a mistake of the caller.
public enum MemberCardFault: Error, Hashable, Sendable {
    /// There are more claims than digests, so that the number of digests would reveal which copies are of one card.
    case digestCount
    /// A claim identifies the person in every copy, or tells when a copy was made.
    case identifier(JSONText)
    /// Two copies have the same key.
    case keyTwice
    /// Two copies have the same entry of a status list.
    case entryTwice
}
