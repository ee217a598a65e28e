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

    private static func isAddress(_ uri: JSONText) -> Bool {
        let scheme = "https://".utf8
        guard uri.utf8.starts(with: scheme), uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        let host = uri.utf8.dropFirst(scheme.count).prefix { $0 != UInt8(ascii: "/") }
        return !host.isEmpty
            && !host.contains { UInt8(ascii: "?") == $0 || UInt8(ascii: "#") == $0 || UInt8(ascii: "@") == $0 }
    }
}
