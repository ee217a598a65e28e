// SPDX-License-Identifier: Apache-2.0

package import LogEngine
import ObjectStores
import SQLStores
package import TransparencyLog

// A log that was on one machine, on its way to the engines that several share.
extension SharedLogEngines {
    /// Takes a log over, into an empty database and an object store that has no log.
    ///
    /// It can be repeated with the same log after an interruption: what is there by then is left or replaced by the same.
    ///
    /// - Parameters:
    ///   - replay: all frames, with the entries of all bundles.
    ///   - frames: hands over the same frames, in order.
    ///   - signed: what was signed last.
    ///   - published: what was shown last.
    /// - Throws: ``SharedLogFault``; ``SharedLogFault/logExists`` if somebody has led this log since.
    package func take(
        _ replay: FrameReplay, frames: (_ visit: (Frame) throws -> Void) throws -> Void, signed: SignedHead,
        published: PublishedCheckpoint
    ) async throws(SharedLogFault) {
        guard let head = replay.frontier?.head, replay.root(size: published.head.size) == published.head.root else {
            throw .rootDiffers(size: published.head.size)
        }
        guard replay.root(size: signed.head.size) == signed.head.root else {
            throw .rootDiffers(size: signed.head.size)
        }
        let there = try await remembered(replay)
        try await placeAll(replay, head)
        try await remember(signed, after: there)
        do {
            try database.writeNow { transaction in
                let first = try transaction.firstGeneration()
                if let row = try transaction.row("SELECT generation FROM log WHERE id = 1") {
                    guard try row.integer(0) == first else { throw SharedLogFault.logExists }
                }
                try transaction.run("DELETE FROM frames")
                try transaction.run("DELETE FROM log")
                try frames { try transaction.insert($0) }
                try transaction.run(
                    "INSERT INTO log (id, \(SharedLogRow.columns)) VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        origin.bytes, first, Int64(clamping: head.size), head.root.bytes,
                        Int64(clamping: published.head.size), published.head.root.bytes, published.bytes,
                    ])
            }
        } catch { throw Self.fault(error) }
        try await requireSame(head)
    }

    /// Demands that nobody has led a log in the database, and that it is not another's.
    ///
    /// - Throws: ``SharedLogFault``.
    package func requireUnled() async throws(SharedLogFault) {
        let origin = origin.bytes
        try await asking {
            try await database.read { transaction in
                guard let row = try transaction.row("SELECT generation, origin FROM log WHERE id = 1") else { return }
                guard try row.integer(0) == transaction.firstGeneration(), try row.bytes(1) == origin else {
                    throw SharedLogFault.logExists
                }
            }
        }
    }

    /// What the second memory holds of this log, from a copy that was interrupted; nil if nothing.
    private func remembered(_ replay: FrameReplay) async throws(SharedLogFault) -> ObjectTag? {
        let object: StoredObject?
        do throws(ObjectFault) { object = try await objects.get(Self.signedPath) } catch {
            throw .unavailable("objects: \(error)")
        }
        guard let object else { return nil }
        guard let old = logSigned(BurntMemory.note(of: object.bytes) ?? object.bytes),
            replay.root(size: old.head.size) == old.head.root
        else {
            throw .logExists
        }
        return object.tag
    }

    private func placeAll(_ replay: FrameReplay, _ head: TreeHead) async throws(SharedLogFault) {
        for tile in Tile.added(from: 0, to: head.size) where tile.isFull {
            guard let bytes = replay.contents(of: tile) else { throw .rootDiffers(size: head.size) }
            try await place(bytes, at: String(decoding: tile.path, as: UTF8.self))
        }
        let width = Int(head.size % UInt64(Tile.fullWidth))
        guard width > 0, let tile = try? Tile(.entries, index: head.size / UInt64(Tile.fullWidth), width: width),
            let bytes = replay.contents(of: tile)
        else { return }
        try await place(bytes, at: Self.tailPath(head.size))
    }

    private func place(_ bytes: [UInt8], at path: String) async throws(SharedLogFault) {
        do throws(ObjectFault) { try await objects.putImmutable(bytes, at: path) } catch {
            guard case .contradiction(let path) = error else { throw .unavailable("objects: \(error)") }
            throw .objectContradicts(path: path)
        }
    }

    private func remember(_ signed: SignedHead, after tag: ObjectTag?) async throws(SharedLogFault) {
        let outcome: SwapOutcome
        do throws(ObjectFault) {
            outcome = try await objects.swap(signed.note.encoded, at: Self.signedPath, after: tag)
        } catch { throw .unavailable("objects: \(error)") }
        if case .changed = outcome { throw .logExists }
    }

    /// Reads everything back, and compares the roots.
    private func requireSame(_ head: TreeHead) async throws(SharedLogFault) {
        do throws(SharedLogOpenError) {
            let read = try await replay(to: head.size, sealing: nil, shown: head.size, placed: head.size)
            guard read.root(size: head.size) == head.root else { throw .fault(.rootDiffers(size: head.size)) }
        } catch {
            switch error {
            case .fault(let fault): throw fault
            case .log: throw .rootDiffers(size: head.size)
            }
        }
    }
}

extension SQLTransaction {
    /// What the generation of a log is that nobody has led here since it came: who led it here before it went away may still be about, and
    /// must not find its own generation again.
    fileprivate func firstGeneration() throws -> Int64 {
        try row("SELECT generation FROM moved WHERE id = 1")?.integer(0) ?? 0
    }

    fileprivate func insert(_ frame: Frame) throws {
        let (count, payload) = (UInt64(frame.entryCount), Array(frame.payload))
        try run(
            "INSERT INTO frames (first, count, generation, payload, digest) VALUES (?, ?, 0, ?, ?)",
            [
                Int64(clamping: frame.firstIndex), Int64(clamping: count), payload,
                SharedLogTables.digest(first: frame.firstIndex, count: count, payload: payload),
            ])
    }
}
