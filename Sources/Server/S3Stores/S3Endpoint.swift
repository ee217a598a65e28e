// SPDX-License-Identifier: Apache-2.0

/// Where a store that speaks S3 is reached: a scheme, a host and a port, nothing else.
package struct S3Endpoint: Hashable, Sendable {
    /// Whether requests go through TLS.
    package let isSecure: Bool
    /// The host as in an address: a name, an IPv4 address, or an IPv6 address in brackets.
    package let host: String
    package let port: UInt16

    /// The host, with the port if it is not that of the scheme: the header `host`, which is signed.
    package var authority: String { port == (isSecure ? 443 : 80) ? host : "\(host):\(port)" }

    /// What stands in front of a path.
    package var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }

    /// Reads `https://HOST`, `https://HOST:PORT`, and the same with `http` where nobody can listen, or where that is allowed.
    ///
    /// - Throws: ``S3ConfigurationError/endpoint`` and ``S3ConfigurationError/plainHTTP``.
    package init(_ text: String, allowsPlainHTTP: Bool = false) throws(S3ConfigurationError) {
        let schemes = [("https://", true), ("http://", false)]
        guard let (scheme, isSecure) = schemes.first(where: { text.hasPrefix($0.0) }) else { throw .endpoint }
        var rest = text.dropFirst(scheme.count)
        var port = UInt16(isSecure ? 443 : 80)
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            let digits = rest[rest.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits), number > 0 else {
                throw .endpoint
            }
            (rest, port) = (rest[..<colon], number)
        }
        guard Self.isHost(rest) else { throw .endpoint }
        (self.isSecure, host, self.port) = (isSecure, String(rest), port)
        guard isSecure || allowsPlainHTTP || Self.isLoopback(host) else { throw .plainHTTP }
    }

    private static func isHost(_ text: Substring) -> Bool {
        if text.hasPrefix("[") {
            return text.hasSuffix("]")
                && text.dropFirst().dropLast().utf8.allSatisfy { isHexadecimal($0) || $0 == 0x3a || $0 == 0x2e }
        }
        return (1...253).contains(text.utf8.count) && text.first != "." && text.first != "-"
            && text.utf8.allSatisfy { isLetter($0) || (0x2d...0x2e).contains($0) || (0x30...0x39).contains($0) }
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
    }
}

/// Why a store that speaks S3 is not even asked.
package enum S3ConfigurationError: Error, Hashable, Sendable {
    /// Not an address of ``S3Endpoint``.
    case endpoint
    /// Without TLS, to another machine.
    case plainHTTP
    /// Not the name of a bucket: 3 to 63 small letters, digits, `-` and `.`.
    case bucket
    /// Not a region: 1 to 64 small letters, digits and `-`.
    case region
    /// Not a beginning for all paths: empty, or a path of `ObjectPath` of at most 100 characters, with a slash at its end.
    case prefix
    /// The file or the environment does not have credentials of the right form.
    case credentials
    /// The file of credentials can be read by others than its owner.
    case credentialsOpenToOthers
    /// The file of certificate authorities cannot be read.
    case certificateAuthorities
}
