// SPDX-License-Identifier: Apache-2.0

import SecretMemory

/// One share of a secret in words, as wallets print it: 20 words for 128 bits, 33 for 256.
///
/// Security: threshold, group count and place are readable in the words. The words hold the share's value.
///
/// Spec: SLIP-0039, section "Format of the share mnemonic".
public struct SLIP39Share: Sendable {
    /// What every share of one set has in common.
    public let set: SLIP39SetHeader
    /// The group's place, 0 to 15.
    public let groupIndex: UInt8
    /// The share's place in its group, 0 to 15.
    public let memberIndex: UInt8
    /// How many shares recover the group's, 1 to 16.
    public let memberThreshold: UInt8
    /// The share's value, 16 to 64 bytes, an even number.
    let value: SecretBytes

    static let valueByteCounts = 16...64
    private static let metadataWordCount = 7

    init(
        set: SLIP39SetHeader, groupIndex: UInt8, memberIndex: UInt8, memberThreshold: UInt8, value: SecretBytes
    ) {
        self.set = set
        self.groupIndex = groupIndex
        self.memberIndex = memberIndex
        self.memberThreshold = memberThreshold
        self.value = value
    }

    /// Reads words in lower case with one space between, ASCII.
    ///
    /// - Throws: ``SLIP39Error``: not a mnemonic; the person has to look at the words again.
    public init(decoding text: [UInt8]) throws(SLIP39Error) {
        var numbers: [UInt16] = []
        defer { numbers.wipe() }
        for word in text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
            guard let number = SLIP39Words.number(of: word) else { throw .unknownWord(position: numbers.count) }
            numbers.append(number)
        }
        try self.init(numbers)
    }

    /// Reads words as a person types them: any case of ASCII letters, any spaces and line breaks between them.
    ///
    /// - Throws: ``SLIP39Error``.
    public init(typed text: [UInt8]) throws(SLIP39Error) {
        let words = text.split(whereSeparator: { $0 == 0x20 || (0x09...0x0D).contains($0) })
        let lower = words.map { $0.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
        try self.init(decoding: Array(lower.joined(separator: [0x20])))
    }

    private init(_ words: [UInt16]) throws(SLIP39Error) {
        let valueWords = words.dropLast(3).dropFirst(4)
        let padding = valueWords.count * 10 % 16
        guard words.count >= 20, padding <= 8, let first = valueWords.first,
            Self.valueByteCounts.contains((valueWords.count * 10 - padding) / 8)
        else { throw .invalidWordCount(words.count) }
        let set = try SLIP39SetHeader(words)
        guard WordChecksum.isValid(words, isExtendable: set.isExtendable) else { throw .invalidChecksum }
        guard set.groupThreshold <= set.groupCount else { throw .groupThresholdAboveCount }
        guard first >> UInt16(10 - padding) == 0 else { throw .invalidPadding }
        self.set = set
        groupIndex = UInt8(words[2] >> 6)
        memberIndex = UInt8(words[3] >> 4 & 15)
        memberThreshold = UInt8(words[3] & 15) + 1
        value = Self.value(of: valueWords, padding: padding)
    }

    /// The words, lower case, one space between, ASCII.
    ///
    /// Security: this text is the share. Show it once and let it go.
    public var encoded: [UInt8] {
        var numbers = set.words(groupIndex: groupIndex)
        defer { numbers.wipe() }
        numbers[3] |= UInt16(memberIndex) << 4 | UInt16(memberThreshold - 1)
        numbers += valueWords
        numbers += WordChecksum.words(for: numbers, isExtendable: set.isExtendable)
        return Array(numbers.map { SLIP39Words.all[Int($0)] }.joined(separator: [0x20]))
    }

    private static func value(of words: ArraySlice<UInt16>, padding: Int) -> SecretBytes {
        SecretBytes(count: (words.count * 10 - padding) / 8) { memory in
            var (bits, bitCount, offset) = (UInt32(0), -padding, 0)
            for word in words {
                bits = bits << 10 | UInt32(word)
                bitCount += 10
                while bitCount >= 8 {
                    bitCount -= 8
                    memory[offset] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
                    offset += 1
                }
            }
        }
    }

    private var valueWords: [UInt16] {
        let count = (value.count * 8 + 9) / 10
        return value.withBytes { memory in
            var words: [UInt16] = []
            var (bits, bitCount) = (UInt32(0), count * 10 - value.count * 8)
            for byte in memory {
                bits = bits << 8 | UInt32(byte)
                bitCount += 8
                if bitCount >= 10 {
                    bitCount -= 10
                    words.append(UInt16((bits >> UInt32(bitCount)) & 1023))
                }
            }
            return words
        }
    }
}

/// Why words are not a share.
public enum SLIP39Error: Error, Hashable, Sendable {
    /// The word at this position, from 0, is not in the list.
    case unknownWord(position: Int)
    /// No share has so many words.
    case invalidWordCount(Int)
    /// A word is wrong; which one cannot be told.
    case invalidChecksum
    /// The bits before the value are not zero.
    case invalidPadding
    /// More groups are needed than there are.
    case groupThresholdAboveCount
}
