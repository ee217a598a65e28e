// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// Which rings a device has heard, so that none is heard twice, also by the next process.
///
/// Wire form: `signet-rings/v1` LF, u16 count, and for each ring, in rising order, the first 16 bytes of SHA-256 over caller's device, call
/// and ring, and u64 time of its signal in milliseconds.
public struct RingMemory: Hashable, Sendable {
    /// More than this many are not remembered: the oldest go.
    public static let capacity = 4096
    /// No memory is longer, in bytes.
    public static let maximumByteCount = 16 + 2 + capacity * 24
    private static let firstLine: StaticString = "signet-rings/v1\n"

    private var times: [[UInt8]: UInt64] = [:]

    /// Of nothing.
    public init() {}

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.firstLine)
        writer.write(UInt16(truncatingIfNeeded: times.count))
        for (name, time) in times.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            writer.write(name)
            writer.write(time)
        }
        return writer.bytes
    }

    /// Reads the wire form; nil if it is none.
    public init?(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.maximumByteCount else { return nil }
        var reader = ByteReader(bytes)
        guard let line = try? reader.bytes(Self.firstLine.utf8CodeUnitCount),
            Self.firstLine.withUTF8Buffer({ $0.elementsEqual(line) }), let count = try? reader.uint16(),
            count <= Self.capacity
        else { return nil }
        for _ in 0..<count {
            guard let name = try? reader.bytes(16), let time = try? reader.uint64() else { return nil }
            times[Array(name)] = time
        }
        guard (try? reader.end()) != nil, encoded == bytes else { return nil }
    }

    /// Whether this ring is new; remembers it, and forgets those of before `oldest`.
    mutating func insert(_ ring: Ring, _ content: Signal.Content, forgettingBefore oldest: UInt64) -> Bool {
        times = times.filter { $0.value >= oldest }
        let name = Array(
            SHA256.hash(data: content.sender.signingKey + content.callID.bytes + ring.id.bytes).prefix(16))
        guard times[name] == nil else { return false }
        times[name] = content.sentAt
        if times.count > Self.capacity, let first = times.min(by: { $0.value < $1.value }) { times[first.key] = nil }
        return true
    }
}
