// SPDX-License-Identifier: Apache-2.0

package import LogEngine
package import LogFencing
import ObjectStores
package import SQLStores
import TransparencyLog

/// What a repair has put back.
package struct LogRepairReport: Hashable, Sendable {
    /// How many entries the database lacked, and has now.
    package let entries: UInt64
    /// How many it has now: as many as were signed, or more.
    package let size: UInt64
    /// What others hold of the log, whether it has that now or not.
    package let seen: [SeenHead]

    package init(entries: UInt64, size: UInt64, seen: [SeenHead] = []) {
        (self.entries, self.size, self.seen) = (entries, size, seen)
    }
}

// A database that lacks entries which were signed: an older copy was restored, or a standby promoted that had not all of them.
extension LogCandidate {
    /// Puts the entries that the database lacks back from the objects of the log, under a leadership that is claimed as any other.
    ///
    /// The objects are believed nothing. Before a frame is written, all entries together must make the root that the log's own key has
    /// signed: whoever can write to the bucket can put nothing of his own into the log. Interrupted, it goes on when it is run again.
    ///
    /// - Parameters:
    ///   - link: as for ``lead(over:_:_:others:)``; it is closed.
    ///   - facts: what that connection's server says of itself, and what is demanded.
    ///   - endsFrame: whether an entry is the last of its frame. The sealer of an index wants frames as they were.
    ///   - others: what witnesses hold who answer, asked at the end by what was signed last.
    /// - Throws: ``CandidacyEnd``; `conflict` with ``HeadConflict/forked(seen:own:)``: the database has another log than the one that was
    ///   signed, and with ``HeadConflict/databaseBehind(seen:database:)``: neither the database nor what was signed last has all that is served;
    ///   `memoryBehind`: the bucket has less than the database; ``SharedLogFault/rootDiffers(size:)``: the objects are of another log. Nothing
    ///   was written then but the claim.
    package func repair(
        over link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands),
        endsFrame: @Sendable ([UInt8]) -> Bool = { _ in false },
        others: @Sendable (PublishedCheckpoint) async -> [SeenHead] = { _ in [] }
    ) async throws(CandidacyEnd) -> LogRepairReport {
        defer { link.close() }
        var takeover = try deciding { () throws(TakeoverEnd) in try LogTakeover(on: facts.0, facts.1) }
        let (claimed, sent, _) = try await claim(over: link, &takeover)
        let lease = LeaseKeeper(engines.database, holder: holder, sent: sent, clock: clock)
        lease.start()
        do throws(CandidacyEnd) {
            let report = try await putBack(claimed.row, over: link, endsFrame, others)
            await lease.end()
            return report
        } catch {
            await lease.end()
            throw error
        }
    }

    private func putBack(
        _ row: LogRow, over link: any SQLDatabase, _ endsFrame: @Sendable ([UInt8]) -> Bool,
        _ others: @Sendable (PublishedCheckpoint) async -> [SeenHead]
    ) async throws(CandidacyEnd) -> LogRepairReport {
        var frontier = try await frontier(of: row)
        let signed = try await recall()?.checkpoint
        let memory = signed?.head
        if let memory, memory.size <= row.head.size { try await requireSame(memory, row) }
        if let served = await served()?.head, served.size > max(memory?.size ?? 0, row.head.size) {
            let seen = SeenHead(served, in: .publishedCheckpoint)
            try await confirm(row, over: link)
            throw .ended(.conflict(.databaseBehind(seen: seen, database: row.head)))
        }
        guard let signed, let memory, memory.size >= row.published.size else {
            throw .ended(.memoryBehind(memory, published: row.published))
        }
        guard memory.size > row.head.size else {
            try await showAgain(row, among: row.head, over: link)
            return LogRepairReport(entries: 0, size: row.head.size, seen: try await told(by: signed, others))
        }
        let entries = try await lacking(from: row.head.size, to: memory.size)
        for entry in entries { frontier.append(TreeHash.leaf(entry)) }
        guard frontier.head == memory else { throw .fault(.rootDiffers(size: memory.size)) }
        try await write(entries, after: row, over: link, endsFrame)
        try await showAgain(row, among: memory, over: link)
        return LogRepairReport(
            entries: UInt64(entries.count), size: memory.size, seen: try await told(by: signed, others))
    }

    private func replayed(to size: UInt64) async throws(CandidacyEnd) -> FrameReplay {
        do throws(SharedLogOpenError) {
            return try await engines.replay(to: size, sealing: nil, shown: 0, placed: size)
        } catch {
            switch error {
            case .log(let error): throw .log(error)
            case .fault(let fault): throw .fault(fault)
            }
        }
    }

    /// The right edge of what the database has, which must be what its row says.
    private func frontier(of row: LogRow) async throws(CandidacyEnd) -> MerkleFrontier {
        guard let frontier = try await replayed(to: row.head.size).frontier else { throw .fault(.rowDamaged) }
        guard frontier.head == row.head else { throw .ended(.framesDiffer(row: row.head, frames: frontier.head)) }
        return frontier
    }

    private func requireSame(_ memory: TreeHead, _ row: LogRow) async throws(CandidacyEnd) {
        let replay = try await replayed(to: row.head.size)
        do throws(HeadConflict) {
            try SeenHead(memory, in: .secondMemory).requireExtended(by: row.head) { replay.root(size: $0) }
        } catch { throw .ended(.conflict(error)) }
    }

    /// A copy of before a change of keys shows a checkpoint that nobody takes any more. It gets the one that mirrors have, if that is of this
    /// log and clients would believe it.
    private func showAgain(_ row: LogRow, among head: TreeHead, over link: any SQLDatabase) async throws(CandidacyEnd) {
        let note: SharedLogRow?
        do { note = try await link.read { try SharedLogRow.read($0) } } catch { throw .ended(.outcomeUnknown) }
        guard let note, (try? engines.published(note)) == nil,
            let served = await objectServed(), let checkpoint = engines.believed(served.bytes),
            checkpoint.head.size >= row.published.size,
            checkpoint.head.size <= head.size,
            try await replayed(to: head.size).root(size: checkpoint.head.size) == checkpoint.head.root
        else { return }
        let isOurs: Bool
        do { isOurs = try await link.write { try $0.publish(checkpoint, by: row.generation) } } catch {
            throw .ended(.outcomeUnknown)
        }
        guard isOurs else { throw .ended(.othersLead) }
    }

    /// Whoever has claimed after us may have shown more.
    private func confirm(_ row: LogRow, over link: any SQLDatabase) async throws(CandidacyEnd) {
        let isOurs: Bool
        do { isOurs = try await link.write { try $0.confirm(row.generation) } } catch { throw .ended(.outcomeUnknown) }
        guard isOurs else { throw .ended(.othersLead) }
    }

    /// What mirrors are shown; nil: nothing, or the store does not answer.
    private func objectServed() async -> StoredObject? {
        (try? await engines.objects.get(SharedLogEngines.checkpointPath)).flatMap { $0 }
    }

    private func served() async -> PublishedCheckpoint? { await objectServed().flatMap { engines.logSigned($0.bytes) } }

    // MARK: The objects

    /// The entries from a size on, as the objects of a larger head have them. Nothing of them was verified.
    private func lacking(from start: UInt64, to end: UInt64) async throws(CandidacyEnd) -> [[UInt8]] {
        let width = UInt64(Tile.fullWidth)
        var entries: [[UInt8]] = []
        for index in start / width...(end - 1) / width {
            let bundle = try await bundle(index, of: end)
            entries += bundle.dropFirst(Int(start > index * width ? start - index * width : 0))
        }
        return entries
    }

    private func bundle(_ index: UInt64, of end: UInt64) async throws(CandidacyEnd) -> [[UInt8]] {
        let width = Int(min(UInt64(Tile.fullWidth), end - index * UInt64(Tile.fullWidth)))
        guard let tile = try? Tile(.entries, index: index, width: width) else { throw .fault(.rowDamaged) }
        let path = tile.isFull ? String(decoding: tile.path, as: UTF8.self) : SharedLogEngines.tailPath(end)
        let object: StoredObject?
        do throws(ObjectFault) { object = try await engines.objects.get(path) } catch {
            throw .fault(.unavailable("objects: \(error)"))
        }
        guard let object else { throw .fault(.objectMissing(path: path)) }
        guard let entries = try? EntryBundle(decoding: object.bytes, width: width).entries else {
            throw .fault(.objectDamaged(path: path))
        }
        return entries
    }

    // MARK: The frames

    private static let frameByteCount = 1 << 22

    private func write(
        _ entries: [[UInt8]], after row: LogRow, over link: any SQLDatabase, _ endsFrame: @Sendable ([UInt8]) -> Bool
    ) async throws(CandidacyEnd) {
        guard var frontier = try await replayed(to: row.head.size).frontier else { throw .fault(.rowDamaged) }
        var payload: [UInt8] = []
        var next = frontier
        for (number, entry) in entries.enumerated() {
            payload += [UInt8(entry.count >> 8), UInt8(entry.count & 0xff)] + entry
            next.append(TreeHash.leaf(entry))
            guard endsFrame(entry) || payload.count >= Self.frameByteCount || number == entries.count - 1 else {
                continue
            }
            let request = CommitRequest(generation: row.generation, after: frontier.head, next: next.head)
            try await commit(request, payload, over: link)
            (frontier, payload) = (next, [])
        }
    }

    private func commit(
        _ request: CommitRequest, _ payload: [UInt8], over link: any SQLDatabase
    ) async throws(CandidacyEnd) {
        let isOurs: Bool
        do { isOurs = try await link.write { try $0.commit(request, payload: payload) } } catch {
            throw .ended(.outcomeUnknown)
        }
        guard isOurs else { throw .ended(.othersLead) }
    }
}
