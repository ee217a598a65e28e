// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// Sixty digits by which two people see that each has the other's true identity key.
///
/// Thirty digits stand for each person: SHA-512 over `signet-safety-number/v1` LF, u8 length of the handle, the handle and
/// the 33-byte identity key; then 5,199 times SHA-512 over the last hash and the key. Of the last hash, the first 30 bytes
/// are six groups of five bytes, each a big-endian number whose remainder by 100,000 is five digits. The smaller half comes
/// first, so that both people see one number.
///
/// Security: devices are not in it, because they come and go; the identity key signs them. An attacker who wants
/// another key with the same thirty digits needs 10^30 tries of 5,200 hashes each, about 2^112 hashes, and for both
/// sides of a conversation twice that. A user who compares only part of the number can be deceived with less work: the
/// last two groups of each half cost 10^10 tries, about 2^46 hashes, for each half.
///
/// Spec: Signal, "Safety number updates" (2016) and the numeric fingerprints of libsignal, with a label and handles of our own.
public struct SafetyNumber: Hashable, Sendable {
    /// How often SHA-512 is computed for each person.
    public static let rounds = 5200
    /// Sixty ASCII digits.
    public let digits: [UInt8]

    /// The number of two people; the order does not matter.
    public init(_ first: (handle: Handle, identityKey: [UInt8]), _ second: (handle: Handle, identityKey: [UInt8])) {
        let halves = [first, second].map { Self.half($0.handle, $0.identityKey) }
        digits = halves[0].lexicographicallyPrecedes(halves[1]) ? halves[0] + halves[1] : halves[1] + halves[0]
    }

    /// Twelve groups of five digits.
    public var groups: [[UInt8]] { stride(from: 0, to: digits.count, by: 5).map { Array(digits[$0..<$0 + 5]) } }

    /// The digits that a person types to show that they compared: the last two groups of each half, twenty digits.
    public var lastGroups: [UInt8] { Array(digits[20..<30] + digits[50..<60]) }

    /// Whether the typed text is the whole number, or its ``lastGroups``, with any spaces and dashes between.
    public func matches(typed text: [UInt8]) -> Bool {
        let typed = Self.withoutGaps(text)
        return typed == digits || typed == lastGroups
    }

    /// Whether the typed text has as many digits as ``matches(typed:)`` compares: sixty or twenty. Any other number is
    /// a typing error, which says nothing about keys.
    public static func isWhole(typed text: [UInt8]) -> Bool {
        let typed = withoutGaps(text)
        return [60, 20].contains(typed.count)
            && typed.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func withoutGaps(_ text: [UInt8]) -> [UInt8] {
        text.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
    }

    private static func half(_ handle: Handle, _ identityKey: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-safety-number/v1\n")
        writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
        writer.write(handle.bytes)
        writer.write(identityKey)
        var hash = Array(SHA512.hash(data: writer.bytes))
        for _ in 1..<rounds { hash = Array(SHA512.hash(data: hash + identityKey)) }
        return stride(from: 0, to: 30, by: 5).flatMap { start in
            let number = hash[start..<start + 5].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100_000
            return Decimal.encode(number + 100_000).dropFirst()
        }
    }
}
