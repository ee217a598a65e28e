// SPDX-License-Identifier: Apache-2.0

public import StrictJSON

/// Where the status of a credential stands: an entry of a list.
///
/// Spec: draft-ietf-oauth-status-list, section 6.2.
public struct StatusReference: Hashable, Sendable {
    /// The list's address: https, ASCII without spaces.
    public let uri: JSONText
    /// The entry, from 0.
    public let index: Int64

    /// Reads the `status` claim of a credential.
    ///
    /// - Throws: ``StatusFault/reference``: another kind of status, or a list that is not fetched over https. A credential whose
    ///   status cannot be asked for must not be taken as valid.
    public init(_ claim: JSONObject) throws(StatusFault) {
        guard let list = claim["status_list"]?.object, let index = list["idx"]?.integer, index >= 0,
            let uri = list["uri"]?.string, Self.isAddress(uri)
        else { throw .reference }
        self.uri = uri
        self.index = index
    }

    /// An entry of a list.
    ///
    /// - Throws: ``StatusFault/reference``: an index below 0, or an address that is not of https.
    public init(uri: JSONText, index: Int64) throws(StatusFault) {
        try self.init(["status_list": .object(["uri": .string(uri), "idx": .integer(index)])])
    }

    /// The `status` claim of a credential with this entry.
    public var claim: JSONObject {
        ["status_list": .object(["uri": .string(uri), "idx": .integer(index)])]
    }

    private static func isAddress(_ uri: JSONText) -> Bool {
        let scheme = "https://".utf8
        guard uri.utf8.starts(with: scheme), uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        let host = uri.utf8.dropFirst(scheme.count).prefix { $0 != UInt8(ascii: "/") }
        return !host.isEmpty
            && !host.contains { UInt8(ascii: "?") == $0 || UInt8(ascii: "#") == $0 || UInt8(ascii: "@") == $0 }
    }
}
