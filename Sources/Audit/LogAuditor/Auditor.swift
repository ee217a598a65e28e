// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetClient
public import TransparencyLog

/// A head that was found to be sound.
private struct SoundHead {
    let head: TreeHead
    /// The epoch record that it ends in, if it must be of now.
    let last: EpochRecord?
}

/// Follows a log entry by entry, recomputes every epoch's index, and keeps the proof of anything that is wrong.
///
/// It needs no account and believes nothing: entries must lead to the root that the log signed, every rule is checked,
/// and a rule is only said to be broken when the log's signature covers the break.
public actor Auditor {
    /// Called with the entries read so far and how many there are.
    public typealias Progress = @Sendable (UInt64, UInt64) -> Void

    /// How many of the last audited heads are remembered, so that a late question about one can be answered.
    private static let recentCount = 256

    private let policy: Policy
    private let tiles: SourceTiles
    private let folder: AuditFolder
    private let lock: HomeLock
    private let progress: Progress
    private let clock: @Sendable () -> UInt64
    private let times = EpochTimeRule.standard
    private let limits: AuditLimits
    private let convicted: [GuiltyLog]
    private let former: [FormerAudit]
    private let turns = Turns()
    private var audit = CheckpointAudit()
    private var latest: LogSignedCheckpoint?
    private var recent: [SoundHead] = []
    private var guilt: LogGuilt?

    /// An auditor of the log that a policy names.
    ///
    /// - Parameters:
    ///   - policy: whose signatures are the log's. Its quorum is not asked for: a log answers for what it signed.
    ///   - source: where the log's files are.
    ///   - folder: what is kept; one folder for one log.
    ///   - limits: how much of a log is read at a time.
    ///   - convicted: logs that were found guilty; one that goes on from them is as well.
    ///   - former: what was found sound of other logs; one that goes on from them names the end at which their audit stands, and has
    ///     no epoch from before it.
    ///   - clock: seconds since 1970.
    /// - Throws: ``AuditorError``.
    public init(
        of policy: Policy, at source: any LogSource, keeping folder: AuditFolder, limits: AuditLimits = AuditLimits(),
        convicted: [GuiltyLog] = [], former: [FormerAudit] = [], clock: @escaping @Sendable () -> UInt64,
        progress: @escaping Progress = { _, _ in }
    ) throws(AuditorError) {
        let lock: HomeLock?
        do { lock = try folder.prepare() } catch { throw .folder(error) }
        guard let lock else { throw .folderInUse }
        self.lock = lock
        self.policy = policy
        self.folder = folder
        self.progress = progress
        self.clock = clock
        self.limits = limits
        self.convicted = convicted
        self.former = former
        tiles = SourceTiles(source: source, folder: folder)
        guilt = try Self.guilt(in: folder, policy)
    }

    /// The largest checkpoint that was audited and found sound; nil before the first.
    public var audited: LogSignedCheckpoint? { latest }

    /// The last epoch of it.
    public var lastEpoch: UInt64? { audit.lastEpoch?.number }

    /// When it ended, in seconds since 1970 by the log's clock.
    package var lastEpochTime: UInt64? { audit.lastEpoch.map { $0.time / 1000 } }

    /// Whether the log was found guilty, now or in an earlier run.
    package var isLogGuilty: Bool { guilt != nil }

    /// How many labels it has.
    public var labelCount: UInt64 { audit.labelCount }

    /// Whether a checkpoint with this head was audited and found sound, when the epoch that it ends in was current, and the log is not guilty of
    /// anything. The epoch may be old by now: nothing after it can be dated before the time at which it was audited, and clients compare it
    /// with the time of the quorum.
    public func isSound(_ head: TreeHead) -> Bool { guilt == nil && recent.contains { $0.head == head } }

    /// Replays what the folder holds. Must be called once, before anything else.
    ///
    /// - Throws: ``AuditorError``.
    public func resume() async throws(AuditorError) {
        await turns.take()
        defer { turns.give() }
        if let guilt { throw .guilty(guilt) }
        guard folder.checkpoint.exists else { return }
        let bytes: [UInt8]
        do { bytes = try folder.checkpoint.read(maximumByteCount: SignedNote.maximumByteCount) } catch {
            throw .folder(error)
        }
        guard let note = try? SignedNote(decoding: bytes),
            let signed = LogSignedCheckpoint(uncheckedNote: note, of: policy.logs)
        else { throw .folderOfAnotherLog }
        do { try await replay(to: signed, reading: .max) } catch .entriesDoNotMatch(_) {
            // What is in the folder was damaged: nothing in it is needed, the checkpoint says what must come out.
            tiles.forget(from: 0, to: signed.checkpoint.head.size)
            audit = CheckpointAudit()
            try await replay(to: signed, reading: .max)
        }
        try await checkDescent(of: signed)
        accept(signed)
    }

    /// Audits the checkpoint that the source publishes.
    ///
    /// - Returns: the checkpoint, which is sound.
    /// - Throws: ``AuditorError``.
    public func auditPublished() async throws(AuditorError) -> LogSignedCheckpoint {
        try await audit(try await tiles.checkpoint())
    }

    /// Audits a checkpoint, which need not be published: the log asks for cosignatures before it publishes.
    ///
    /// - Returns: the checkpoint, which is sound.
    /// - Throws: ``AuditorError``.
    public func audit(_ note: SignedNote) async throws(AuditorError) -> LogSignedCheckpoint {
        await turns.take()
        defer { turns.give() }
        if let guilt { throw .guilty(guilt) }
        let (signed, now) = (try self.signed(note), clock())
        guard let latest else { return try await extend(to: signed, at: now) }
        switch signed.compare(with: latest) {
        case .same:
            try check(recent.last?.last, seenAt: now)
            return signed
        case .otherLog: throw .otherLog
        case .fork(let fork): throw try convict(.fork(fork))
        case .proofNeeded(_, let larger) where larger == signed.checkpoint.head:
            return try await extend(to: signed, at: now)
        case .proofNeeded:
            try await rule(signed, against: latest)
            throw .older(size: signed.checkpoint.head.size, audited: latest.checkpoint.head.size)
        }
    }

    private func signed(_ note: SignedNote) throws(AuditorError) -> LogSignedCheckpoint {
        do { return try policy.verifyLogSignature(on: note) } catch { throw .checkpoint(error) }
    }

    // MARK: Growing

    /// Reads on to a larger checkpoint, which was seen at `now`, and judges it.
    private func extend(
        to signed: LogSignedCheckpoint, at now: UInt64
    ) async throws(AuditorError) -> LogSignedCheckpoint {
        let start = latest?.checkpoint.head.size ?? 0
        do { try await replay(to: signed, reading: limits.stepByteCount) } catch .entriesDoNotMatch(let size) {
            // What was read beyond the audited part is not the log's; begin again from what is.
            tiles.forget(from: start, to: audit.size)
            audit = CheckpointAudit()
            if let latest { try await rule(signed, against: latest) }
            throw .entriesDoNotMatch(size: size)
        }
        try await checkDescent(of: signed)
        try check(audit.hasEnded ? nil : audit.lastEpoch, seenAt: now)
        do { try folder.checkpoint.replace(with: signed.note.encoded) } catch { throw .folder(error) }
        tiles.forgetTail(of: start, in: signed.checkpoint.head.size)
        accept(signed)
        return signed
    }

    /// A handover, or another key, makes no new log of a guilty one, and gives no log a past. The proof is kept here as well, for
    /// the log after this one.
    private func checkDescent(of signed: LogSignedCheckpoint) async throws(AuditorError) {
        guard !convicted.isEmpty || !former.isEmpty, signed.checkpoint.head.size > 0 else { return }
        let first = try await tiles.read(bundle: 0, size: signed.checkpoint.head.size).entries.first
        if let guilty = convicted.first(where: { $0.isOrigin(of: signed.checkpoint, beginningWith: first) }) {
            throw try convict(guilty.evidence)
        }
        guard let first, let epoch = audit.firstEpoch else { return }
        guard let log = FormerAudit.origin(ofLogBeginningWith: first, among: former) else { return }
        try log.checkEnd(namedBy: first)
        do { try times.check(epoch, goingOnAfter: log.lastEpoch.time / 1000) } catch { throw .firstEpoch(error) }
    }

    private func accept(_ signed: LogSignedCheckpoint) {
        latest = signed
        recent.append(SoundHead(head: signed.checkpoint.head, last: audit.hasEnded ? nil : audit.lastEpoch))
        if recent.count > Self.recentCount { recent.removeFirst() }
    }

    /// The last epoch is of now, by our clock, so that nothing after it can be dated before: times do not run back. A log
    /// without an epoch, and one that has handed over, need not be of now.
    private func check(_ last: EpochRecord?, seenAt now: UInt64) throws(AuditorError) {
        guard let last else { return }
        do { try times.check(last, seenAt: now) } catch { throw .epochTime(error) }
    }

    /// Reads entries up to a checkpoint that have not been read, and says what is true of it once there are no more, or
    /// once a rule is broken and the log's own hashes show that the entries read so far are its: an endless log need
    /// not be read to its end.
    ///
    /// - Parameter byteCount: pauses behind so many bytes of entries.
    private func replay(to signed: LogSignedCheckpoint, reading byteCount: UInt64) async throws(AuditorError) {
        let head = signed.checkpoint.head
        guard head.size <= LabelHistories.maximumSize else { throw .tooLarge(head.size) }
        // A larger checkpoint that came to nothing may have been read already.
        if audit.size > head.size { audit = CheckpointAudit() }
        var count: UInt64 = 0
        while audit.size < head.size {
            guard count < byteCount else { throw .paused(at: audit.size, of: head.size) }
            count += try await readBundle(of: head)
            progress(audit.size, head.size)
            if audit.isBroken, await isBeginning(of: head) { throw try await convict(ofWhatIsBrokenIn: signed) }
        }
        switch audit.finding(at: head) {
        case .sound: return
        case .otherEntries: throw .entriesDoNotMatch(size: head.size)
        case .tooLarge: throw .tooLarge(head.size)
        case .fault(let fault, let place): throw try await convict(of: fault, at: place, in: signed)
        }
    }

    /// Reads the next bundle, and keeps it unless a rule is broken in it or before it: what comes after that is worth no
    /// disk until the log is convicted.
    ///
    /// - Returns: how many bytes its entries have.
    private func readBundle(of head: TreeHead) async throws(AuditorError) -> UInt64 {
        let bundle = audit.size / UInt64(Tile.fullWidth)
        let (entries, isKept) = try await tiles.read(bundle: bundle, size: head.size)
        for entry in entries.dropFirst(Int(audit.size % UInt64(Tile.fullWidth))) { audit.add(entry) }
        if !isKept, !audit.isBroken { try tiles.keep(entries, bundle: bundle, size: head.size) }
        return entries.reduce(0) { $0 + UInt64($1.count) }
    }

    /// Whether the entries read are provably the first of the tree with this head, by the log's hash tiles.
    private func isBeginning(of head: TreeHead) async -> Bool {
        let read = audit.head
        guard read.size < head.size, let link = try? await tiles.link(from: read.size, to: head.size) else {
            return false
        }
        return link.root == read.root && (try? link.proof.verify(from: read, to: head)) != nil
    }

    private func convict(ofWhatIsBrokenIn signed: LogSignedCheckpoint) async throws(AuditorError) -> AuditorError {
        guard case .fault(let fault, let place) = audit.finding(at: audit.head) else {
            return .tooLarge(signed.checkpoint.head.size)
        }
        return try await convict(of: fault, at: place, in: signed)
    }

    /// Keeps the bare proof first, then one that few entries show, or the rest of the log that does.
    private func convict(
        of fault: IndexFault, at place: UInt64, in signed: LogSignedCheckpoint
    ) async throws(AuditorError) -> AuditorError {
        let head = signed.checkpoint.head
        guard let name = FaultName(fault) else { return .tooLarge(head.size) }
        let bare = RuleEvidence(fault: name, place: place, checkpoint: signed.note)
        let error = try convict(.rule(bare), deed: .replayed(fault, at: place))
        let collector = EvidenceCollector(tiles: tiles, policy: policy)
        guard let full = await collector.shown(bare, in: head) else {
            await keepRest(from: place, of: head)
            return error
        }
        return strengthened(error, by: .rule(full))
    }

    /// As far as there is room: with them the bare proof stands without the log.
    private func keepRest(from place: UInt64, of head: TreeHead) async {
        let (width, size) = (UInt64(Tile.fullWidth), min(head.size, LabelHistories.maximumSize))
        var (bundle, count) = (min(place, size) / width, UInt64(0))
        while bundle * width < size, count < limits.stepByteCount {
            guard let (entries, isKept) = try? await tiles.read(bundle: bundle, size: head.size),
                isKept || (try? tiles.keep(entries, bundle: bundle, size: head.size)) != nil
            else { return }
            count += entries.reduce(0) { $0 + UInt64($1.count) }
            bundle += 1
        }
    }

    // MARK: Judging

    /// Asks the source's tiles whether two checkpoints of different sizes are of one history.
    private func rule(
        _ signed: LogSignedCheckpoint, against known: LogSignedCheckpoint
    ) async throws(AuditorError) {
        let sizes = [signed.checkpoint.head.size, known.checkpoint.head.size].sorted()
        let link = try await tiles.link(from: sizes[0], to: sizes[1])
        switch signed.judge(link, against: known) {
        case .oneHistory: return
        case .noProof: throw .noConsistencyProof(from: sizes[0], to: sizes[1])
        case .fork(let fork): throw try convict(.fork(fork))
        }
    }

    /// Keeps the proof, and never vouches for the log again.
    private func convict(_ evidence: Evidence, deed: ProvenFault.Deed? = nil) throws(AuditorError) -> AuditorError {
        let deed = (try? EvidenceVerifier(policy: policy).verify(evidence).deed) ?? deed
        do {
            let found = LogGuilt(
                evidence: evidence, deed: deed, path: try folder.keep(evidence),
                isInherited: evidence.isInherited(by: policy))
            guilt = found
            return .guilty(found)
        } catch {
            guilt = LogGuilt(
                evidence: evidence, deed: deed, path: "", isInherited: evidence.isInherited(by: policy))
            throw .evidenceNotKept(evidence, error)
        }
    }

    /// The same conviction with a proof that needs no log; the bare one stays where this one cannot be written.
    private func strengthened(_ error: AuditorError, by evidence: Evidence) -> AuditorError {
        guard case .guilty(let found) = error,
            let deed = try? EvidenceVerifier(policy: policy).verify(evidence).deed,
            (try? folder.replace(evidenceAt: found.path, with: evidence)) != nil
        else { return error }
        let stronger = LogGuilt(evidence: evidence, deed: deed, path: found.path)
        guilt = stronger
        return .guilty(stronger)
    }

    /// What an earlier run found.
    private static func guilt(in folder: AuditFolder, _ policy: Policy) throws(AuditorError) -> LogGuilt? {
        guard let name = folder.evidenceNames().first else { return nil }
        let file = folder.evidence(name)
        guard let bytes = try? file.read(maximumByteCount: Evidence.maximumByteCount),
            let evidence = try? Evidence(decoding: bytes)
        else { throw .evidenceDamaged(name: name) }
        let deed = try? EvidenceVerifier(policy: policy).verify(evidence).deed
        return LogGuilt(
            evidence: evidence, deed: deed, path: file.path, isInherited: evidence.isInherited(by: policy))
    }
}

extension Evidence {
    /// Whether no key of the policy signed the content of the accusation.
    fileprivate func isInherited(by policy: Policy) -> Bool {
        !notes.contains { (try? policy.verifyLogSignature(on: $0)) != nil }
    }
}
