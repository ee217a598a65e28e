// SPDX-License-Identifier: Apache-2.0

public import JOSE
public import SelectiveDisclosure
public import StrictJSON
public import TokenStatusList

/// What an issuer says of a person, in as many copies as there are keys of theirs: one for each site that is to see it.
///
/// Spec: RFC 9901, section 10.1 (unlinkability); draft-ietf-oauth-sd-jwt-vc, section 2.2.
///
/// Security: copies keep two sites from finding that they saw one person. They do not hinder the issuer, who knows all copies, from
/// finding it together with the sites.
public struct MemberCard: Sendable {
    /// One copy: the person's key for it, and its entry in a status list.
    public struct Copy: Sendable {
        /// The key that will show the copy.
        public let holder: WebKey
        /// The copy's entry; nil if it cannot be withdrawn.
        public let status: StatusReference?

        /// A copy.
        public init(holder: WebKey, status: StatusReference?) { (self.holder, self.status) = (holder, status) }
    }

    /// The issuer's name, as verifiers know it; nil if certificates name the issuer.
    public var issuer: JSONText?
    /// The type of the card.
    public var type: JSONText
    /// What the card says, each claim shown or kept back by itself.
    public var claims: JSONObject
    /// When the card ends, in seconds since 1970; the end of that day.
    public var expiry: Int64
    /// How many digests each copy has: at least one for each claim, and the same for all cards of one type.
    public var digestCount: Int
    /// The issuer's certificates, DER, its own first.
    public var certificates: [[UInt8]]

    /// A card.
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

/// Why copies cannot be made so: a mistake of the caller.
public enum MemberCardFault: Error, Hashable, Sendable {
    /// More claims than digests: the number would say which copies are of one card.
    case digestCount
    /// A claim that is the same in all copies and stands in no other card, or tells when a copy was made.
    case identifier(JSONText)
    /// One key for two copies.
    case keyTwice
    /// One entry of a status list for two copies.
    case entryTwice
}
