// SPDX-License-Identifier: Apache-2.0

public import LogEngine
import LogFencing
import ObjectStores
import SQLStores
package import TransparencyLog

/// What is wrong with a log that several machines share. Nothing was written.
public enum SharedLogDefect: Error, Hashable, Sendable {
    /// A row or a frame is missing or damaged, the checkpoint in the database is not this log's, or the engines do not answer.
    case fault(SharedLogFault)
    /// The entries break a rule of the log.
    case log(LogOpenError)
    /// The frames make another root than the row that says how far the log is.
    case framesDiffer(size: UInt64)
    /// The frame that begins with this entry lies beyond the end of the log.
    case frameBeyondEnd(firstIndex: UInt64)
    /// The frames make another root than the published checkpoint.
    case publishedDiffers(size: UInt64)
    /// The object `signed` is not there, is not of this log, or holds less than what is published.
    case memoryBehind(published: UInt64)
    /// More was signed than the database has.
    case databaseBehind(signed: UInt64, size: UInt64)
    /// Another root was signed than the database has.
    case forked(size: UInt64)
    /// The object `checkpoint`, for mirrors, is not this log's, or not of the entries in the database.
    case servedDiffers
    /// An object is missing without which something published cannot be served or put back.
    case objectMissing(path: String)
    /// An object has other bytes than the log.
    case objectDiffers(path: String)
}

/// What reading a whole shared log gave.
package struct SharedLogReport: Sendable {
    /// What was signed last.
    package var signed: TreeHead?
    /// How many entries the database has.
    package var size: UInt64 = 0
    /// What is wrong.
    package var defects: [SharedLogDefect] = []

    /// Nothing read yet.
    package init() {}

    /// Takes down what is wrong, each once.
    package mutating func note(_ defect: SharedLogDefect) {
        if !defects.contains(defect) { defects.append(defect) }
    }
}

extension SharedLogEngines {
    /// Reads the log whole, and compares database and objects with each other and with what was signed. The cluster may run meanwhile.
    ///
    /// - Parameters:
    ///   - sealing: fresh; checks the root of the index in every epoch. nil for a log without an index.
    ///   - shown: what the machine that asks has shown, read before this; nil: nothing, or that is lost.
    ///   - visit: gets every entry with its leaf hash.
    package func inspect(
        sealing: (any LogSealing)?, shown: TreeHead? = nil,
        visit: (ArraySlice<UInt8>, TreeHash) -> Void = { _, _ in }
    ) async -> SharedLogReport {
        var report = SharedLogReport()
        do throws(SharedLogFault) {
            // What was signed first: by the time the database is read, it has all of that.
            let (memory, served) = (try await object(Self.signedPath), try await object(Self.checkpointPath))
            let row = try await asking { try await database.read { try SharedLogRow.read($0) } }
            report.size = row.row.head.size
            let replay = FrameReplay(sealing: sealing, shown: 0)
            do throws(SharedLogOpenError) { try await read(replay, to: row.row.head.size, visit) } catch {
                switch error {
                case .fault(let fault): report.defects.append(.fault(fault))
                case .log(let error): report.defects.append(.log(error))
                }
                return report
            }
            try await compare(row, with: replay, &report)
            try await compare(memory: memory, row.row, with: replay, &report)
            compare(served: served, with: replay, &report)
            compare(shown: shown, row.row, with: replay, &report)
            try await compareObjects(with: replay, published: row.row.published.size, &report)
        } catch { report.note(.fault(error)) }
        return report
    }

    private func object(_ path: String) async throws(SharedLogFault) -> StoredObject? {
        do throws(ObjectFault) { return try await objects.get(path) } catch { throw .unavailable("objects: \(error)") }
    }

