// SPDX-License-Identifier: Apache-2.0

/// What a proxy sends before everything else on a connection that it passes on.
///
/// Spec: "The PROXY protocol, Versions 1 & 2" (HAProxy), sections 2.1 and 2.2. Read more strictly than it demands: one spelling of
/// each number, and only TCP.
package enum ProxyHeader: Hashable, Sendable {
    /// The connection comes from this address.
    case client(IPAddress)
    /// The connection is the proxy's own (`LOCAL`), or it does not say whose it is (`UNKNOWN`, `UNSPEC`).
    case proxy

    /// The longest header that is read, in bytes: addresses, and at most this much of the fields behind them, which are ignored.
    package static let maximumByteCount = 2048
    /// The longest header of version 1, in bytes, with its line break.
    package static let maximumLineByteCount = 107

    /// Reads a header from what came on a connection until now.
    ///
    /// - Returns: nil as long as it is not complete; then also how many bytes it has.
    /// - Throws: as soon as the bytes cannot become a header, and before more than ``maximumByteCount`` are needed.
    package static func read(
        _ bytes: some RandomAccessCollection<UInt8>
    ) throws(ProxyHeaderFault) -> (header: ProxyHeader, byteCount: Int)? {
        let start = Array(bytes.prefix(maximumByteCount))
        if start.first == signature.first { return try readBinary(start) }
        return try readLine(start)
    }

    // MARK: Version 1

    private static func readLine(_ bytes: [UInt8]) throws(ProxyHeaderFault) -> (ProxyHeader, Int)? {
        guard zip(bytes, word).allSatisfy({ $0 == $1 }) else { throw ProxyHeaderFault() }
        let line = bytes.prefix(maximumLineByteCount)
        guard let end = line.firstIndex(where: { $0 == 0x0D || $0 == 0x0A }), end + 1 < line.count else {
            guard bytes.count < maximumLineByteCount, !bytes.contains(0x0A) else { throw ProxyHeaderFault() }
            return nil
        }
        guard line[end] == 0x0D, line[end + 1] == 0x0A else { throw ProxyHeaderFault() }
        return (try header(String(decoding: line[..<end].dropFirst(word.count), as: UTF8.self)), end + 2)
    }

    private static func header(_ text: String) throws(ProxyHeaderFault) -> ProxyHeader {
        let fields = text.split(separator: " ", omittingEmptySubsequences: false)
        if fields.first == "UNKNOWN" { return .proxy }
        guard fields.count == 5, ["TCP4", "TCP6"].contains(fields[0]), fields[3...].allSatisfy(isPort),
            fields[1...2].allSatisfy({ $0.contains(":") == (fields[0] == "TCP6") }),
            let source = IPAddress(text: fields[1]), IPAddress(text: fields[2]) != nil
        else { throw ProxyHeaderFault() }
        return .client(source)
    }

    private static func isPort(_ text: Substring) -> Bool { UInt16(text).map { String($0) == text } ?? false }

    private static let word = Array("PROXY ".utf8)

    // MARK: Version 2

    private static func readBinary(_ bytes: [UInt8]) throws(ProxyHeaderFault) -> (ProxyHeader, Int)? {
        guard zip(bytes, signature).allSatisfy({ $0 == $1 }) else { throw ProxyHeaderFault() }
        guard bytes.count >= fixedByteCount else { return nil }
        let byteCount = fixedByteCount + Int(bytes[14]) << 8 + Int(bytes[15])
        guard byteCount <= maximumByteCount else { throw ProxyHeaderFault() }
        let isOwn = bytes[12] == local
        guard isOwn || bytes[12] == proxied else { throw ProxyHeaderFault() }
        let width: Int
        switch bytes[13] {
        case _ where isOwn, 0x00: width = 0
        case 0x11: width = 4
        case 0x21: width = 16
        default: throw ProxyHeaderFault()
        }
        // Two addresses of this width, and two ports.
        guard width == 0 || byteCount >= fixedByteCount + 2 * width + 4 else { throw ProxyHeaderFault() }
        guard bytes.count >= byteCount else { return nil }
        let source = IPAddress(bytes: bytes[fixedByteCount..<fixedByteCount + width])
        return (source.map { .client($0) } ?? .proxy, byteCount)
    }

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let fixedByteCount = 16
    private static let local: UInt8 = 0x20
    private static let proxied: UInt8 = 0x21
}

/// What came on a connection from a proxy does not begin with a header.
package struct ProxyHeaderFault: Error, Hashable, Sendable {}
