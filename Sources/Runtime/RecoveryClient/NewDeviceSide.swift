import Crypto
public import KeyTransparency
import SignetAPI
public import SignetClient
public import SocialRecovery

/// The new device's side: from "I lost everything" to an identity that is the person's again.
///
/// Every step is on the disk before its message goes out, and may be repeated.
public struct NewDeviceSide<Store: ClientStore>: Sendable {
    let post: RecoveryPost<Store>
    let files: RecoveryFiles

    /// A device with new keys for an account that it does not belong to yet.
    public init(_ client: Client<Store>, _ secrets: DeviceSecrets, _ files: RecoveryFiles) {
        post = RecoveryPost(client, secrets)
        self.files = files
    }

    private func record() throws(RecoveryClientError) -> RecoveryRecord? {
        try files.value(in: files.recovery) { try RecoveryRecord(decoding: $0) }
    }

    private func keep(_ record: RecoveryRecord) throws(RecoveryClientError) {
        try files.write(record.encoded, to: files.recovery)
    }

    // MARK: Asking

    /// Asks for the identity: puts the request into the log and leaves it for the guardians. May be repeated.
    ///
    /// - Parameter name: what the device calls itself, UTF-8.
    /// - Throws: ``RecoveryClientError``.
    public func start(calling name: [UInt8]) async throws(RecoveryClientError) -> RecoveryProgress {
        _ = try await post.asking { () throws(ClientError) in try await post.client.finishPending(post.secrets) }
        let lookup = try await ownLookup()
        var record = try record()
        if record == nil || isStale(record, lookup.state) {
            record = try await newRecord(lookup, name)
            if let record { try keep(record) }
        }
        guard let record else { throw .noRecovery }
        if record.attempt.stage == .collecting {
            if lookup.state.pendingRecovery != record.attempt.start.hash {
                try checkNothingElse(lookup.state)
                try await log(record, after: lookup.state)
            }
            try await leaveRequest(record)
        }
        return try await status()
    }

    /// A request that was never logged and is too old by now, or was stopped.
    private func isStale(_ record: RecoveryRecord?, _ state: AccountState) -> Bool {
        guard let record, record.attempt.stage == .collecting else { return false }
        return state.pendingRecovery != record.attempt.start.hash
            && post.now() > record.attempt.start.started + RequestSignature.maximumClockDifference / 2
    }

    private func ownLookup() async throws(RecoveryClientError) -> VerifiedLookup {
        let answer = try await post.asking { () throws(ClientError) in
            try await post.client.lookup(post.secrets.handle).verdict
        }
        return answer.lookup
    }

    private func newRecord(
        _ lookup: VerifiedLookup, _ name: [UInt8]
    ) async throws(RecoveryClientError) -> RecoveryRecord {
        let state = lookup.state
        guard let hash = state.recoveryCommitment else { throw .notRecoverable }
        try checkNothingElse(state)
        guard let file = try await post.find(.file, hash + state.handle.bytes) else { throw .notRecoverable }
        guard let contents = try? RecoveryContents(decoding: file) else { throw .malformedAnswer }
        // The account's state vouches for the commitment, and that for the bundle and the label in it: the one of the log in
        // which the guardians were chosen, which may have ended since.
        let scope: RecoveryScope
        do throws(RecoveryBundleError) {
            scope = try RecoveryBundle(decoding: contents.bundle, commitment: contents.commitment).scope
        } catch { throw .attempt(.bundle(error)) }
        guard let identityKey = post.secrets.identityKey else { throw .identityElsewhere }
        let (now, seed) = (post.now(), post.client.surroundings.randomBytes(SpokenNumbers.seedByteCount))
        let request: RecoveryRequest
        do throws(RecoveryRequestError) {
            request = try RecoveryRequest(
                scope: scope, identityKey: identityKey, sealingKey: post.secrets.keys.kem,
                signingKey: post.secrets.keys.signing, revealRoot: SpokenNumbers(seed: seed).root, created: now,
                expires: now + UInt64(contents.commitment.delay) + RecoveryStart.lifetimeAfterDelay,
                claimedName: name, signing: { try post.secrets.signAsIdentity($0) ?? [] })
        } catch { throw .request(error) }
        do throws(RecoveryAttemptError) {
            let attempt = try RecoveryAttempt(
                request, bundle: contents.bundle, commitment: contents.commitment, state: state, at: now)
            return RecoveryRecord(
                secret: post.client.surroundings.randomBytes(32), numbersSeed: seed, attempt: attempt,
                contents: contents)
        } catch { throw .attempt(error) }
    }