    private func read(
        _ replay: FrameReplay, to end: UInt64, _ visit: (ArraySlice<UInt8>, TreeHash) -> Void
    ) async throws(SharedLogOpenError) {
        while replay.size < end {
            let frames: [Frame]
            do throws(SharedLogFault) { frames = try await self.frames(from: replay.size, to: end) } catch {
                throw .fault(error)
            }
            for frame in frames {
                frame.forEachEntry { visit($0, TreeHash.leaf($0.span)) }
                do throws(LogOpenError) { try replay.take(frame) } catch { throw .log(error) }
            }
        }
        guard replay.size == end else { throw .fault(.frameDamaged(firstIndex: end)) }
        do throws(LogOpenError) { try replay.finish() } catch { throw .log(error) }
    }

    private func compare(
        _ row: SharedLogRow, with replay: FrameReplay, _ report: inout SharedLogReport
    ) async throws(SharedLogFault) {
        let head = row.row.head
        if replay.root(size: head.size) != head.root { report.defects.append(.framesDiffer(size: head.size)) }
        do throws(SharedLogFault) {
            let shown = try published(row).head
            if replay.root(size: shown.size) != shown.root {
                report.defects.append(.publishedDiffers(size: shown.size))
            }
        } catch { report.note(.fault(error)) }
        let size = Int64(clamping: head.size)
        let beyond = try await asking {
            // A leader that runs adds frames and says so in one transaction.
            try await database.read { transaction -> UInt64? in
                guard try transaction.row("SELECT size FROM log WHERE id = 1")?.integer(0) == size else { return nil }
                return try transaction.row("SELECT first FROM frames WHERE first >= ? ORDER BY first LIMIT 1", [size])?
                    .count(0)
            }
        }
        if let beyond { report.defects.append(.frameBeyondEnd(firstIndex: beyond)) }
    }

    private func compare(
        memory: StoredObject?, _ row: LogRow, with replay: FrameReplay, _ report: inout SharedLogReport
    ) async throws(SharedLogFault) {
        if let fault = changed(memory) { return report.note(.fault(fault)) }
        var signed = memory.flatMap { logSigned($0.bytes)?.head }
        if signed?.size ?? 0 < row.published.size {
            // It may have been published meanwhile.
            signed = try await object(Self.signedPath).flatMap { logSigned($0.bytes)?.head }
        }
        report.signed = signed
        guard let signed, signed.size >= row.published.size else {
            if row.published.size > 0 { report.defects.append(.memoryBehind(published: row.published.size)) }
            return
        }
        guard signed.size <= row.head.size else {
            // The one that was read anew may be of entries that were added meanwhile.
            let first = memory.flatMap { logSigned($0.bytes)?.head.size } ?? 0
            if first > row.head.size {
                report.defects.append(.databaseBehind(signed: signed.size, size: row.head.size))
            }
            return
        }
        if replay.root(size: signed.size) != signed.root { report.defects.append(.forked(size: signed.size)) }
        try await compareTail(of: signed.size, row, with: replay, &report)
    }

    private func compare(served: StoredObject?, with replay: FrameReplay, _ report: inout SharedLogReport) {
        guard let served else { return }
        guard let head = logSigned(served.bytes)?.head else {
            if changed(served) == .keysChanged { return report.note(.fault(.keysChanged)) }
            return report.defects.append(.servedDiffers)
        }
        guard head.size <= replay.size else {
            // Of this log, and of more than the database has.
            let isKnown = report.signed.map { $0.size > replay.size } ?? false
            if !isKnown { report.defects.append(.databaseBehind(signed: head.size, size: replay.size)) }
            return
        }
        if replay.root(size: head.size) != head.root { report.defects.append(.servedDiffers) }
    }

    /// Why an object that the log's key has not signed is one of before or after a change of keys, as a process says that would lead; nil: it
    /// is not.
    private func changed(_ object: StoredObject?) -> SharedLogFault? {
        guard let object, logSigned(object.bytes) == nil else { return nil }
        let fault = refusal(ofMemory: object.bytes)
        return fault == .checkpointInvalid ? nil : fault
    }

