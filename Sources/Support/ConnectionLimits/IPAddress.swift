// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// An IPv4 or IPv6 address without a port. An IPv4 address that is mapped into IPv6 (`::ffff:192.0.2.1`) is the IPv4 address.
package struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes.
    package let bytes: [UInt8]

    /// An address of 4 or 16 bytes; nil for any other number.
    package init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.bytes = Array(bytes)
        case 16: self.bytes = bytes.starts(with: Self.mappedPrefix) ? Array(bytes.suffix(4)) : Array(bytes)
        default: return nil
        }
    }

    /// The address of a socket; nil for a socket of the file system.
    package init?(_ address: SocketAddress?) {
        switch address {
        case .v4: self.init(bytes: Self.bytes(of: address, at: 4..<8))
        case .v6: self.init(bytes: Self.bytes(of: address, at: 8..<24))
        default: return nil
        }
    }

    /// Reads the text of an address, such as `192.0.2.1` or `2001:db8::1`: no port, no zone, no brackets, and no name.
    package init?(text: some StringProtocol) {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x3A).contains(byte) || (0x61...0x66).contains(byte | 0x20) || byte == 0x2E
        }
        guard isPlain, text.utf8.count <= Self.maximumTextByteCount else { return nil }
        self.init(try? SocketAddress(ipAddress: String(text), port: 0))
    }

    /// Bytes of a socket address: an IPv4 address is at 4 to 7 of it, an IPv6 address at 8 to 23, on every system.
    private static func bytes(of address: SocketAddress?, at range: Range<Int>) -> [UInt8] {
        address?.withSockAddr { pointer, count in
            Array(UnsafeRawBufferPointer(start: pointer, count: count).dropFirst(range.lowerBound).prefix(range.count))
        } ?? []
    }

    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    /// The longest form: six groups of four digits, and an IPv4 address.
    private static let maximumTextByteCount = 45
}