    /// Nobody else asks, and nobody objected within the last day.
    private func checkNothingElse(_ state: AccountState) throws(RecoveryClientError) {
        switch state.step {
        case .started(let start, _, _) where post.now() < start.expires: throw .anotherAsks(until: start.expires)
        case .stopped(let stop, _) where post.now() < stop.time + Self.freeze:
            throw .frozen(until: stop.time + Self.freeze)
        default: return
        }
    }

    /// For so long nothing starts after an objection, in seconds: a day.
    private static var freeze: UInt64 { 86_400 }

    private func log(_ record: RecoveryRecord, after state: AccountState) async throws(RecoveryClientError) {
        var superseded: RecoveryStart?
        if case .started(let start, _, _) = state.step { superseded = start }
        let asked: AccountState
        do throws(AccountStateError) {
            asked = try AccountState(starting: record.attempt.start, superseding: superseded, after: state) {
                try post.secrets.signAsIdentity($0) ?? []
            }
        } catch { throw .account(error) }
        _ = try await post.asking { () throws(ClientError) in
            try await post.client.submit(asked, cards: [], by: post.secrets)
        }
    }

    private func leaveRequest(_ record: RecoveryRecord) async throws(RecoveryClientError) {
        let asking = RecoveryAsking(
            owner: post.secrets.handle, box: Array(SHA256.hash(data: record.secret)), start: record.attempt.start,
            request: record.attempt.request.encoded)
        _ = try await post.call(.ask, asking.encoded)
    }

    // MARK: Collecting

    /// Collects guardians' answers.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func status() async throws(RecoveryClientError) -> RecoveryProgress {
        guard var record = try record() else { throw .noRecovery }
        if record.attempt.stage == .collecting {
            if try await ownLookup().state.pendingRecovery != record.attempt.start.hash { throw .stopped }
            let count = record.numbers.count
            try await collect(&record)
            // Guardians who answered now are shown their number; the code is then there to be read.
            if record.numbers.count > count { try await collect(&record) }
        }
        return try progress(record)
    }

    private func collect(_ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        let reveal = record.reveals.flatMap(\.encoded)
        var last: UInt64 = 0
        while true {
            let collection = RecoveryCollection(
                request: record.attempt.request.hash, secret: record.secret, after: last, reveal: reveal)
            let answer = try await post.call(.answers, collection.encoded)
            guard let letters = try? RecoveryLetterList(decoding: answer).letters else { throw .malformedAnswer }
            guard let end = letters.last?.number, end > last else { break }
            last = end
            for letter in letters { try await take(letter, &record) }
        }
        try keep(record)
    }

    /// What does not hold is passed over; a wrong share is kept, so that its giver can be named.
    private func take(_ letter: RecoveryLetter, _ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        switch try? GuardianAnswer(decoding: letter.body) {
        case .number(let number):
            guard !record.numbers.contains(where: { $0.guardian == letter.sender }) else { return }
            record.take(number, from: letter.sender, try await post.lookup(letter.sender).lookup.state.devices)
        case .release(let release):
            let person = try await post.lookup(letter.sender)
            guard let key = GuardianKey(person.lookup) else { return }
            _ = try? record.attempt.take(release, from: key)
        case nil: return
        }
    }

    private func progress(_ record: RecoveryRecord) throws(RecoveryClientError) -> RecoveryProgress {
        do {
            return try post.secrets.withSealingKey { key in
                let standing = record.attempt.standing(with: key)
                return RecoveryProgress(
                    stage: record.attempt.stage, start: record.attempt.start,
                    codes: record.codes.mapValues { String(decoding: $0.text, as: UTF8.self) }, standing: standing,
                    guardians: record.attempt.guardians(with: key) ?? [])
            }
        } catch { throw .damaged }
    }

    // MARK: Finishing

    /// Puts the identity under this device's key, revokes every device from before, and brings back what guardians
    /// guarded.
    ///
    /// - Returns: what came back.
    /// - Throws: ``RecoveryClientError``.
    public func finish() async throws(RecoveryClientError) -> RecoveredThings {
        _ = try await post.asking { () throws(ClientError) in try await post.client.finishPending(post.secrets) }
        _ = try await status()
        guard var record = try record() else { throw .noRecovery }
        if record.attempt.stage == .collecting || record.attempt.stage == .succeeding {
            try await succeed(&record)
        }
        return try await bringBack(record)
    }

    private func succeed(_ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        let start = record.attempt.start
        guard post.now() >= start.notBefore else { throw .tooEarly(until: start.notBefore) }
        let states = try await states()
        guard let last = states.last else { throw .noRecovery }
        if last.identityKey != record.attempt.request.identityKey {
            guard last.pendingRecovery == start.hash else { throw .stopped }
            try await takeOver(&record, after: last, highest: states.flatMap(\.devices).map(\.number).max() ?? 0)
        }
        let now = try await states.last?.identityKey == record.attempt.request.identityKey ? states : self.states()
        guard let before = now.last(where: { $0.identityKey != record.attempt.request.identityKey }),
            let after = now.first(where: { $0.identityKey == record.attempt.request.identityKey })
        else { throw .stopped }
        do throws(RecoveryAttemptError) { try record.attempt.succeeded(before: before, after: after) } catch {
            throw .attempt(error)
        }
        try keep(record)
    }

    private func takeOver(
        _ record: inout RecoveryRecord, after state: AccountState, highest: UInt16
    ) async throws(RecoveryClientError) {
        guard highest < UInt16.max else { throw .client(.misuse(.noDeviceNumberLeft)) }
        let secrets = post.secrets
        let card = try await post.asking { () throws(ClientError) in try await post.client.deviceCard(secrets) }
        // A little in the past, so that a fast clock does not claim a time to come.
        let time = max(record.attempt.start.notBefore, post.now() - min(post.now(), 60))
        let device = DeviceRecord(number: highest + 1, addedAt: time, keys: secrets.keys)
        var attempt = record.attempt
        let next: AccountState
        do {
            next = try secrets.withSealingKey { key in
                try attempt.succeed(with: key, after: state, device: device, at: time) {
                    try secrets.signAsIdentity($0) ?? []
                }
            }
        } catch let error as RecoveryAttemptError { throw .attempt(error) } catch { throw .damaged }
        record.attempt = attempt
        try keep(record)
        _ = try await post.asking { () throws(ClientError) in
            try await post.client.submit(next, cards: [card], by: secrets)
        }
    }

    /// Every state of the account that the log has and the directory shows, in order.
    private func states() async throws(RecoveryClientError) -> [AccountState] { try await post.ownStates() }

    private func bringBack(_ record: RecoveryRecord) async throws(RecoveryClientError) -> RecoveredThings {
        let (journal, attempt) = (record.contents.journal, record.attempt)
        let states = try await states().filter { $0.identityKey != attempt.request.identityKey }
        let entries: [JournalEntry]
        do {
            let count = try journal.verify(against: attempt.bundle, states: states)
            entries = try post.secrets.withSealingKey { key in
                try attempt.withJournalKey(key) { try journal.open(with: $0, first: count) }
            }
        } catch let error as RecoveryJournalError { throw .journal(error) } catch let error as RecoveryAttemptError {
            throw .attempt(error)
        } catch { throw .damaged }
        var (people, changed): ([Handle], [Handle]) = ([], [])
        var comparisons: [Comparison] = []
        for case .contact(let handle, let identityKey, let comparison) in entries.newestContacts {
            if try await isStill(handle, identityKey) {
                people.append(handle)
                comparisons += [comparison].compactMap(\.self)
            } else {
                changed.append(handle)
            }
        }
        try await post.asking { [people, comparisons] () throws(ClientError) in
            try await post.client.remember(people, comparisons)
        }
        for handle in people { _ = try await post.lookup(handle) }
        return RecoveredThings(
            entries: entries, people: people, changed: changed,
            devicesBefore: states.last?.devices.map(\.keys.signing) ?? [])
    }

    /// Whether the log shows the identity that the owner knew.
    private func isStill(_ handle: Handle, _ identityKey: [UInt8]) async throws(RecoveryClientError) -> Bool {
        do {
            return try await post.lookup(handle).lookup.state.identityKey == identityKey
        } catch {
            switch error {
            case .client(.notRegistered), .client(.accountClosed): return false
            default: throw error
            }
        }
    }
}

