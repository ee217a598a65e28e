// SPDX-License-Identifier: Apache-2.0

/// The checksum of three words over a mnemonic: up to three wrong words are always noticed.
///
/// Spec: SLIP-0039, section "Checksum" (RS1024).
enum WordChecksum {
    private static let generator: [UInt32] = [
        0x00E0_E040, 0x01C1_C080, 0x0383_8100, 0x0707_0200, 0x0E0E_0009,
        0x1C0C_2412, 0x3808_6C24, 0x3090_FC48, 0x21B1_F890, 0x03F3_F120,
    ]

    /// The three words to append.
    static func words(for words: [UInt16], isExtendable: Bool) -> [UInt16] {
        let sum = polynomial(words + [0, 0, 0], isExtendable) ^ 1
        return [20, 10, 0].map { UInt16((sum >> UInt32($0)) & 1023) }
    }

    /// Whether words end with their checksum.
    static func isValid(_ words: [UInt16], isExtendable: Bool) -> Bool {
        polynomial(words, isExtendable) == 1
    }

    private static func polynomial(_ words: [UInt16], _ isExtendable: Bool) -> UInt32 {
        let context: StaticString = isExtendable ? "shamir_extendable" : "shamir"
        var sum: UInt32 = 1
        context.withUTF8Buffer { for byte in $0 { advance(&sum, by: UInt16(byte)) } }
        for word in words { advance(&sum, by: word) }
        return sum
    }

    private static func advance(_ sum: inout UInt32, by word: UInt16) {
        let high = sum >> 20
        sum = (sum & 0xFFFFF) << 10 ^ UInt32(word)
        for (bit, value) in generator.enumerated() { sum ^= value & (0 &- ((high >> UInt32(bit)) & 1)) }
    }
}
