// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Where a witness takes requests: `https://host[:port][/prefix]`, or the same with `http`.
///
/// A cosignature cannot be forged over plain HTTP either; an attacker in between can only withhold it.
public struct WitnessAddress: Hashable, Sendable {
    /// A DNS name, an IPv4 address, or an IPv6 address without brackets.
    public let host: String
    /// 443 or 80 unless named.
    public let port: Int
    /// Whether the connection is to be secured.
    public let isSecure: Bool
    /// What the `Host` header says.
    let authority: String
    /// The submission prefix: empty, or from its first slash, without one at its end.
    let prefix: String

    /// The address that a policy's line names; nil if it is none of this form.
    public init?(_ url: [UInt8]) {
        let text = String(decoding: url, as: UTF8.self)
        guard url.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        else { return nil }
        let scheme = ["https://", "http://"].first { text.hasPrefix($0) }
        guard let scheme else { return nil }
        isSecure = scheme == "https://"
        let rest = text.dropFirst(scheme.count)
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        authority = String(rest[..<end])
        var path = rest[end...]
        while path.hasSuffix("/") { path.removeLast() }
        prefix = String(path)
        guard let (host, port) = Self.split(authority) else { return nil }
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    private static func split(_ authority: String) -> (host: String, port: Int?)? {
        var host = authority[...]
        var port: Int?
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            let digits = authority[authority.index(after: colon)...]
            guard let number = try? Decimal.decode(Array(digits.utf8)), (1...65_535).contains(number) else {
                return nil
            }
            port = Int(number)
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy(isHostCharacter) else { return nil }
        return (String(host), port)
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
