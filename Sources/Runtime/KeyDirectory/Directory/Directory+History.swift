public import KeyTransparency
import SignetAPI
import TransparencyLog
import VerifiableMap

extension Directory {
    /// Answers "what does the log hold for this handle since what I know?": a lookup, and the label's entries up to the
    /// one that the lookup shows.
    ///
    /// - Throws: ``DirectoryError``; `tooLarge`: more entries than an answer may have: ask from a later count.
    public func history(_ request: HistoryRequest) async throws(DirectoryError) -> HistoryResponse {
        let lookup = try await lookup(request.lookup)
        guard case .present(let label) = lookup.answer else {
            return HistoryResponse(lookup: lookup.encoded, entries: [])
        }
        let (hash, _) = try self.label(of: request.lookup.handle)
        // A history only grows: what the lookup counted are its first entries.
        let (first, end) = (request.lookup.knownCount, label.head.count - 1)
        guard first < end else { return HistoryResponse(lookup: lookup.encoded, entries: []) }
        guard end - first <= HistoryResponse.maximumEntryCount else { throw .refused(.tooLarge) }
        let places = epochs.history(of: LabelIndex(hash), size: .max).indexes[Int(first)..<Int(end)]
        let entries = try await entries(at: Array(places), of: request.lookup.handle)
        return HistoryResponse(lookup: lookup.encoded, entries: entries)
    }

    /// The entries at these places, the newest states shown first, as long as they fit.
    private func entries(
        at places: [UInt64], of handle: Handle
    ) async throws(DirectoryError) -> [HistoryResponse.Entry] {
        var room = HistoryResponse.shownByteCount
        var entries: [HistoryResponse.Entry] = []
        for place in places.reversed() {
            let entry: HistoryResponse.Entry
            switch try await logEntry(at: place) {
            case .device(let leaf): entry = .device(leaf.publicKey)
            case .epoch, .succession, .predecessor: throw .stopped
            case .state(let record) where record.kind == .close: entry = .closed(version: record.version)
            case .state(let record):
                let row = try await shown(record, of: handle).flatMap { $0.encoding.count <= room ? $0 : nil }
                room -= row?.encoding.count ?? 0
                entry =
                    row.map { .state(record.kind, opening: $0.opening, encoded: $0.encoding) }
                    ?? .withheld(record.kind, version: record.version, record.commitment)
            }
            entries.append(entry)
        }
        return entries.reversed()
    }

    private func logEntry(at place: UInt64) async throws(DirectoryError) -> LogEntry {
        do { return try LogEntry(decoding: await log.entry(at: place)) } catch { throw .database }
    }

    /// The state of a record, unless it was erased.
    private func shown(_ record: StateRecord, of handle: Handle) async throws(DirectoryError) -> StateRow? {
        let leaf = TreeHash.leaf(record.entry)
        let row = try await database.read { database -> StateRow? in
            guard let account = try AccountRow.find(handle, in: database) else { return nil }
            return try StateRow.find(version: record.version, of: account.id, in: database)
        }
        return row?.leaf == leaf ? row : nil
    }

    /// Answers "what did the index say of this handle at the milestones?", for those that are still held.
    ///
    /// - Throws: ``DirectoryError``; `badRequest`: the log is not that large.
    public func milestones(_ request: MilestonesRequest) async throws(DirectoryError) -> MilestonesResponse {
        guard request.size > 0, request.size <= log.published.head.size else { throw .refused(.badRequest) }
        let (hash, _) = try label(of: request.handle)
        var answers: [MilestoneAnswer] = []
        var size = request.size - 1
        while answers.count < MilestonesResponse.maximumCount, let epoch = epochs.milestone(size: size) {
            guard epoch.size - 1 > request.after else { break }
            answers.append(try answer(LabelIndex(hash), at: epoch, in: request.size))
            size = epoch.size - 1
        }
        return MilestonesResponse(answers: answers)
    }

    private func answer(
        _ label: LabelIndex, at epoch: Epoch, in size: UInt64
    ) throws(DirectoryError) -> MilestoneAnswer {
        let path: [TreeHash]
        do { path = try log.inclusionProof(index: epoch.size - 1, size: size).hashes } catch { throw .stopped }
        let proof = epoch.index.proof(of: label.key)
        guard case .present(value: _, path: let labelPath) = proof else {
            return MilestoneAnswer(
                index: epoch.size - 1, record: epoch.record, path: path, present: nil, absence: proof)
        }
        let count = UInt64(epochs.history(of: label, size: epoch.size).indexes.count)
        return MilestoneAnswer(
            index: epoch.size - 1, record: epoch.record, path: path,
            present: .init(count: count, path: labelPath))
    }
}
