// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// A client as the limits count it: one IPv4 address, or the 64-bit network of an IPv6 address, which is what
/// one customer gets. Kept in memory only, never written anywhere.
package struct ClientAddress: Hashable, Sendable {
    private let bits: UInt64
    private let isVersion6: Bool
    package let isLoopback: Bool

    /// Whom several addresses belong to, as limits count them: an IPv4 address, or 64 bits of an IPv6 address.
    package var network: [UInt8] {
        [isVersion6 ? 6 : 4] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) }
    }

    /// What one site has, as limits count it: 24 bits of an IPv4 address, or 48 of an IPv6 address.
    package var site: [UInt8] { Array(network.prefix(isVersion6 ? 7 : 8)) }

    /// The address of a socket; every client without an IP address is one client.
    package init(_ address: SocketAddress?) {
        self = IPAddress(address).map { Self($0) } ?? Self(bits: 0, isVersion6: false, isLoopback: true)
    }

    /// The client at an address.
    package init(_ address: IPAddress) {
        let bytes = address.bytes
        if bytes.count == 4 {
            self.init(bits: Self.integer(bytes), isVersion6: false, isLoopback: bytes.first == 127)
        } else {
            let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
            self.init(bits: Self.integer(bytes.prefix(8)), isVersion6: true, isLoopback: isLoopback)
        }
    }

    /// A client by its ``network``; nil: not 9 bytes of one.
    package init?(network: [UInt8], isLoopback: Bool) {
        guard network.count == 9, network[0] == 4 || network[0] == 6 else { return nil }
        self.init(bits: Self.integer(network.dropFirst()), isVersion6: network[0] == 6, isLoopback: isLoopback)
    }

    private init(bits: UInt64, isVersion6: Bool, isLoopback: Bool) {
        self.bits = bits
        self.isVersion6 = isVersion6
        self.isLoopback = isLoopback
    }

    private static func integer(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
