// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import LogEngine
public import SignetAPI
import TransparencyLog
import VRF

extension Directory {
    /// Registers an account: its first state, brought by one of the devices in it. Or takes a step of a recovery from a
    /// device that does not belong to the account yet: what gives it the right is in the state. Or gives a released handle to
    /// the holder of its invitation, whose first state follows the former holder's last one.
    ///
    /// The same submission again gives the same receipt, with the size of the checkpoint published by then. So it takes
    /// no nonce: a repeated request changes nothing, and clients without an account hold nothing that others need.
    ///
    /// A request signed too long ago brings nothing new: only a state that is in the log already, of which the database has lost the row
    /// (``takenAgain(_:)``). Its owner keeps the request of then, and signs nothing for it.
    ///
    /// - Parameters:
    ///   - admission: whether a new account needs an invitation, and which one the request has. A recovery needs none, and a released handle
    ///     always.
    ///   - onNewHolder: called when a released handle has got another holder by this request, who is in the database then and may not be in the
    ///     log yet; never for a state that is there already.
    /// - Throws: ``DirectoryError``. `notInvited`; `wrongTime`, `notSigned`: as ``authenticate(_:_:)``; `badRequest`: the
    ///   body is not what was signed, the state is not a first one, or a card fits no device; `notYourAccount`: the
    ///   signing device is not in the state; `handleTaken`; `possessionNotProven`; `keyInUse`; `unavailable` in place of these at a front end
    ///   whose database has gone back behind what it has shown (``judged(_:)``).
    public func register(
        _ submission: StateSubmission, _ signature: RequestSignature, _ content: RequestSignature.Content,
        admitting admission: RegistrationRight = .anyone, onNewHolder: @escaping @Sendable () async -> Void = {}
    ) async throws(DirectoryError) -> StateReceipt {
        let now = clock()
        let isOfNow = try isOfNow(signature, content, at: now)
        guard content.body == submission.encoded else { throw .refused(.badRequest) }
        let isFirst = submission.state.version == 1
        let isListed = submission.state.devices.contains { $0.keys.signing == signature.deviceKey }
        guard isListed || (!isFirst && submission.state.isStart) else { throw .refused(.notYourAccount) }
        let statement = Statement(submission: submission, signature: signature, time: now)
        return try await judged { () throws(DirectoryError) in
            try await turns.run(submission.state.handle) { () throws(DirectoryError) in
                guard isOfNow else { return try await self.takenAgain(statement, onNewHolder) }
                if isFirst { return try await self.register(statement, admitting: admission) }
                guard !statement.state.isRecoveryByNewDevice else { return try await self.recover(statement) }
                return try await self.takeOver(statement, admitting: admission, onNewHolder)
            }
        }
    }

    /// Takes the next state of the caller's account.
    ///
    /// The same submission again gives the same receipt, with the size of the checkpoint published by then. Of two
    /// different next states one wins.
    ///
    /// - Throws: ``DirectoryError``. `badRequest`: the body is not what was signed, a device number was used before, or
    ///   a card fits no new device; `notYourAccount`: another handle, or the device was revoked meanwhile;
    ///   `handleTaken`: another identity key; `versionConflict`; `possessionNotProven`; `keyInUse`; `tooManyRequests`: the
    ///   account has brought a day's states since yesterday; `unavailable` in place of most of these at a front end whose database has gone back
    ///   behind what it has shown.
    public func update(
        _ submission: StateSubmission, by caller: Caller
    ) async throws(DirectoryError) -> StateReceipt {
        guard submission.state.handle == caller.handle else { throw .refused(.notYourAccount) }
        guard caller.signed(submission.encoded) else { throw .refused(.badRequest) }
        let statement = Statement(submission: submission, signature: caller.signature, time: clock())
        return try await judged { () throws(DirectoryError) in
            try await turns.run(caller.handle) { () throws(DirectoryError) in
                try await self.update(statement, accountID: caller.accountID)
            }
        }
    }

    /// Removes everything personal of an account from the database, and logs that the account is closed.
    ///
    /// The log, which shows nothing of the person, stays. The handle cannot be registered again: its label has a
    /// history.
    ///
    /// - Parameter administrator: who erases it, for the audit trail.
    /// - Throws: ``DirectoryError``; `notFound`; `unavailable`: the data is gone, and the log will have the closing
    ///   record when the directory is opened the next time.
    public func erase(_ handle: Handle, by administrator: Administrator? = nil) async throws(DirectoryError) {
        try await turns.run(handle) { () throws(DirectoryError) in
            defer { self.cache.forget(handle) }
            let (label, _) = try self.label(of: handle)
            let index = LabelIndex(label)
            let version = self.epochs.version(of: index) + 1
            try await self.database.erase(handle, closing: version, at: self.clock(), by: administrator)
            _ = try await self.publish([StateRecord(closing: index, version: version).entry])
        }
    }
}

// MARK: One statement at a time for each account

