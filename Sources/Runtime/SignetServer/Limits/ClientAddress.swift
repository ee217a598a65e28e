import NIOCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A client as the limits count it: one IPv4 address, or the 64-bit network of an IPv6 address, which is what
/// one customer gets. Kept in memory only, never written anywhere.
package struct ClientAddress: Hashable, Sendable {
    private let bits: UInt64
    private let isVersion6: Bool
    let isLoopback: Bool

    /// The address of a socket; every client without an IP address is one client.
    init(_ address: SocketAddress?) {
        switch address {
        case .v4(let address):
            self.init(version4: withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            if bytes.starts(with: Self.mappedPrefix) {
                self.init(version4: Array(bytes.suffix(4)))
            } else {
                self.init(version6: bytes)
            }
        default:
            self.init(bits: 0, isVersion6: false, isLoopback: true)
        }
    }

    private init(version4 bytes: [UInt8]) {
        self.init(bits: Self.integer(bytes), isVersion6: false, isLoopback: bytes.first == 127)
    }

    private init(version6 bytes: [UInt8]) {
        let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        self.init(bits: Self.integer(bytes.prefix(8)), isVersion6: true, isLoopback: isLoopback)
    }

    private init(bits: UInt64, isVersion6: Bool, isLoopback: Bool) {
        self.bits = bits
        self.isVersion6 = isVersion6
        self.isLoopback = isLoopback
    }

    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    private static func integer(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
