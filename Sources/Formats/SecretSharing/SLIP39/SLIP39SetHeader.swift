// SPDX-License-Identifier: Apache-2.0

/// What all shares of one set say in their first words.
///
/// Spec: SLIP-0039, section "Format of the share mnemonic".
public struct SLIP39SetHeader: Hashable, Sendable {
    /// Random, 15 bits: tells sets apart.
    public let identifier: UInt16
    /// Whether further sets of the same secret may be made with another identifier.
    public let isExtendable: Bool
    /// The passphrase is stretched by 10,000 · 2^exponent iterations; 0 to 15.
    public let iterationExponent: UInt8
    /// How many groups recover the secret, 1 to 16.
    public let groupThreshold: UInt8
    /// How many groups there are, 1 to 16.
    public let groupCount: UInt8

    init(
        identifier: UInt16, isExtendable: Bool, iterationExponent: UInt8, groupThreshold: UInt8, groupCount: UInt8
    ) {
        self.identifier = identifier & 0x7FFF
        self.isExtendable = isExtendable
        self.iterationExponent = iterationExponent & 15
        self.groupThreshold = groupThreshold
        self.groupCount = groupCount
    }

    /// Reads the first four words, which the caller has counted.
    init(_ words: [UInt16]) throws(SLIP39Error) {
        guard words.count >= 4 else { throw .invalidWordCount(words.count) }
        self.init(
            identifier: words[0] << 5 | words[1] >> 5, isExtendable: words[1] >> 4 & 1 == 1,
            iterationExponent: UInt8(words[1] & 15), groupThreshold: UInt8(words[2] >> 2 & 15) + 1,
            groupCount: UInt8((words[2] & 3) << 2 | words[3] >> 8) + 1)
    }

    /// The first four words, without the member's part of the fourth.
    func words(groupIndex: UInt8) -> [UInt16] {
        let count = UInt16(groupCount - 1)
        return [
            identifier >> 5,
            (identifier & 31) << 5 | (isExtendable ? 16 : 0) | UInt16(iterationExponent),
            UInt16(groupIndex) << 6 | UInt16(groupThreshold - 1) << 2 | count >> 2,
            (count & 3) << 8,
        ]
    }
}