extension Directory {
    /// What the database has of a statement's handle.
    struct Known: Sendable {
        let account: AccountRow
        let newest: StateRow
        /// The statement's own state, if it came before.
        let same: StateRow?
        let highestNumber: UInt16
    }

    private func register(
        _ statement: Statement, admitting admission: RegistrationRight
    ) async throws(DirectoryError) -> StateReceipt {
        if let receipt = try await registerWithOthers(statement, admitting: admission) { return receipt }
        if let known = try await known(statement) {
            guard let same = known.same else { throw .refused(.handleTaken) }
            return try await receipt(for: same, of: known.account)
        }
        let (label, proof) = try label(of: statement.state.handle)
        if let receipt = try await restored(statement, nil, (label, proof)) { return receipt }
        try rules(at: statement.time).checkRegistration(statement.submission)
        let row = StateRow(statement, label: label)
        let account = try await database.insertAccount(
            statement, row, label: label, proof: proof, admitting: admission)
        return try await append(statement.state, row, of: account)
    }

    /// Registers an account together with those of other requests, where several processes write: the transaction that writes them looks
    /// whose handles are free.
    ///
    /// - Returns: nil, and nothing was written, if it has to be looked at by itself: the handle is known, the log has its label, the request
    ///   breaks a rule, or the right to register is to be judged.
    private func registerWithOthers(
        _ statement: Statement, admitting admission: RegistrationRight
    ) async throws(DirectoryError) -> StateReceipt? {
        guard let acceptance = database.acceptance, admission == .anyone else { return nil }
        let (label, proof) = try label(of: statement.state.handle)
        guard epochs.version(of: LabelIndex(label)) == 0,
            (try? rules(at: statement.time).checkRegistration(statement.submission)) != nil
        else { return nil }
        let row = StateRow(statement, label: label)
        let registration = Registration(statement, row, label: label, proof: proof)
        guard let account = try await acceptance.accept(.registration(registration)) else { return nil }
        return try await append(statement.state, row, of: account)
    }

    private func update(_ statement: Statement, accountID: Int64) async throws(DirectoryError) -> StateReceipt {
        guard let known = try await known(statement), known.account.id == accountID else {
            throw .refused(.notYourAccount)
        }
        if let same = known.same { return try await receipt(for: same, of: known.account) }
        _ = try await receipt(for: known.newest, of: known.account)
        let current = try state(of: known.newest)
        guard current.devices.contains(where: { $0.keys.signing == statement.signature.deviceKey }) else {
            throw .refused(.notYourAccount)
        }
        return try await take(statement, after: current, known)
    }

    /// A step of a recovery, brought by a device that the account does not have yet.
    private func recover(_ statement: Statement) async throws(DirectoryError) -> StateReceipt {
        guard let known = try await known(statement), known.account.releasedAt == nil else { throw .refused(.notFound) }
        if let same = known.same { return try await receipt(for: same, of: known.account) }
        if let receipt = try await restored(statement, known) { return receipt }
        _ = try await receipt(for: known.newest, of: known.account)
        if statement.state.isStart { try await requireNoFreeze(of: known.account, at: statement.time) }
        return try await take(statement, after: try state(of: known.newest), known)
    }

    /// The first state of another holder of a released handle.
    private func takeOver(
        _ statement: Statement, admitting admission: RegistrationRight, _ onNewHolder: @Sendable () async -> Void
    ) async throws(DirectoryError) -> StateReceipt {
        guard let known = try await known(statement) else { throw .refused(.badRequest) }
        if let same = known.same { return try await receipt(for: same, of: known.account) }
        if let receipt = try await restored(statement, known, onNewHolder: onNewHolder) { return receipt }
        _ = try await receipt(for: known.newest, of: known.account)
        try rules(at: statement.time).checkTakeover(statement.submission, after: try state(of: known.newest))
        let row = StateRow(statement, label: known.account.label, kind: .reset)
        let account = try await database.replaceAccount(known.account, with: statement, row, admitting: admission)
        await onNewHolder()
        return try await append(statement.state, row, of: account)
    }

    /// For a day after an objection nothing may start; the client sees the objection in its lookup and says so.
    private func requireNoFreeze(of account: AccountRow, at now: UInt64) async throws(DirectoryError) {
        let recent = try await database.read { database in
            try StateRow.encodings(of: account.id, since: now - min(now, RecoveryStop.freeze), in: database)
        }
        guard !recent.contains(where: { (try? AccountState(decodingWithKeys: $0))?.isStop ?? false }) else {
            throw .refused(.versionConflict)
        }
    }

    private func take(
        _ statement: Statement, after current: AccountState, _ known: Known
    ) async throws(DirectoryError) -> StateReceipt {
        try rules(at: statement.time).checkUpdate(
            statement.submission, after: current, highestNumber: known.highestNumber)
        try await demandRoom(for: statement.state, after: current, of: known.account, at: statement.time)
        let row = StateRow(statement, label: known.account.label, after: current)
        if case .recovered = statement.state.step {
            try await requireShownWait(since: current, known.newest, at: statement.time)
            try await keepAbsent(isFresh: true)
        } else if Self.countsFromBefore(statement.state, after: current) {
            try await keepAbsent(isFresh: false)
        }
        try await database.insertState(statement, row, of: known.account)
        return try await append(statement.state, row, of: known.account)
    }

