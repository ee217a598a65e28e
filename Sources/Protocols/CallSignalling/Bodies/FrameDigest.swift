// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// What a device has sent recently and heard from others: signed, so that the others detect frames that another member
/// sent in its name.
///
/// Every member can make frames in the name of every other, because all have the same secret; only the sender can sign.
/// Hashes of whole frames are signed, because a holder of an AES-GCM key can make two frames with one tag.
///
/// Wire form: u64 ``mark``, u8 count and 8 bytes each of ``heard``, u8 count of ``sent`` (1 to ``maximumEpochCount``), and for each:
/// epoch (9), u16 index, u8 count of streams (0 to 4), and for each stream u8 context, u64 count, u8 count of hashes, 8 bytes each.
/// Marks rise, epochs fall, contexts rise.
public struct FrameDigest: Hashable, Sendable {
    /// No digest has more epochs.
    public static let maximumEpochCount = 3
    /// No digest has more marks and hashes together: so it fits into a packet.
    public static let maximumHashCount = 112
    /// No key seals more frames.
    public static let maximumFrameCount: UInt64 = 1 << 32

    /// Frames of one context under one epoch.
    public struct Stream: Hashable, Sendable {
        /// 0 to 3: what the frames are part of.
        public let context: UInt8
        /// How many were sent, from number 0 on: at least one.
        public let count: UInt64
        /// ``FrameDigest/hash(of:)`` of the last of them, in their order.
        public let hashes: [UInt64]

        /// A stream.
        public init(context: UInt8, count: UInt64, hashes: [UInt64]) {
            (self.context, self.count, self.hashes) = (context, count, hashes)
        }
    }

    /// Everything that was sent under one epoch.
    public struct Sent: Hashable, Sendable {
        /// Under which epoch.
        public let epoch: Epoch
        /// The number of the sender in the frames' key ids.
        public let index: UInt16
        /// Contexts of which anything was sent, rising: of the others nothing was.
        public let streams: [Stream]

        /// All of an epoch.
        public init(epoch: Epoch, index: UInt16, streams: [Stream]) {
            (self.epoch, self.index, self.streams) = (epoch, index, streams)
        }

        /// How many frames of a context were sent.
        public func count(of context: UInt8) -> UInt64 { streams.first { $0.context == context }?.count ?? 0 }
    }

    /// A fresh random number, with which a receiver of the digest shows that it received it.
    public let mark: UInt64
    /// The marks of the last digests that the sender heard, rising: it signed this one after they were made.
    public let heard: [UInt64]
    /// The epoch that the sender sends under, then those that it left lately: it never goes back to them.
    public let sent: [Sent]

    /// A digest.
    ///
    /// - Throws: ``SignalDecodingError/invalidDigest``: too many of anything, too few, out of order, or numbered beyond any frame.
    public init(mark: UInt64, heard: [UInt64], sent: [Sent]) throws(SignalDecodingError) {
        let hashCount = sent.reduce(heard.count) { $1.streams.reduce($0) { $0 + $1.hashes.count } }
        guard (1...Self.maximumEpochCount).contains(sent.count), hashCount <= Self.maximumHashCount,
            zip(heard, heard.dropFirst()).allSatisfy({ $0 < $1 }),
            zip(sent, sent.dropFirst()).allSatisfy({ $0.epoch > $1.epoch }), sent.allSatisfy(\.isValid)
        else { throw .invalidDigest }
        self.mark = mark
        self.heard = heard
        self.sent = sent
    }

    /// The first 8 bytes, big-endian, of SHA-256("signet-call-frame/v1" ‖ frame, as it was sent).
    public static func hash(of frame: [UInt8]) -> UInt64 {
        var hash = SHA256()
        hash.update(data: Array("signet-call-frame/v1".utf8))
        hash.update(data: frame)
        return hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func write(to writer: inout ByteWriter) {
        writer.write(mark)
        Self.write(heard, to: &writer)
        writer.write(UInt8(truncatingIfNeeded: sent.count))
        for part in sent { part.write(to: &writer) }
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        let mark = try reading(&reader) { reader throws(CanonicalCodingError) in try reader.uint64() }
        var room = Self.maximumHashCount
        let heard = try Self.hashes(from: &reader, room: &room)
        let count = try reading(&reader) { reader throws(CanonicalCodingError) in try reader.uint8() }
        guard count <= Self.maximumEpochCount else { throw .invalidDigest }
        var sent: [Sent] = []
        for _ in 0..<count { sent.append(try Sent(from: &reader, room: &room)) }
        try self.init(mark: mark, heard: heard, sent: sent)
    }

    fileprivate static func write(_ hashes: [UInt64], to writer: inout ByteWriter) {
        writer.write(UInt8(truncatingIfNeeded: hashes.count))
        for hash in hashes { writer.write(hash) }
    }

    fileprivate static func hashes(
        from reader: inout ByteReader, room: inout Int
    ) throws(SignalDecodingError) -> [UInt64] {
        let count = Int(try reading(&reader) { reader throws(CanonicalCodingError) in try reader.uint8() })
        guard count <= room else { throw .invalidDigest }
        room -= count
        return try reading(&reader) { reader throws(CanonicalCodingError) in
            var hashes: [UInt64] = []
            for _ in 0..<count { hashes.append(try reader.uint64()) }
            return hashes
        }
    }
}

extension FrameDigest.Sent {
    fileprivate var isValid: Bool {
        zip(streams, streams.dropFirst()).allSatisfy { $0.context < $1.context }
            && streams.allSatisfy { stream in
                stream.context < 4 && stream.count >= max(1, UInt64(stream.hashes.count))
                    && stream.count <= FrameDigest.maximumFrameCount
            }
    }

    fileprivate func write(to writer: inout ByteWriter) {
        epoch.write(to: &writer)
        writer.write(index)
        writer.write(UInt8(truncatingIfNeeded: streams.count))
        for stream in streams {
            writer.write(stream.context)
            writer.write(stream.count)
            FrameDigest.write(stream.hashes, to: &writer)
        }
    }

    fileprivate init(from reader: inout ByteReader, room: inout Int) throws(SignalDecodingError) {
        epoch = try Epoch(from: &reader)
        let streamCount: UInt8
        (index, streamCount) = try reading(&reader) { reader throws(CanonicalCodingError) in
            (try reader.uint16(), try reader.uint8())
        }
        guard streamCount <= 4 else { throw .invalidDigest }
        var streams: [FrameDigest.Stream] = []
        for _ in 0..<streamCount {
            let (context, count) = try reading(&reader) { reader throws(CanonicalCodingError) in
                (try reader.uint8(), try reader.uint64())
            }
            streams.append(
                FrameDigest.Stream(
                    context: context, count: count, hashes: try FrameDigest.hashes(from: &reader, room: &room)))
        }
        self.streams = streams
    }
}
