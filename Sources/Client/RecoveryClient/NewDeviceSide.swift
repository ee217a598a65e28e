// SPDX-License-Identifier: Apache-2.0

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

    /// Whether a request was made on this device.
    ///
    /// - Throws: ``RecoveryClientError``.
    public var isUnderWay: Bool { get throws(RecoveryClientError) { try record() != nil } }

    func record() throws(RecoveryClientError) -> RecoveryRecord? { try files.readRecovery() }

    func keep(_ record: RecoveryRecord) throws(RecoveryClientError) { try files.write(record) }

    // MARK: Asking

    /// Asks for the identity: leaves the request for the guardians. The log takes it when the first of them has confirmed, or
    /// at once with the owner's paper. May be repeated.
    ///
    /// - Parameters:
    ///   - name: what the device calls itself, UTF-8.
    ///   - paper: the ask key that the owner wrote down.
    ///   - naming: guardians whom the person remembers. Once a guardian is named, only named guardians and those on the
    ///     opened list are shown a number: a holder of the ask key may answer under many names.
    ///   - withFormer: demands the guardians from before the last change. For as long as they may help, no others may,
    ///     and they are asked in any case.
    /// - Throws: ``RecoveryClientError``.
    public func start(
        calling name: [UInt8], with paper: AskKey? = nil, naming guardians: [Handle] = [], withFormer: Bool = false
    ) async throws(RecoveryClientError) -> RecoveryProgress {
        _ = try await post.asking { () throws(ClientError) in try await post.client.finishPending(post.secrets) }
        let lookup = try await ownLookup()
        let (found, isLost) = try recordUnlessLost()
        var record = found
        let isListed = lookup.state.devices.contains { $0.keys.signing == post.secrets.keys.signing }
        guard !isListed || record?.isUnderWay == true else { throw .listedDevice }
        if record == nil || isStale(record, lookup.state) {
            if isLost { try checkOwnRequestOver(lookup.state) }
            record = try await newRecord(lookup, name, withFormer: withFormer)
        }
        if isLost { try files.setAsideRecovery() }
        guard var record else { throw .noRecovery }
        record.name(guardians)
        if let paper, record.endorsement == nil { record.endorsement = try endorse(record, with: paper) }
        try keep(record)
        if record.attempt?.stage ?? .collecting == .collecting {
            try await leaveRequest(&record, record.attempt?.start)
            try keep(record)
        }
        return try await status()
    }

    /// The recovery under way; an unreadable file of it prevents this device only from continuing it.
    private func recordUnlessLost() throws(RecoveryClientError) -> (record: RecoveryRecord?, isLost: Bool) {
        do throws(RecoveryClientError) { return (try record(), false) } catch {
            guard case .damaged = error else { throw error }
            return (nil, true)
        }
    }

    private func checkOwnRequestOver(_ state: AccountState) throws(RecoveryClientError) {
        guard case .started(let start, _, _) = state.step, post.now() < start.expires,
            start.identityKey == post.secrets.identityKey
        else { return }
        throw .ownRequestLost(until: start.expires)
    }

    /// A request that is too old to begin by now, or that began and was stopped.
    private func isStale(_ record: RecoveryRecord?, _ state: AccountState) -> Bool {
        guard let record else { return false }
        guard let attempt = record.attempt else {
            return post.now() >= record.request.created + RecoveryStart.lifetimeAfterDelay
        }
        return attempt.stage == .collecting && state.pendingRecovery != attempt.start.hash
    }

    func ownLookup() async throws(RecoveryClientError) -> VerifiedLookup {
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
        if let before = state.formerRecovery, post.now() < before.end {
            // Those who were named since may help only after that.
            hash = before.commitment.hash
        } else {
            guard !former else { throw .noFormerGuardians }
            guard state.olderCommitment == nil else { throw .olderGuardians }
            guard let committed = state.recoveryCommitment else { throw .notRecoverable }
            hash = committed
        }
        guard let promise = try await post.promise(of: state.handle, hash) else { throw .guardedThingsUnreadable }
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

    /// No other request is open, and there was no objection within the last day.
    func checkNothingElse(_ state: AccountState) throws(RecoveryClientError) {
        switch state.step {
        case .started(let start, _, _) where post.now() < start.expires: throw .anotherAsks(until: start.expires)
        case .stopped(let stop, _) where post.now() < stop.time + RecoveryStop.freeze:
            throw .frozen(by: stop.device, until: stop.time + RecoveryStop.freeze)
        default: return
        }
    }

    /// Leaves the request with the server, which gives it its number.
    func leaveRequest(_ record: inout RecoveryRecord, _ start: RecoveryStart?) async throws(RecoveryClientError) {
        let asking = RecoveryAsking(
            owner: post.secrets.handle, box: Array(SHA256.hash(data: record.secret)), commitment: record.commitment,
            start: start, request: record.request.encoded)
        let answer = try await post.call(.ask, asking.encoded)
        do { record.number = try RequestNumber(decoding: answer) } catch { throw .malformedAnswer }
    }

    // MARK: Collecting

    /// Collects guardians' answers, and begins once one of them has confirmed.
    ///
    /// - Parameter naming: guardians whom the person remembers; see ``start(calling:with:naming:withFormer:)``.
    /// - Throws: ``RecoveryClientError``.
    public func status(naming guardians: [Handle] = []) async throws(RecoveryClientError) -> RecoveryProgress {
        guard var record = try record() else { throw .noRecovery }
        record.name(guardians)
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
        let reveals = record.reveals
        let listed = try guardians(record)
        record.others = []
        var last: UInt64 = 0
        while true {
            let collection = RecoveryCollection(
                request: record.request.hash, secret: record.secret, after: last, reveals: reveals)
            let answer = try await post.call(.answers, collection.encoded)
            guard let letters = try? RecoveryLetterList(decoding: answer).letters else { throw .malformedAnswer }
            guard let end = letters.last?.number, end > last else { break }
            last = end
            for letter in letters { try await take(letter, &record, listed) }
        }
        try keep(record)
    }

    /// What does not hold is ignored; a wrong share is kept, so that its giver can be named.
    private func take(
        _ letter: RecoveryLetter, _ record: inout RecoveryRecord, _ listed: [Handle]
    ) async throws(RecoveryClientError) {
        switch try? GuardianAnswer(decoding: letter.body) {
        case .number(let number):
            guard !record.numbers.contains(where: { $0.guardian == letter.sender }) else { return }
            guard record.expects(letter.sender, listed) else { return record.passOver(letter.sender) }
            guard let person = try await guardian(letter.sender) else { return }
            record.take(number, from: letter.sender, person.lookup.state.devices)
        case .release(let release):
            guard let person = try await guardian(letter.sender), let key = GuardianKey(person.lookup) else { return }
            _ = try? record.attempt?.take(release, from: key)
        case .endorsement(let endorsement):
            if record.endorsement == nil, (try? start(record, endorsement)) != nil { record.endorsement = endorsement }
        case nil: return
        }
    }

    /// A guardian whom the directory shows; nil for one whom it no longer shows, who then does not hold up the others.
    private func guardian(_ handle: Handle) async throws(RecoveryClientError) -> LookupVerdict? {
        do { return try await post.lookup(handle) } catch {
            guard error.isWorthARetry else { return nil }
            throw error
        }
    }

    /// All guardians whom the owner had chosen; empty before two of them have helped.
    private func guardians(_ record: RecoveryRecord) throws(RecoveryClientError) -> [Handle] {
        guard let attempt = record.attempt else { return [] }
        do { return try post.secrets.withSealingKey { attempt.guardians(with: $0) ?? [] } } catch {
            throw .damaged("recovery")
        }
    }

    private func progress(_ record: RecoveryRecord) throws(RecoveryClientError) -> RecoveryProgress {
        let standing: RecoveryStanding
        do {
            standing = try post.secrets.withSealingKey { record.attempt?.standing(with: $0) ?? .nothing }
        } catch { throw .damaged("recovery") }
        return RecoveryProgress(
            number: record.number, stage: record.attempt?.stage,
            start: record.attempt?.start, codes: record.codes.mapValues { String(decoding: $0.text, as: UTF8.self) },
            standing: standing, guardians: try guardians(record), others: record.others,
            isWaitOver: record.attempt.map { post.now() >= $0.start.notBefore } ?? false)
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
    /// The guardians whose shares are right, those whose shares are wrong, and the number of missing shares.
    public let standing: RecoveryStanding
    /// All guardians whom the owner had chosen; empty before two of them have helped.
    public let guardians: [Handle]
    /// People who answered and are shown nothing, because they were not named and are not on the list.
    public let others: [Handle]
    /// Whether the log holds the request and the time for objections is over by this device's clock.
    public let isWaitOver: Bool
}
