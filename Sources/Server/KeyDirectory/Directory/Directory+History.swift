// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import LogEngine
import SignetAPI
import TransparencyLog
import VerifiableMap

extension Directory {
    /// Answers "what does the log hold for this handle since what I know?": a lookup, and the label's entries up to the
    /// one that the lookup shows.
    ///
    /// - Throws: ``DirectoryError``; `tooLarge`: more entries than an answer may have: ask from a later count.
    public func history(_ request: HistoryRequest) async throws(DirectoryError) -> HistoryResponse {
        let (lookup, size) = try await sizedLookup(request.lookup)
        return try await history(request, lookup, size)
    }

    /// The same under a checkpoint of our choice, as ``lookup(_:endingWith:)``.
    func history(
        _ request: HistoryRequest, endingWith note: SignedNote
    ) async throws(DirectoryError) -> HistoryResponse {
        let (lookup, size) = try await lookup(request.lookup, endingWith: note)
        return try await history(request, lookup, size)
    }

    private func history(
        _ request: HistoryRequest, _ lookup: LookupResponse, _ size: UInt64
    ) async throws(DirectoryError) -> HistoryResponse {
        guard case .present(let label) = lookup.answer else {
            return HistoryResponse(lookup: lookup.encoded, entries: [])
        }
        let (hash, _) = try self.label(of: request.lookup.handle)
        // A history only grows: what the lookup counted are its first entries.
        let (first, end) = (request.lookup.knownCount, label.head.count - 1)
        guard first <= end else { return HistoryResponse(lookup: lookup.encoded, entries: []) }
        guard end - first <= HistoryResponse.maximumEntryCount else { throw .refused(.tooLarge) }
        let places = Array(epochs.history(of: LabelIndex(hash), size: .max).indexes[Int(first)...Int(end)])
        let entries = try await entries(at: places.dropLast(), of: request.lookup.handle)
        let states = entries.map(\.state) + [label.state]
        var steps: [LoggedStep] = []
        for place in Self.dated(states) {
            steps.append(try await step(first + UInt64(place) + 1, at: places[place], in: size))
        }
        return HistoryResponse(lookup: lookup.encoded, steps: steps, entries: entries)
    }

    /// Of which states the answer says when they were logged; the newest, if there are too many.
    static func dated(_ states: [[UInt8]?]) -> ArraySlice<Int> {
        states.indices.filter { isDated(at: $0, of: states) }.suffix(HistoryResponse.maximumStepCount)
    }

    /// Whether contacts compare when this state was logged: a step of a recovery, or a change of guardians.
    private static func isDated(at place: Int, of states: [[UInt8]?]) -> Bool {
        guard let state = states[place] else { return false }
        if AccountState.isOfRecovery(state) { return true }
        guard let former = AccountState.formerRecovery(in: state) else { return false }
        let before = states[..<place].last { $0 != nil }.flatMap(\.self)
        return before.flatMap { AccountState.formerRecovery(in: $0) } != former
    }