    /// Whether contacts ask until when a state was not there: a request or a change of guardians. Never an objection, which waits for
    /// no witness.
    private static func countsFromBefore(_ state: AccountState, after current: AccountState) -> Bool {
        state.isStart || !state.isStop && state.formerRecovery != current.formerRecovery
    }

    private func rules(at now: UInt64) -> SubmissionRules { SubmissionRules(sealing: sealing, now: now) }

    /// The hidden label of a handle, with the proof of it.
    func label(of handle: Handle) throws(DirectoryError) -> (VRFHash, VRFProof) {
        do { return try vrf.prove(handle.vrfInput) } catch { throw .stopped }
    }

    func state(of row: StateRow) throws(DirectoryError) -> AccountState {
        do { return try row.state() } catch { throw .stopped }
    }

    func known(_ statement: Statement) async throws(DirectoryError) -> Known? {
        try await database.read { database in
            guard let account = try AccountRow.find(statement.state.handle, in: database),
                let newest = try StateRow.newest(of: account.id, in: database)
            else { return nil }
            let same = try StateRow.find(version: statement.state.version, of: account.id, in: database)
            return Known(
                account: account, newest: newest, same: same.flatMap { $0.isState(of: statement) ? $0 : nil },
                highestNumber: try DeviceRow.highestNumber(of: account.id, in: database))
        }
    }

    /// Where a state of the database stands in the log, which gets it now if a full queue kept it out before.
    func receipt(for row: StateRow, of account: AccountRow) async throws(DirectoryError) -> StateReceipt {
        if let receipt = receipt(for: row) { return try await seen(row, receipt) }
        guard writesLog else { return try await seen(row, shown(row.leaf)) }
        guard epochs.version(of: LabelIndex(account.label)) >= row.version else {
            return try await append(state(of: row), row, of: account)
        }
        // In the log, and not published yet: too few witnesses had cosigned.
        try await publishDurable()
        guard let receipt = receipt(for: row) else { throw .refused(.unavailable) }
        return try await seen(row, receipt)
    }

    /// Keeps what shows when the quorum first saw a step that contacts date.
    func seen(_ row: StateRow, _ receipt: StateReceipt) async throws(DirectoryError) -> StateReceipt {
        if row.isDated { try await keepSeen(receipt.index) }
        return receipt
    }

    func receipt(for row: StateRow) -> StateReceipt? {
        log.index(ofLeaf: row.leaf).map { StateReceipt(index: $0, size: log.published.head.size) }
    }

    /// Publishes everything that is durable.
    func publishDurable() async throws(DirectoryError) {
        do throws(LogWaitError) { try await log.republish() } catch {
            switch error {
            case .belowQuorum: throw .refused(.unwitnessed)
            case .cancelled, .closed, .displaced: throw .refused(.unavailable)
            case .stopped: throw .stopped
            }
        }
    }

    /// Gives a state that is on the disk to the log, and waits until a published checkpoint covers it.
    private func append(
        _ state: AccountState, _ row: StateRow, of account: AccountRow
    ) async throws(DirectoryError) -> StateReceipt {
        cache.forget(account.handle)
        guard writesLog else { return try await seen(row, shown(row.leaf)) }
        let entries = LogEntries(
            label: account.label, state: state, kind: row.kind, opening: row.opening,
            isLogged: { log.index(ofLeaf: $0) != nil })
        return try await seen(row, publish(entries.entries, isDated: row.isDated))
    }

    /// Gives one step of an account to the log, and waits until a published checkpoint covers it.
    ///
    /// - Parameter isDated: whether contacts ask when it was logged.
    func publish(_ entries: [[UInt8]], isDated: Bool = false) async throws(DirectoryError) -> StateReceipt {
        guard writesLog else { return try await shown(entries.last.map { TreeHash.leaf($0) }) }
        guard places?.isDatabaseKept != false else { throw .refused(.unavailable) }
        let range: Range<UInt64>
        do { range = try await log.append(entries) } catch {
            switch error {
            case .queueFull, .closed, .writtenElsewhere, .displaced: throw .refused(.unavailable)
            case .breaksRule: throw .refused(.versionConflict)
            default: throw .stopped
            }
        }
        if isDated { unseen.insert(range.upperBound - 1) }
        do {
            let published = try await log.awaitPublished(size: range.upperBound)
            return StateReceipt(index: range.upperBound - 1, size: published.head.size)
        } catch {
            switch error {
            case .belowQuorum: throw .refused(.unwitnessed)
            case .displaced: throw .refused(.unavailable)
            default: throw .stopped
            }
        }
    }
}

extension StateRow {
    /// Whether contacts ask when this state was logged: a step of a recovery, or one while former guardians may still help.
    fileprivate var isDated: Bool {
        AccountState.isOfRecovery(encoding) || AccountState.formerRecovery(in: encoding) != nil
    }
}
