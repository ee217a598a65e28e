// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// How a version is kept in a file: every entry, and what shows that none is damaged.
///
/// | Bytes | What |
/// |---|---|
/// | 23 | `signet-map-snapshot/v1`, LF |
/// | 8 | position, big-endian: how much of its log the map covers, for the caller to say |
/// | 8 | number of entries, big-endian |
/// | 32 | root |
/// | 64 each | entries: key, value, in the order of their keys |
/// | 32 | SHA-256 of everything before |
///
/// Nodes are not stored: the reader of a snapshot computes them, and so checks the root.
enum MapSnapshot {
    static let firstLine: StaticString = "signet-map-snapshot/v1\n"
    static let headerByteCount = 23 + 8 + 8 + 32
    static let checksumByteCount = 32
    /// 64 KiB.
    static let entriesAPiece = 1024
}

extension MapVersion {
    /// Writes a snapshot piece by piece, 64 KiB at most each, so that it is never in memory as a whole.
    ///
    /// - Parameters:
    ///   - position: How much of its log this version covers, so that the loader of the snapshot can continue from
    ///     there.
    ///   - sink: Takes one piece after the other.
    /// - Throws: What `sink` throws, and then nothing more is written.
    public func writeSnapshot<Failure: Error>(
        position: UInt64, to sink: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var hasher = SHA256()
        var piece = snapshotHeader(position: position)
        for entry in entries {
            if piece.count >= MapSnapshot.entriesAPiece * MapEntry.byteCount {
                hasher.update(data: piece)
                try sink(piece)
                piece.removeAll(keepingCapacity: true)
            }
            entry.append(to: &piece)
        }
        hasher.update(data: piece)
        try sink(piece)
        try sink(Array(hasher.finalize()))
    }

    /// A snapshot as a whole: 103 bytes, and 64 for each entry.
    public func snapshot(position: UInt64) -> [UInt8] {
        let overhead = MapSnapshot.headerByteCount + MapSnapshot.checksumByteCount
        var bytes: [UInt8] = []
        bytes.reserveCapacity(overhead + count * MapEntry.byteCount)
        writeSnapshot(position: position) { bytes += $0 }
        return bytes
    }

    private func snapshotHeader(position: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(MapSnapshot.firstLine)
        writer.write(position)
        writer.write(UInt64(count))
        writer.write(root.bytes)
        return writer.bytes
    }
}