    /// The entries at these places, the newest states shown first, as long as they fit.
    private func entries(
        at places: ArraySlice<UInt64>, of handle: Handle
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
                let row = try await shown(record, of: handle).flatMap { $0.stateBytes.count <= room ? $0 : nil }
                room -= row?.stateBytes.count ?? 0
                entry =
                    row.map { .state(record.kind, opening: $0.opening, encoded: $0.stateBytes) }
                    ?? .withheld(record.kind, version: record.version, record.commitment)
            }
            entries.append(entry)
        }
        return entries.reversed()
    }

    /// In which epoch an entry was logged.
    private func step(_ count: UInt64, at place: UInt64, in size: UInt64) async throws(DirectoryError) -> LoggedStep {
        guard let end = epochs.end(after: place), end < size else { throw .stopped }
        let inclusion: InclusionProof
        do { inclusion = try log.inclusionProof(index: place, size: size) } catch { throw .stopped }
        var kept = try await seen(place, in: size)
        if kept.seen == nil {
            // A crash or a lack of witnesses kept it from being kept at once.
            try await keepSeen(place)
            kept = try await seen(place, in: size)
        }
        return LoggedStep(
            count: count, inclusion: inclusion, epoch: try await epoch(at: end, in: size), absent: kept.absent,
            seen: kept.seen)
    }

    private func logEntry(at place: UInt64) async throws(DirectoryError) -> LogEntry {
        do { return try LogEntry(decoding: await log.entry(at: place)) } catch { throw .database }
    }

    /// The state of a record, unless it was erased.
    private func shown(_ record: StateRecord, of handle: Handle) async throws(DirectoryError) -> StateRow? {
        let leaf = TreeHash.leaf(record.entry)
        let row = try await read { database -> StateRow? in
            guard let account = try AccountRow.find(handle, in: database) else { return nil }
            return try StateRow.find(version: record.version, of: account.id, in: database)
        }
        return row?.leaf == leaf ? row : nil
    }

    /// Answers "what did the index say of this handle at the milestones?", for those that are still held.
    ///
    /// - Throws: ``DirectoryError``; `badRequest`: the log is not that large, or did not end in an epoch then; `behind`.
    public func milestones(_ request: MilestonesRequest) async throws(DirectoryError) -> MilestonesResponse {
        try await catchUp(to: request.size)
        guard request.size > 0, request.size <= log.published.head.size,
            case .epoch(let last) = try await logEntry(at: request.size - 1)
        else { throw .refused(.badRequest) }
        let (hash, _) = try label(of: request.handle)
        var answers: [MilestoneAnswer] = []
        var size = request.size - 1
        while answers.count < MilestonesResponse.maximumCount, let epoch = epochs.milestone(size: size) {
            guard epoch.size - 1 > request.after else { break }
            answers.append(try await answer(LabelIndex(hash), at: epoch, in: request.size))
            size = epoch.size - 1
        }
        return MilestonesResponse(before: try await epoch(rightBefore: last, in: request.size), answers: answers)
    }

    private func answer(
        _ label: LabelIndex, at epoch: LoggedEpoch, in size: UInt64
    ) async throws(DirectoryError) -> MilestoneAnswer {
        let placed = try self.placed(epoch.record, at: epoch.size - 1, in: size)
        let before = try await self.epoch(rightBefore: epoch.record, in: size)
        let proof = epoch.index.proof(of: label.key)
        guard case .present(value: _, path: let labelPath) = proof else {
            return MilestoneAnswer(epoch: placed, before: before, present: nil, absence: proof)
        }
        let count = UInt64(epochs.history(of: label, size: epoch.size).indexes.count)
        return MilestoneAnswer(epoch: placed, before: before, present: .init(count: count, path: labelPath))
    }

    /// The epoch that ended where another one begins; nil before the first.
    private func epoch(
        rightBefore record: EpochRecord, in size: UInt64
    ) async throws(DirectoryError) -> PlacedEpoch? {
        guard record.number > 1 else { return nil }
        return try await epoch(at: record.start - 1, in: size)
    }

    func epoch(at index: UInt64, in size: UInt64) async throws(DirectoryError) -> PlacedEpoch {
        guard case .epoch(let record) = try await logEntry(at: index) else { throw .stopped }
        return try placed(record, at: index, in: size)
    }

    private func placed(
        _ record: EpochRecord, at index: UInt64, in size: UInt64
    ) throws(DirectoryError) -> PlacedEpoch {
        do {
            return PlacedEpoch(
                index: index, record: record, path: try log.inclusionProof(index: index, size: size).hashes)
        } catch { throw .stopped }
    }
}

extension HistoryResponse.Entry {
    /// The encoded state, if it is shown.
    fileprivate var state: [UInt8]? { if case .state(_, opening: _, let encoded) = self { encoded } else { nil } }
}

extension LabelAnswer {
    /// The encoded state of the last step, if it is one.
    fileprivate var state: [UInt8]? { if case .state(_, opening: _, let encoded) = step { encoded } else { nil } }
}
