// SPDX-License-Identifier: Apache-2.0

public import SelectiveDisclosure
public import StrictJSON

/// What is asked for: credentials, and claims of them.
///
/// Spec: OpenID for Verifiable Presentations 1.0, section 6 (DCQL).
public struct CredentialsQuery: Hashable, Sendable {
    /// At most so many credentials, claims of one, and sets are read.
    public static let maximumCount = 64

    /// The credentials, at least one, each with another name.
    public let credentials: [CredentialQuery]
    /// Which of them are enough together; none: all are asked for.
    public let sets: [CredentialSet]

    /// A choice between sets of credentials.
    public struct CredentialSet: Hashable, Sendable {
        /// The sets, by the names of the credentials, the preferred first.
        public let options: [[JSONText]]
        /// Whether one of them must be shown.
        public let isRequired: Bool
        /// Why the site asks, in its own words. Drafts of the specification had this member, and others may still send it.
        public let purpose: JSONText?
    }

    /// Reads a query.
    ///
    /// - Throws: ``RequestFault/query`` or ``RequestFault/queryFormat``.
    public init(_ value: JSONValue) throws(RequestFault) {
        guard let object = value.object else { throw .query }
        var credentials: [CredentialQuery] = []
        for value in try Self.elements(object["credentials"]) { credentials.append(try CredentialQuery(value)) }
        let names = credentials.map(\.name)
        guard Set(names).count == names.count else { throw .query }
        self.credentials = credentials
        sets = try object["credential_sets"].map { value throws(RequestFault) in try Self.sets(value, names) } ?? []
    }

    private static func sets(_ value: JSONValue, _ names: [JSONText]) throws(RequestFault) -> [CredentialSet] {
        var sets: [CredentialSet] = []
        for value in try elements(value) {
            guard let object = value.object else { throw .query }
            let isRequired = object["required"] ?? .bool(true)
            guard isRequired == .bool(true) || isRequired == .bool(false) else { throw .query }
            let options = try Self.names(of: object["options"], among: names)
            sets.append(
                CredentialSet(
                    options: options, isRequired: isRequired == .bool(true), purpose: object["purpose"]?.string))
        }
        return sets
    }

    /// Lists of names that are all among those given.
    static func names(of value: JSONValue?, among known: [JSONText]) throws(RequestFault) -> [[JSONText]] {
        var lists: [[JSONText]] = []
        for value in try elements(value) {
            guard let names = value.strings, !names.isEmpty, names.count <= maximumCount,
                names.allSatisfy(known.contains)
            else { throw .query }
            lists.append(names)
        }
        return lists
    }

    /// The elements of an array that has some, and not too many.
    static func elements(_ value: JSONValue?) throws(RequestFault) -> [JSONValue] {
        guard let elements = value?.array, !elements.isEmpty, elements.count <= maximumCount else { throw .query }
        return elements
    }

    /// A name of letters, digits, underscore and hyphen.
    static func name(_ value: JSONValue?) throws(RequestFault) -> JSONText {
        guard let name = value?.string, (1...64).contains(name.utf8.count), name.utf8.allSatisfy(isOfAName) else {
            throw .query
        }
        return name
    }

    private static func isOfAName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// One credential that is asked for.
///
/// Spec: OpenID for Verifiable Presentations 1.0, section 6.1; annexes B.2.3 and B.3.5.
public struct CredentialQuery: Hashable, Sendable {
    /// The kinds of credentials that are known here.
    public enum Kind: Hashable, Sendable {
        /// An SD-JWT VC of one of these types.
        case selectiveDisclosure(types: [JSONText])
        /// An ISO mdoc of this type.
        case mobileDocument(type: JSONText)
    }

    /// One claim that is asked for.
    public struct Claim: Hashable, Sendable {
        /// What ``CredentialQuery/claimSets`` call it.
        public let name: JSONText?
        /// The way to it.
        public let path: ClaimPath
        /// The values, one of which it must have; none for any.
        public let values: [JSONValue]
    }

    /// What the answer calls it.
    public let name: JSONText
    /// The kind and type.
    public let kind: Kind
    /// The claims; none: those that are always open.
    public let claims: [Claim]
    /// Sets of claims, one of which is enough, by their names, the preferred first; none: all are asked for.
    public let claimSets: [[JSONText]]

    init(_ value: JSONValue) throws(RequestFault) {
        guard let object = value.object else { throw .query }
        name = try CredentialsQuery.name(object["id"])
        kind = try Self.kind(object)
        claims = try object["claims"].map { value throws(RequestFault) in try Self.claims(value) } ?? []
        let names = claims.compactMap(\.name)
        guard Set(names).count == names.count else { throw .query }
        guard let sets = object["claim_sets"] else {
            claimSets = []
            return
        }
        guard names.count == claims.count else { throw .query }
        claimSets = try CredentialsQuery.names(of: sets, among: names)
    }

    private static func kind(_ object: JSONObject) throws(RequestFault) -> Kind {
        guard let format = object["format"]?.string, let meta = object["meta"]?.object else { throw .query }
        switch format {
        case "dc+sd-jwt":
            guard let types = meta["vct_values"]?.strings, !types.isEmpty,
                types.count <= CredentialsQuery.maximumCount
            else { throw .query }
            return .selectiveDisclosure(types: types)
        case "mso_mdoc":
            guard let type = meta["doctype_value"]?.string else { throw .query }
            return .mobileDocument(type: type)
        default: throw .queryFormat
        }
    }

    private static func claims(_ value: JSONValue) throws(RequestFault) -> [Claim] {
        var claims: [Claim] = []
        for value in try CredentialsQuery.elements(value) {
            guard let object = value.object, let path = object["path"].flatMap({ ClaimPath($0) }) else { throw .query }
            let name = try object["id"].map { value throws(RequestFault) in try CredentialsQuery.name(value) }
            let values = try object["values"].map { value throws(RequestFault) in
                try CredentialsQuery.elements(value)
            }
            claims.append(Claim(name: name, path: path, values: values ?? []))
        }
        return claims
    }
}
