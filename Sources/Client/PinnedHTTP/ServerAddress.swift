// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// The host and port of `https://host[:port]`.
public struct ServerAddress: Hashable, Sendable {
    /// A DNS name, an IPv4 address, or an IPv6 address without brackets.
    public let host: String
    /// The port; 443 unless one is named.
    public let port: Int
    /// The value of the `Host` header.
    public let authority: String

    /// Reads an address.
    ///
    /// - Throws: ``TransportError/invalidAddress`` for another scheme, a path, a query, a user, or no host.
    public init(_ url: String) throws(TransportError) {
        let prefix = "https://"
        guard url.hasPrefix(prefix) else { throw .invalidAddress }
        authority = String(url.dropFirst(prefix.count))
        let (host, rest) = try Self.split(authority)
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isHostCharacter) else { throw .invalidAddress }
        self.host = host
        if rest.isEmpty {
            port = 443
        } else {
            guard rest.hasPrefix(":"), let number = try? Decimal.decode(Array(rest.dropFirst().utf8)),
                (1...65_535).contains(number)
            else { throw .invalidAddress }
            port = Int(number)
        }
    }

    private static func split(_ authority: String) throws(TransportError) -> (String, Substring) {
        guard authority.hasPrefix("[") else {
            let end = authority.firstIndex(of: ":") ?? authority.endIndex
            return (String(authority[..<end]), authority[end...])
        }
        guard let end = authority.firstIndex(of: "]") else { throw .invalidAddress }
        let host = authority[authority.index(after: authority.startIndex)..<end]
        guard host.contains(":") else { throw .invalidAddress }
        return (String(host), authority[authority.index(after: end)...])
    }

    private static func isHostCharacter(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Array("-.:".utf8).contains(character)
        }
    }
}
