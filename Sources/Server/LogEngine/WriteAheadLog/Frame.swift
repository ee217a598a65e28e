// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// The unit of the write-ahead log: the entries of one group commit, under one checksum.
///
/// ```
/// magic            8 bytes   "SIGNETf1"
/// payload length   4 bytes   big-endian, like every integer here
/// entry count      4 bytes
/// first index      8 bytes   log index of the first entry
/// payload                    per entry: length (2 bytes) || entry, as in a tlog-tiles entry bundle
/// checksum        32 bytes   SHA-256(segment nonce || everything above)
/// ```
///
/// The nonce makes it impossible to write an entry that looks like a frame.
package struct Frame: Sendable, Equatable {
    static let headerByteCount = 24
    static let checksumByteCount = Checksum.byteCount
    /// The most bytes of payload in a frame: what a reader must be ready to allocate.
    static let maximumPayloadByteCount = 8 << 20
    /// What is left free for the entry that seals a frame.
    static let sealByteCount = 1 << 10
    static let magic: StaticString = "SIGNETf1"

    /// The log index of the first entry.
    package let firstIndex: UInt64
    /// How many entries it has.
    package let entryCount: Int
    /// Length-prefixed entries.
    package let payload: ArraySlice<UInt8>

    /// The index after the last entry.
    package var endIndex: UInt64 { firstIndex + UInt64(entryCount) }

    /// How many bytes a frame around `payloadByteCount` bytes takes.
    static func byteCount(payloadByteCount: Int) -> Int { headerByteCount + payloadByteCount + checksumByteCount }

    /// The bytes of a frame around entries that were checked before.
    static func encoded(
        firstIndex: UInt64, _ payloads: [ArraySlice<UInt8>], _ entryCount: Int, _ nonce: [UInt8]
    ) -> [UInt8] {
        let payloadByteCount = payloads.reduce(0) { $0 + $1.count }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount(payloadByteCount: payloadByteCount))
        magic.withUTF8Buffer { bytes.append(contentsOf: $0) }
        append(UInt64(payloadByteCount), byteCount: 4, to: &bytes)
        append(UInt64(entryCount), byteCount: 4, to: &bytes)
        append(firstIndex, byteCount: 8, to: &bytes)
        for payload in payloads { bytes.append(contentsOf: payload) }
        bytes.append(contentsOf: Checksum.of(bytes[...], nonce: nonce))
        return bytes
    }

    /// Appends one entry as payload and bundles hold it.
    static func appendEntry(_ entry: some Collection<UInt8>, to bytes: inout [UInt8]) {
        append(UInt64(entry.count), byteCount: 2, to: &bytes)
        bytes.append(contentsOf: entry)
    }

    /// Where `count` length-prefixed entries end of which the first begins at `start`; at most the end of `payload`.
    static func end(of count: Int, in payload: ArraySlice<UInt8>, from start: Int) -> Int {
        var position = start
        for _ in 0..<count where position + 2 <= payload.endIndex {
            position += 2 + (Int(payload[position]) << 8 | Int(payload[position + 1]))
        }
        return min(position, payload.endIndex)
    }

    /// Calls `body` with each entry in turn.
    package func forEachEntry<E: Error>(_ body: (ArraySlice<UInt8>) throws(E) -> Void) throws(E) {
        var position = payload.startIndex
        for _ in 0..<entryCount {
            let length = Int(payload[position]) << 8 | Int(payload[position + 1])
            try body(payload[position + 2..<position + 2 + length])
            position += 2 + length
        }
    }

    private static func append(_ value: UInt64, byteCount: Int, to bytes: inout [UInt8]) {
        for shift in stride(from: (byteCount - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }
}

extension Frame {
    /// The frame of these entries, as a database holds them.
    ///
    /// - Parameter payload: per entry its length in two bytes, big-endian, and its bytes.
    /// - Returns: nil when the payload is not that of so many entries, each of at least one byte.
    package init?(firstIndex: UInt64, entryCount: Int, payload: [UInt8]) {
        guard payload.count <= Self.maximumPayloadByteCount, Self.holds(entryCount, in: payload[...]),
            !firstIndex.addingReportingOverflow(UInt64(entryCount)).overflow
        else { return nil }
        self.firstIndex = firstIndex
        self.entryCount = entryCount
        self.payload = payload[...]
    }

    /// The leaf hash of each entry.
    var leaves: [TreeHash] {
        var leaves: [TreeHash] = []
        leaves.reserveCapacity(entryCount)
        forEachEntry { leaves.append(TreeHash.leaf($0.span)) }
        return leaves
    }

    /// The entries, without their lengths.
    var entries: [ArraySlice<UInt8>] {
        var entries: [ArraySlice<UInt8>] = []
        entries.reserveCapacity(entryCount)
        forEachEntry { entries.append($0) }
        return entries
    }

    /// How long the frame that begins with `header` says it is, or nil when no frame begins like this.
    static func byteCount(header: ArraySlice<UInt8>) -> Int? {
        guard header.count >= headerByteCount, header.starts(with: magicBytes) else { return nil }
        var reader = ByteReader(header.dropFirst(magicBytes.count))
        guard let payload = try? Int(reader.uint32()), payload <= maximumPayloadByteCount else { return nil }
        return byteCount(payloadByteCount: payload)
    }

    /// The frame in `bytes`, which are exactly as many as its header says; nil when it is not whole and consistent.
    init?(_ bytes: ArraySlice<UInt8>, nonce: [UInt8]) {
        guard Self.byteCount(header: bytes) == bytes.count else { return nil }
        let covered = bytes.dropLast(Self.checksumByteCount)
        guard Checksum.of(covered, nonce: nonce).elementsEqual(bytes.suffix(Self.checksumByteCount)) else { return nil }
        var reader = ByteReader(covered.dropFirst(Self.magicBytes.count + 4))
        guard let count = try? Int(reader.uint32()), let first = try? reader.uint64() else { return nil }
        let payload = reader.rest()
        guard Self.holds(count, in: payload), first.addingReportingOverflow(UInt64(count)).overflow == false
        else { return nil }
        self.init(firstIndex: first, entryCount: count, payload: payload)
    }

    static let magicBytes = magic.withUTF8Buffer { [UInt8]($0) }

    /// Whether `payload` is exactly `count` length-prefixed entries, and at least one.
    private static func holds(_ count: Int, in payload: ArraySlice<UInt8>) -> Bool {
        var position = payload.startIndex
        var found = 0
        while position < payload.endIndex {
            guard payload.endIndex - position >= 2 else { return false }
            position += 2 + (Int(payload[position]) << 8 | Int(payload[position + 1]))
            guard position <= payload.endIndex else { return false }
            found += 1
        }
        return found == count && count > 0
    }
}
