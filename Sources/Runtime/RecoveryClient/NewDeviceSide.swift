import Crypto
public import KeyTransparency
public import SignetAPI
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

    /// Asks for the identity: leaves the request for the guardians. The log takes it when the first of them has confirmed, or
    /// at once with the owner's paper. May be repeated.
    ///
    /// - Parameters:
    ///   - name: what the device calls itself, UTF-8.
    ///   - paper: the ask key that the owner wrote down.
    ///   - withFormer: asks the guardians from before the last change, for as long as they may help.
    /// - Throws: ``RecoveryClientError``.
    public func start(
        calling name: [UInt8], with paper: AskKey? = nil, withFormer: Bool = false
    ) async throws(RecoveryClientError) -> RecoveryProgress {
        _ = try await post.asking { () throws(ClientError) in try await post.client.finishPending(post.secrets) }
        let lookup = try await ownLookup()
        var record = try record()
        if record == nil || isStale(record, lookup.state) {
            record = try await newRecord(lookup, name, withFormer: withFormer)
        }
        guard var record else { throw .noRecovery }
        if let paper, record.endorsement == nil { record.endorsement = try endorse(record, with: paper) }
        try keep(record)
        if record.attempt?.stage ?? .collecting == .collecting {
            try await leaveRequest(record, record.attempt?.start)
        }
        return try await status()
    }

    /// A request that is too old to begin by now, or that began and was stopped.
    private func isStale(_ record: RecoveryRecord?, _ state: AccountState) -> Bool {
        guard let record else { return false }
        guard let attempt = record.attempt else {
            return post.now() >= record.request.created + RecoveryStart.lifetimeAfterDelay
        }
        return attempt.stage == .collecting && state.pendingRecovery != attempt.start.hash
    }

    private func ownLookup() async throws(RecoveryClientError) -> VerifiedLookup {
        let answer = try await post.asking { () throws(ClientError) in
            try await post.client.lookup(post.secrets.handle).verdict
        }
        return answer.lookup
    }

    private func newRecord(
        _ lookup: VerifiedLookup, _ name: [UInt8], withFormer: Bool
    ) async throws(RecoveryClientError) -> RecoveryRecord {
        try checkNothingElse(lookup.state)
        let promise = try await promise(of: lookup.state, former: withFormer)
        guard let scope = RecoveryScope(label: promise.label, epoch: promise.commitment.epoch) else {
            throw .malformedAnswer
        }
        guard let identityKey = post.secrets.identityKey else { throw .identityElsewhere }
        let (now, seed) = (post.now(), post.client.surroundings.randomBytes(SpokenNumbers.seedByteCount))
        let request: RecoveryRequest
        do throws(RecoveryRequestError) {
            request = try RecoveryRequest(
                scope: scope, identityKey: identityKey, sealingKey: post.secrets.keys.kem,
                signingKey: post.secrets.keys.signing, revealRoot: SpokenNumbers(seed: seed).root, created: now,
                expires: now + UInt64(promise.commitment.delay) + RecoveryStart.lifetimeAfterDelay,
                claimedName: name, signing: { try post.secrets.signAsIdentity($0) ?? [] })
        } catch { throw .request(error) }
        return RecoveryRecord(
            secret: post.client.surroundings.randomBytes(32), numbersSeed: seed, commitment: promise.commitment,
            request: request)
    }

    /// What the account commits to, as its verified state says. The label, of the log in which the guardians were chosen, is
    /// the server's word: a wrong one is refused by guardians and by the bundle.
    private func promise(
        of state: AccountState, former: Bool
    ) async throws(RecoveryClientError) -> RecoveryPromise {
        let hash: [UInt8]
        if former {
            guard let before = state.formerRecovery, post.now() < before.end else { throw .noFormerGuardians }
            hash = before.commitment.hash
        } else {
            guard state.olderCommitment == nil else { throw .olderGuardians }
            guard let committed = state.recoveryCommitment else { throw .notRecoverable }
            hash = committed
        }
        guard let promise = try await post.promise(of: state.handle, hash) else { throw .notRecoverable }
        return promise
    }

    private func endorse(
        _ record: RecoveryRecord, with paper: AskKey
    ) throws(RecoveryClientError) -> RecoveryEndorsement {
        guard paper.publicKey == record.commitment.askKey else { throw .anotherPaper }
        return RecoveryEndorsement(
            of: record.request.hash, identityKey: record.request.identityKey, commitment: record.commitment,
            expires: record.request.expires, at: post.now(), signing: paper.signature)
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

    private func leaveRequest(_ record: RecoveryRecord, _ start: RecoveryStart?) async throws(RecoveryClientError) {
        let asking = RecoveryAsking(
            owner: post.secrets.handle, box: Array(SHA256.hash(data: record.secret)), commitment: record.commitment,
            start: start, request: record.request.encoded)
        _ = try await post.call(.ask, asking.encoded)
    }

    // MARK: Into the log

    /// Once somebody who may has endorsed the request: puts it into the log, and fetches what guardians open.
    private func begin(_ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        guard let endorsement = record.endorsement else { return }
        _ = try await post.asking { () throws(ClientError) in try await post.client.finishPending(post.secrets) }
        var state = try await ownLookup().state
        if record.start == nil || state.pendingRecovery != record.start?.hash {
            try checkNothingElse(state)
            guard post.now() < endorsement.time + RecoveryEndorsement.lifetime else {
                record.endorsement = nil
                return try keep(record)
            }
            let start = try start(record, endorsement)
            record.start = start
            try keep(record)
            try await log(start, after: state)
            state = try await ownLookup().state
        }
        guard let start = record.start, state.pendingRecovery == start.hash else { throw .stopped }
        try await fetch(&record, start, state)
    }

    private func start(
        _ record: RecoveryRecord, _ endorsement: RecoveryEndorsement
    ) throws(RecoveryClientError) -> RecoveryStart {
        do throws(RecoveryStepFault) {
            return try RecoveryStart(
                request: record.request.hash, identityKey: record.request.identityKey, commitment: record.commitment,
                started: post.now(), expires: record.request.expires, endorsement: endorsement)
        } catch { throw .start(error) }
    }

    private func log(_ start: RecoveryStart, after state: AccountState) async throws(RecoveryClientError) {
        var superseded: RecoveryStart?
        if case .started(let start, _, _) = state.step { superseded = start }
        let asked: AccountState
        do throws(AccountStateError) {
            asked = try AccountState(starting: start, superseding: superseded, after: state) {
                try post.secrets.signAsIdentity($0) ?? []
            }
        } catch { throw .account(error) }
        _ = try await post.asking { () throws(ClientError) in
            try await post.client.submit(asked, cards: [], by: post.secrets)
        }
    }

    private func fetch(
        _ record: inout RecoveryRecord, _ start: RecoveryStart, _ state: AccountState
    ) async throws(RecoveryClientError) {
        try await leaveRequest(record, start)
        let fetch = RecoveryFetch(request: record.request.hash, secret: record.secret)
        guard let file = try await post.find(.askedFile, fetch.encoded) else { throw .notRecoverable }
        guard let contents = try? RecoveryContents(decoding: file) else { throw .malformedAnswer }
        do throws(RecoveryAttemptError) {
            record.attempt = try RecoveryAttempt(
                record.request, start: start, bundle: contents.bundle, state: state)
        } catch { throw .attempt(error) }
        record.contents = contents
        try keep(record)
    }

    // MARK: Collecting

    /// Collects guardians' answers, and begins once one of them has confirmed.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func status() async throws(RecoveryClientError) -> RecoveryProgress {
        guard var record = try record() else { throw .noRecovery }
        if record.attempt == nil {
            try await collectTwice(&record)
            try await begin(&record)
        }
        if let attempt = record.attempt, attempt.stage == .collecting {
            if try await ownLookup().state.pendingRecovery != attempt.start.hash { throw .stopped }
            try await collectTwice(&record)
        }
        return try progress(record)
    }

    /// Guardians who answered now are shown their number; the code is then there to be read.
    private func collectTwice(_ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        let count = record.numbers.count
        try await collect(&record)
        if record.numbers.count > count { try await collect(&record) }
    }

    private func collect(_ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        let reveal = record.reveals.flatMap(\.encoded)
        var last: UInt64 = 0
        while true {
            let collection = RecoveryCollection(
                request: record.request.hash, secret: record.secret, after: last, reveal: reveal)
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
            _ = try? record.attempt?.take(release, from: key)
        case .endorsement(let endorsement):
            if record.endorsement == nil, (try? start(record, endorsement)) != nil { record.endorsement = endorsement }
        case nil: return
        }
    }

    private func progress(_ record: RecoveryRecord) throws(RecoveryClientError) -> RecoveryProgress {
        let (standing, guardians): (RecoveryStanding, [Handle])
        do {
            (standing, guardians) = try post.secrets.withSealingKey { key in
                guard let attempt = record.attempt else { return (.nothing, []) }
                return (attempt.standing(with: key), attempt.guardians(with: key) ?? [])
            }
        } catch { throw .damaged }
        return RecoveryProgress(
            number: RequestNumber(ofRequest: record.request.hash), stage: record.attempt?.stage,
            start: record.attempt?.start, codes: record.codes.mapValues { String(decoding: $0.text, as: UTF8.self) },
            standing: standing, guardians: guardians)
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
        guard let stage = record.attempt?.stage else { throw .nobodyConfirmed }
        if stage == .collecting || stage == .succeeding { try await succeed(&record) }
        return try await bringBack(record)
    }

    private func succeed(_ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        guard let start = record.attempt?.start else { throw .nobodyConfirmed }
        guard post.now() >= start.notBefore else { throw .tooEarly(until: start.notBefore) }
        let identityKey = record.request.identityKey
        let states = try await states()
        guard let last = states.last else { throw .noRecovery }
        if last.identityKey != identityKey {
            guard last.pendingRecovery == start.hash else { throw .stopped }
            try await takeOver(&record, after: last, highest: states.flatMap(\.devices).map(\.number).max() ?? 0)
        }
        let now = try await states.last?.identityKey == identityKey ? states : self.states()
        guard let before = now.last(where: { $0.identityKey != identityKey }),
            let after = now.first(where: { $0.identityKey == identityKey })
        else { throw .stopped }
        do throws(RecoveryAttemptError) { try record.attempt?.succeeded(before: before, after: after) } catch {
            throw .attempt(error)
        }
        try keep(record)
    }

    private func takeOver(
        _ record: inout RecoveryRecord, after state: AccountState, highest: UInt16
    ) async throws(RecoveryClientError) {
        guard var attempt = record.attempt else { throw .nobodyConfirmed }
        guard highest < UInt16.max else { throw .client(.misuse(.noDeviceNumberLeft)) }
        let secrets = post.secrets
        let card = try await post.asking { () throws(ClientError) in try await post.client.deviceCard(secrets) }
        // A little in the past, so that a fast clock does not claim a time to come.
        let time = max(attempt.start.notBefore, post.now() - min(post.now(), 60))
        let device = DeviceRecord(number: highest + 1, addedAt: time, keys: secrets.keys)
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
        guard let attempt = record.attempt, let journal = record.contents?.journal else { throw .nobodyConfirmed }
        let states = try await states().filter { $0.identityKey != record.request.identityKey }
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
    /// By what the person names their request to the first guardian.
    public let number: RequestNumber
    /// The stage; nil before the log holds the request.
    public let stage: RecoveryAttempt.Stage?
    /// What the log holds of it; nil before it does.
    public let start: RecoveryStart?
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
