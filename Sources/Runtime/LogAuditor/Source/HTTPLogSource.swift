public import SignetClient

/// A log behind `https://host[:port][/prefix]`, or the same with `http`: its files prove themselves.
public struct HTTPLogSource: LogSource {
    private let transport: NIOTransport
    private let prefix: String

    /// The log at an address.
    ///
    /// - Parameter root: the only certificate to trust, in DER; nil for those of the system.
    /// - Throws: ``SignetClient/TransportError/invalidAddress``, ``SignetClient/TransportError/invalidRoot``.
    public init(_ url: String, root: [UInt8]? = nil) throws(TransportError) {
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
        transport = try NIOTransport(
            to: DirectoryAddress("https://" + authority),
            security: isPlain ? .none : root.map(NIOTransport.Security.root) ?? .system)
    }

    /// Fetches a file.
    ///
    /// - Throws: ``LogSourceError/transport(_:)``, ``LogSourceError/unexpectedStatus(_:)``.
    public func file(_ path: [UInt8], maximumByteCount: Int) async throws(LogSourceError) -> [UInt8]? {
        let request = DirectoryRequest(
            method: "GET", path: prefix + "/" + String(decoding: path, as: UTF8.self),
            limit: ResponseLimit(maximumByteCount: maximumByteCount, mediaType: nil))
        let response: DirectoryResponse
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
