// SPDX-License-Identifier: Apache-2.0

/// The Castagnoli checksum: finds damage, authenticates nothing.
///
/// Spec: RFC 3720, section 12.1; reflected polynomial 0x82F63B78.
struct CRC32C {
    private var sum: UInt32 = .max

    /// The checksum of everything so far.
    var value: UInt32 { ~sum }

    mutating func update(_ bytes: some Sequence<UInt8>) {
        sum = bytes.reduce(sum) { sum, byte in
            Self.table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8)
        }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0x82F6_3B78 : sum >> 1 }
    }
}
