// SPDX-License-Identifier: Apache-2.0

public import PinnedHTTP
public import SignetAPI
import SignetClient

/// A log behind `https://host[:port][/prefix]`, or the same with `http`: its files prove themselves.
public struct HTTPLogSource: LogSource {
    private let transport: NIOTransport
    private let prefix: String

    /// The log at an address.
    ///
    /// - Parameter profile: the directory whose log it is: then its pins are demanded. Without one the system's roots are
    ///   trusted, and the files have to speak for themselves.
    /// - Throws: ``SignetClient/TransportError``: the address, or what the profile says of its TLS key.
    public init(_ url: String, of profile: DirectoryProfile? = nil) throws(TransportError) {
        guard let scheme = ["https://", "http://"].first(where: url.hasPrefix) else { throw .invalidAddress }
        let rest = url.dropFirst(scheme.count)
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        var path = rest[end...]
        while path.hasSuffix("/") { path.removeLast() }
        guard path.utf8.allSatisfy(Self.isPathCharacter) else { throw .invalidAddress }
        prefix = String(path)
        let isPlain = scheme == "http://"
        var authority = String(rest[..<end])
        if isPlain && !Self.namesPort(authority) { authority += ":80" }
        let address = try ServerAddress("https://" + authority)
        if isPlain {
            transport = NIOTransport(overPlainHTTPTo: address)
        } else {
            let connector =
                if let profile { try profile.connector() } else {
                    try PinnedConnector.trustingSystemRoots(for: address)
                }
            transport = NIOTransport(to: address, through: connector)
        }
    }

    /// Fetches a file.
    ///
    /// - Throws: ``LogSourceError/transport(_:)``, ``LogSourceError/unexpectedStatus(_:)``.
    public func file(_ path: [UInt8], maximumByteCount: Int) async throws(LogSourceError) -> [UInt8]? {
        let request = TransportRequest(
            method: "GET", path: prefix + "/" + String(decoding: path, as: UTF8.self),
            limit: ResponseLimit(maximumByteCount: maximumByteCount, mediaType: nil))
        let response: TransportResponse
        do { response = try await transport.send(request) } catch { throw .transport(error) }
        switch response.status {
        case 200: return response.body
        case 404: return nil
        default: throw .unexpectedStatus(response.status)
        }
    }

    private static func namesPort(_ authority: String) -> Bool {
        guard let colon = authority.lastIndex(of: ":") else { return false }
        return !authority[colon...].contains("]")
    }

    private static func isPathCharacter(_ character: UInt8) -> Bool {
        character > 0x20 && character < 0x7F && character != UInt8(ascii: "?") && character != UInt8(ascii: "#")
    }
}