    /// What a start of this machine demands.
    private func compare(shown: TreeHead?, _ row: LogRow, with replay: FrameReplay, _ report: inout SharedLogReport) {
        do throws(SharedLogFault) {
            try shown?.requireCommitted(row.head.size)
            try shown?.requireSame { replay.root(size: $0) }
        } catch { report.note(.fault(error)) }
    }

    // MARK: Objects

    /// The entries of what was signed last that no full bundle holds. A log that nobody has led yet may have none.
    private func compareTail(
        of size: UInt64, _ row: LogRow, with replay: FrameReplay, _ report: inout SharedLogReport
    ) async throws(SharedLogFault) {
        let (bundle, width) = size.quotientAndRemainder(dividingBy: UInt64(Tile.fullWidth))
        guard width > 0, row.generation > 0 else { return }
        let path = Self.tailPath(size)
        guard let object = try await object(path) else {
            // A leader that runs takes it away when a later one is there.
            let now = try await self.object(Self.signedPath).flatMap { logSigned($0.bytes)?.head.size }
            if now == size { report.defects.append(.objectMissing(path: path)) }
            return
        }
        let leaves = replay.leaves(ofBundle: bundle, width: Int(width))
        if !EntryBundle.isEncoding(object.bytes, of: leaves) { report.defects.append(.objectDiffers(path: path)) }
    }

    private func compareObjects(
        with replay: FrameReplay, published size: UInt64, _ report: inout SharedLogReport
    ) async throws(SharedLogFault) {
        let tiles = Tile.added(from: 0, to: min(size, replay.size)).filter(\.isFull)
        for start in stride(from: 0, to: tiles.count, by: Self.readingCount) {
            let some = tiles[start..<min(start + Self.readingCount, tiles.count)]
            for (tile, object) in zip(some, try await objects(of: some)) {
                let path = String(decoding: tile.path, as: UTF8.self)
                guard let object else {
                    report.defects.append(.objectMissing(path: path))
                    continue
                }
                if !replay.holds(object.bytes, in: tile) { report.defects.append(.objectDiffers(path: path)) }
            }
        }
    }

    /// How many objects are asked for at once.
    package static var readingCount: Int { 16 }

    /// Asks for the objects of tiles, all at once; in the order of the tiles.
    private func objects(of tiles: ArraySlice<Tile>) async throws(SharedLogFault) -> [StoredObject?] {
        typealias Answer = Result<StoredObject?, SharedLogFault>
        let answers = await withTaskGroup(of: (Int, Answer).self) { group in
            for (place, tile) in tiles.enumerated() {
                group.addTask { (place, await answer(for: String(decoding: tile.path, as: UTF8.self))) }
            }
            var answers: [Int: Answer] = [:]
            for await (place, answer) in group { answers[place] = answer }
            return answers
        }
        var objects: [StoredObject?] = []
        for place in 0..<tiles.count {
            let object: StoredObject?? = try answers[place]?.get()
            objects.append(object ?? nil)
        }
        return objects
    }

    private func answer(for path: String) async -> Result<StoredObject?, SharedLogFault> {
        do throws(SharedLogFault) { return .success(try await object(path)) } catch { return .failure(error) }
    }
}

extension FrameReplay {
    /// The leaf hashes of the first entries of a bundle.
    func leaves(ofBundle index: UInt64, width: Int) -> [TreeHash] {
        guard let tile = try? Tile(.hashes(level: 0), index: index, width: width), let bytes = contents(of: tile) else {
            return []
        }
        return stride(from: 0, to: bytes.count, by: TreeHash.byteCount).compactMap {
            TreeHash(Array(bytes[$0..<min($0 + TreeHash.byteCount, bytes.count)]))
        }
    }

    /// Whether bytes are those of a full tile or bundle.
    func holds(_ bytes: [UInt8], in tile: Tile) -> Bool {
        guard tile.content == .entries else { return contents(of: tile) == bytes }
        return EntryBundle.isEncoding(bytes, of: leaves(ofBundle: tile.index, width: tile.width))
    }
}
