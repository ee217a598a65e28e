// SPDX-License-Identifier: Apache-2.0

/// The addresses that begin with the same bits, such as `192.0.2.0/24`; a single address is the network of all its bits.
///
/// Spec: RFC 4632, section 3.1, and RFC 4291, section 2.3.
package struct IPNetwork: Hashable, Sendable {
    private let address: IPAddress
    private let bitCount: Int

    /// A network of this address alone.
    package init(_ address: IPAddress) { self.init(address, address.bytes.count * 8) }

    private init(_ address: IPAddress, _ bitCount: Int) {
        self.address = address
        self.bitCount = bitCount
    }

    /// Reads `192.0.2.1`, `192.0.2.0/24`, `2001:db8::1` or `2001:db8::/32`.
    ///
    /// - Returns: nil for anything else, for a number of bits that is 0 (everybody's addresses), too large, or written with leading
    ///   zeros, for an address that has bits set after those, and for an IPv4 network that is written as a part of IPv6.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(text: first) else { return nil }
        guard parts.count > 1 else {
            self.init(address)
            return
        }
        guard let bitCount = Int(parts[1]), String(bitCount) == parts[1],
            (1...address.bytes.count * 8).contains(bitCount)
        else {
            return nil
        }
        guard address.bytes.count == 16 || !first.contains(":") else { return nil }
        guard Self.begin(of: address, bitCount) == address.bytes else { return nil }
        self.init(address, bitCount)
    }

    /// Whether an address is one of the network's.
    package func contains(_ other: IPAddress) -> Bool { Self.begin(of: other, bitCount) == address.bytes }

    /// The bytes of an address with all bits zero but the first.
    private static func begin(of address: IPAddress, _ bitCount: Int) -> [UInt8] {
        address.bytes.enumerated().map { index, byte in
            byte & ~UInt8(truncatingIfNeeded: 0xFF >> max(0, min(8, bitCount - 8 * index)))
        }
    }
}