extension [JournalEntry] {
    /// Each person once, as they were known last: who was compared later stands there twice.
    fileprivate var newestContacts: [JournalEntry] {
        var handles: Set<Handle> = []
        let newest = reversed().filter { entry in
            if case .contact(let handle, _, _) = entry { handles.insert(handle).inserted } else { false }
        }
        return newest.reversed()
    }
}

/// How far a recovery on this device is.
public struct RecoveryProgress: Sendable {
    /// The stage.
    public let stage: RecoveryAttempt.Stage
    /// What the log holds of it.
    public let start: RecoveryStart
    /// What to read to each guardian who looked.
    public let codes: [Handle: String]
    /// Whose shares are right, whose are wrong, and how many are missing.
    public let standing: RecoveryStanding
    /// Everybody whom the owner had chosen; empty before two of them have helped.
    public let guardians: [Handle]
}

/// What a recovery brought back.
public struct RecoveredThings: Sendable {
    /// Everything, in the order in which the owner's devices had put it there.
    public let entries: [JournalEntry]
    /// The people whom the owner knew, with the same identity as then: pinned.
    public let people: [Handle]
    /// Those with another identity by now, or gone: to be compared anew.
    public let changed: [Handle]
    /// Ed25519 keys, 32 bytes each, of the devices that the account had when the recovery took it over.
    public let devicesBefore: [[UInt8]]
}
