// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import SignetClient
import TransparencyLog

/// A log's files as an auditor reads them: entries from its own folder where it has them, else from the source, which
/// are then kept.
struct SourceTiles: Sendable {
    let source: any LogSource
    /// Nil for a reader that keeps nothing.
    let folder: AuditFolder?

    func checkpoint() async throws(AuditorError) -> SignedNote {
        let limit = SignedNote.maximumByteCount
        guard let bytes = try await file(Array("checkpoint".utf8), limit) else { throw .checkpointMissing }
        do { return try SignedNote(decoding: bytes) } catch { throw .note(error) }
    }

    /// Entries of a bundle of a log of this size, and whether the folder has them.
    func read(bundle: UInt64, size: UInt64) async throws(AuditorError) -> (entries: [[UInt8]], isKept: Bool) {
        guard let tile = Self.bundle(bundle, size: size) else { throw .missing(nil) }
        if let bytes = folder?.bundle(tile), let own = try? EntryBundle(decoding: bytes, width: tile.width) {
            return (own.entries, true)
        }
        return (try await tiles.entries(bundle: bundle, size: size), false)
    }

    /// Keeps the entries of a bundle of a log of this size.
    func keep(_ entries: [[UInt8]], bundle: UInt64, size: UInt64) throws(AuditorError) {
        guard let folder, let tile = Self.bundle(bundle, size: size),
            let bundle = try? EntryBundle(entries: entries)
        else { return }
        do { try folder.keep(bundle.encoded, of: tile) } catch { throw .folder(error) }
    }

    /// The path of an entry in a log of this size, as the source tells it.
    func inclusionProof(index: UInt64, size: UInt64) async throws(AuditorError) -> InclusionProof {
        var reader = tiles.reader(size: size)
        return try await reader.inclusionProof(index: index)
    }

    /// Forgets the last bundle of a smaller size if it is partial: the larger size has it too.
    func forgetTail(of old: UInt64, in size: UInt64) {
        guard old > 0, old < size, let tile = Self.bundle((old - 1) / UInt64(Tile.fullWidth), size: old) else { return }
        if !tile.isFull { folder?.remove(tile) }
    }

    /// Forgets what was kept of the entries from one size to another.
    func forget(from old: UInt64, to size: UInt64) {
        for tile in Tile.added(from: old, to: size) where tile.content == .entries { folder?.remove(tile) }
    }

    /// The root that the tree of the larger size has at the smaller, and the proof from there, as the source tells it.
    func link(from old: UInt64, to size: UInt64) async throws(AuditorError) -> ForkEvidence.Link {
        var reader = tiles.reader(size: size)
        let root = try await reader.root(size: old)
        return ForkEvidence.Link(root: root, proof: try await reader.consistencyProof(from: old))
    }

    private var tiles: LogTiles<AuditorError> {
        LogTiles(
            missing: { .missing($0) }, malformed: { .malformed($0, $1) },
            fetch: { tile throws(AuditorError) in
                try await file(tile.path, ResponseLimit(tile).maximumByteCount)
            })
    }

    private func file(_ path: [UInt8], _ limit: Int) async throws(AuditorError) -> [UInt8]? {
        do { return try await source.file(path, maximumByteCount: limit) } catch { throw .source(error) }
    }

    /// The tile that holds the last entry of a log of this size; nil for an empty log.
    static func lastBundle(of size: UInt64) -> Tile? {
        size > 0 ? bundle((size - 1) / UInt64(Tile.fullWidth), size: size) : nil
    }

    /// The tile that holds bundle `index` in a log of this size.
    private static func bundle(_ index: UInt64, size: UInt64) -> Tile? {
        let start = index * UInt64(Tile.fullWidth)
        guard start < size else { return nil }
        return try? Tile(.entries, index: index, width: Int(min(UInt64(Tile.fullWidth), size - start)))
    }
}
