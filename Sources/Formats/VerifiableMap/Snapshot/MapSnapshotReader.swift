// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// Reads a snapshot piece by piece and builds the trie from it.
///
/// Refuses everything but the exact bytes that were written. Memory is taken for what has arrived, not for what the first
/// bytes promise.
public struct MapSnapshotReader: ~Copyable, Sendable {
    private var trie = MapTrie()
    private var hasher = SHA256()
    private var header: Header?
    /// What arrived and is not yet part of an entry.
    private var waiting: [UInt8] = []
    private var batch: [MapEntry] = []
    private var entryCount: UInt64 = 0
    private var lastKey: MapKey?

    private static let batchCount = 1 << 14

    /// A reader at the start of a snapshot.
    public init() {}

    /// How much of its log the map covers, as its writer said; nil until it has been read. Not yet checked.
    public var position: UInt64? { header?.position }

    /// Takes the next piece, of any length.
    ///
    /// - Throws: ``MapSnapshotError``. Everything must then be thrown away.
    public mutating func read(_ piece: [UInt8]) throws(MapSnapshotError) {
        waiting += piece
        if header == nil { try readHeader() }
        guard let header else { return }
        try readEntries(of: header)
        let missing = entryCount == header.count ? MapSnapshot.checksumByteCount : Int.max
        guard waiting.count <= missing else { throw .leftOverBytes(waiting.count - missing) }
    }

    /// The trie, when everything has arrived.
    ///
    /// - Throws: ``MapSnapshotError``.
    public consuming func finish() throws(MapSnapshotError) -> MapTrie {
        guard let header else {
            throw .truncated(missing: MapSnapshot.headerByteCount - waiting.count)
        }
        guard entryCount == header.count else {
            throw .truncated(missing: MapEntry.byteCount - waiting.count)
        }
        guard waiting.count == MapSnapshot.checksumByteCount else {
            throw .truncated(missing: MapSnapshot.checksumByteCount - waiting.count)
        }
        try flush()
        guard hasher.finalize() == waiting else { throw .checksumMismatch }
        guard trie.current.root == header.root else { throw .rootMismatch }
        return trie
    }
}

extension MapSnapshotReader {
    /// What stands before the entries.
    private struct Header {
        let position: UInt64
        let count: UInt64
        let root: MapHash
    }

    private mutating func readHeader() throws(MapSnapshotError) {
        let line = MapSnapshot.firstLine.withUTF8Buffer { Array($0) }
        guard waiting.starts(with: line.prefix(waiting.count)) else { throw .unknownFormat }
        guard waiting.count >= MapSnapshot.headerByteCount else { return }
        let read = waiting.withUnsafeBytes { Self.header(in: $0, from: line.count) }
        guard read.count <= UInt64(NodeMemory<LeafNode>.capacity) else { throw .tooManyEntries(read.count) }
        header = read
        take(MapSnapshot.headerByteCount)
    }

    /// The caller has checked that the bytes are there.
    private static func header(in source: UnsafeRawBufferPointer, from offset: Int) -> Header {
        Header(
            position: UInt64(bigEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
            count: UInt64(bigEndian: source.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)),
            root: MapHash(words: Words32(loading: source, at: offset + 16)))
    }

    /// Hashes the first waiting bytes and drops them.
    private mutating func take(_ count: Int) {
        waiting.withUnsafeBytes {
            hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
        }
        waiting.removeFirst(count)
    }

    private mutating func readEntries(of header: Header) throws(MapSnapshotError) {
        let whole = UInt64(waiting.count / MapEntry.byteCount)
        let count = Int(min(header.count - entryCount, whole))
        for index in 0..<count {
            let entry = waiting.withUnsafeBytes { MapEntry(loading: $0, at: index * MapEntry.byteCount) }
            try add(entry)
        }
        take(count * MapEntry.byteCount)
    }

    private mutating func add(_ entry: MapEntry) throws(MapSnapshotError) {
        if let lastKey, entry.key <= lastKey { throw .keysNotAscending(entry: entryCount) }
        lastKey = entry.key
        entryCount += 1
        batch.append(entry)
        if batch.count == Self.batchCount { try flush() }
    }

    private mutating func flush() throws(MapSnapshotError) {
        do {
            try trie.update(batch)
        } catch {
            throw .tooManyEntries(entryCount)
        }
        batch.removeAll(keepingCapacity: true)
    }
}

extension MapTrie {
    /// The trie that a snapshot holds, given as a whole.
    ///
    /// - Throws: ``MapSnapshotError``.
    public static func decoding(snapshot bytes: [UInt8]) throws(MapSnapshotError) -> MapTrie {
        var reader = MapSnapshotReader()
        try reader.read(bytes)
        return try reader.finish()
    }
}
