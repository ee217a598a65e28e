// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
public import KeyTransparency
import SecretSharing
import SignetAPI
public import SignetClient
public import SocialRecovery

/// The owner's side: choosing guardians, and seeing that they keep what they were given.
///
/// Every step is on the disk before its message goes out, and may be repeated.
public struct OwnerSide<Store: ClientStore>: Sendable {
    let post: RecoveryPost<Store>
    let files: RecoveryFiles

    /// The owner on a device that holds the identity.
    public init(_ client: Client<Store>, _ secrets: DeviceSecrets, _ files: RecoveryFiles) {
        post = RecoveryPost(client, secrets)
        self.files = files
    }

    init(_ post: RecoveryPost<Store>, _ files: RecoveryFiles) {
        self.post = post
        self.files = files
    }

    /// The set that this device put in force; nil before the first. Whether it still is, ``inForce()`` says.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func current() throws(RecoveryClientError) -> RecoverySetup? {
        try files.value(in: files.setup) { try RecoverySetup(decoding: $0) }
    }

    /// The set in force that this device chose, by what the log says now; nil before the first.
    ///
    /// - Throws: ``RecoveryClientError``; ``RecoveryClientError/guardiansElsewhere``: the log names others.
    public func inForce() async throws(RecoveryClientError) -> RecoverySetup? {
        guard try formerSet() == nil, let setup = try current() else { return nil }
        let named = try await post.lookup(post.secrets.handle).lookup.state.recoveryCommitment
        // The log may know already of the set that is being asked.
        let asked = try next()?.commitment.hash
        guard named == setup.commitment.hash || named == asked else { throw .guardiansElsewhere }
        return setup
    }

    /// - Throws: ``RecoveryClientError``: why this device chose no set that could be refreshed.
    public func checkChosenHere() async throws(RecoveryClientError) {
        guard try hasSet() else { throw try await whyNone() }
    }

    /// - Throws: ``RecoveryClientError``: why there is no set in force that this device chose.
    public func checkInForce() async throws(RecoveryClientError) { _ = try await setInForce() }

    /// The set in force, for what needs one.
    ///
    /// - Throws: ``RecoveryClientError``: why this device has none.
    func setInForce() async throws(RecoveryClientError) -> RecoverySetup {
        if let setup = try await inForce() { return setup }
        throw try await whyNone()
    }

    /// Why this device has no set: only the log can say that none was chosen, never this device alone.
    func whyNone() async throws(RecoveryClientError) -> RecoveryClientError {
        if try formerSet() != nil { return .anotherVersion }
        let state = try await post.lookup(post.secrets.handle).lookup.state
        _ = try await ownRecord(in: state)
        if try next() != nil { return .notInForceYet }
        guard state.recoveryCommitment != nil || state.olderCommitment != nil else { return .noGuardians }
        return .chosenElsewhere(hasIdentity: post.secrets.identityKey != nil)
    }

    /// This device as the account lists it.
    ///
    /// - Throws: ``RecoveryClientError``: ``RecoveryClientError/removedDevice`` if an earlier state of the log listed it.
    func ownRecord(in state: AccountState) async throws(RecoveryClientError) -> DeviceRecord {
        let key = post.secrets.keys.signing
        if let own = state.devices.first(where: { $0.keys.signing == key }) { return own }
        let wasListed = try await post.ownStates().contains { $0.devices.contains { $0.keys.signing == key } }
        throw wasListed ? .removedDevice : .client(.misuse(.deviceNotAddedYet))
    }

    /// The set that is being asked. One that an older program began to ask is none: its packets open nothing any more.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func next() throws(RecoveryClientError) -> RecoverySetup? {
        try files.value(in: files.nextSetup) { bytes in
            do { return try RecoverySetup(decoding: bytes) } catch RecoveryFormatError.anotherVersion { return nil }
        }.flatMap(\.self)
    }

    /// The set that an older program put in force; nil when there is none of it.
    func formerSet() throws(RecoveryClientError) -> FirstSetup? {
        guard let bytes = try files.read(files.setup), FirstSetup.isOne(bytes) else { return nil }
        do { return try FirstSetup(decoding: bytes) } catch { throw .damaged("guardians") }
    }

    /// Cuts a new recovery key among people whom the user knows, and asks them to keep it. Those before, if any, stay in
    /// force until enough of the new ones have answered. The same call again sends to those who have not answered.
    ///
    /// - Parameters:
    ///   - guardians: each with how the owner and they met.
    ///   - threshold: how many of them recover the identity.
    ///   - delay: how long a recovery is open to objection, in seconds.
    ///   - entries: what a recovery brings back besides the people whom the owner knows.
    /// - Throws: ``RecoveryClientError``.
    public func ask(
        _ guardians: [(handle: Handle, meeting: MeetingEvidence)], threshold: Int, delay: UInt32,
        isReplacing: Bool, bringingBack entries: [JournalEntry] = []
    ) async throws(RecoveryClientError) -> RecoverySetup {
        if let asked = try next() {
            // The same once more, after an interruption.
            guard asked.stage == .delivering, asked.guardians.map(\.key.handle) == guardians.map(\.handle),
                asked.threshold == threshold, asked.bundle.delay == delay
            else { throw .guardiansThere }
            return try await deliver(asked)
        }
        guard try isReplacing == hasSet() else { throw .guardiansThere }
        let own = try await post.asking { () throws(ClientError) in
            _ = try await post.client.ownState(post.secrets)
            return try await post.client.lookup(post.secrets.handle).verdict
        }
        try checkMayChange(own.lookup.state)
        var chosen: [(key: GuardianKey, meeting: MeetingEvidence)] = []
        for (handle, meeting) in guardians {
            let person = try await post.person(handle)
            guard let key = GuardianKey(person.lookup) else { throw .notAccepted(handle) }
            chosen.append((key, meeting))
        }
        let epoch = try await max(nextEpoch(), (logged(in: own.lookup.state)?.epoch ?? 0) + 1)
        guard let scope = RecoveryScope(label: LabelIndex(own.lookup.label), epoch: epoch) else {
            throw .damaged("guardians")
        }
        let plan = RecoverySetup.Plan(
            scope: scope, owner: own.handle, ownKey: post.secrets.keys.kem, guardians: chosen,
            threshold: threshold, delay: delay,
            created: post.now())
        let device = own.lookup.state.devices.first { $0.keys.signing == post.secrets.keys.signing }
        let all = entries + (try await contacts())
        let made = try begin(plan, all, device: (device?.number ?? 0, own.lookup.state.version))
        try files.write(made.contents.encoded, to: files.nextContents)
        try files.write(
            GuardedRecord(all, of: made.setup.commitment.hash, made.contents.journal).encoded, to: files.nextKept)
        try files.write(made.setup.encoded, to: files.nextSetup)
        return try await deliver(made.setup)
    }

    /// Cuts a new recovery key among the people who guard now: each gets another part, and once enough of them keep it the
    /// parts from before open nothing that comes after; see ``openedByFormerParts(_:)`` for what they still do. Use it
    /// whenever a part may have been seen.
    ///
    /// - Parameter entries: what a recovery brings back besides the people whom the owner knows.
    /// - Throws: ``RecoveryClientError``.
    public func refresh(bringingBack entries: [JournalEntry] = []) async throws(RecoveryClientError) -> RecoverySetup {
        if let former = try formerSet() {
            return try await ask(
                former.guardians, threshold: former.threshold, delay: former.delay, isReplacing: true,
                bringingBack: entries)
        }
        try await checkChosenHere()
        guard let current = try current() else { throw .noGuardians }
        return try await ask(
            current.guardians.map { ($0.key.handle, $0.meeting) }, threshold: current.threshold,
            delay: current.bundle.delay, isReplacing: true, bringingBack: entries)
    }

    private func nextEpoch() throws(RecoveryClientError) -> UInt32 {
        if let former = try formerSet() { return max(former.epoch, try askedEpoch()) + 1 }
        return max(try current()?.bundle.scope.epoch ?? 0, try recoveredEpoch(), try askedEpoch()) + 1
    }

    /// The highest epoch that this device has asked guardians to keep, including withdrawn ones; 0 if there is none.
    private func askedEpoch() throws(RecoveryClientError) -> UInt32 {
        let asked = try files.value(in: files.nextContents) { bytes in
            do throws(RecoveryFormatError) { return try RecoveryContents(decoding: bytes).commitment.epoch } catch {
                guard error == .anotherVersion else { throw error }
                return 0
            }
        }
        return asked ?? 0
    }

    private func hasSet() throws(RecoveryClientError) -> Bool {
        if try formerSet() != nil { return true }
        return try current() != nil
    }

    /// The epoch of the guardians who recovered this device's identity; 0 if it was not recovered.
    private func recoveredEpoch() throws(RecoveryClientError) -> UInt32 {
        if let bytes = try files.read(files.recovery), let epoch = RecoveryRecord.firstEpoch(in: bytes) { return epoch }
        return try files.readRecovery()?.request.scope.epoch ?? 0
    }

    private func begin(
        _ plan: RecoverySetup.Plan, _ entries: [JournalEntry], device: (number: UInt16, version: UInt64)
    ) throws(RecoveryClientError) -> (setup: RecoverySetup, contents: RecoveryContents) {
        var generator = SystemRandomNumberGenerator()
        do throws(RecoverySetupError) {
            let (setup, journal) = try RecoverySetup.begin(
                plan, using: &generator, signing: { try post.secrets.signAsIdentity($0) ?? [] },
                filling: { journal, key throws(RecoveryJournalError) in
                    try journal.append(entries, to: key, device: device.number, at: device.version) {
                        try post.secrets.sign($0)
                    }
                })
            let contents = RecoveryContents(
                commitment: setup.commitment, bundle: setup.bundle.encoded, journal: journal)
            return (setup, contents)
        } catch { throw .setup(error) }
    }

    /// The people whom the owner knows, and on which day they met or compared, so that a recovery brings them back.
    func contacts() async throws(RecoveryClientError) -> [JournalEntry] {
        try await post.asking { () throws(ClientError) in
            let comparisons = try await post.client.comparisons()
            return try await post.client.knownPeople().map { peer in
                let compared = comparisons.first { $0.handle == peer.handle && $0.identityKey == peer.identityKey }
                return .contact(peer.handle, identityKey: peer.identityKey, compared)
            }
        }
    }

    /// Stores the file and sends each guardian who has not answered their packet, again if need be.
    private func deliver(_ setup: RecoverySetup) async throws(RecoveryClientError) -> RecoverySetup {
        guard let contents = try files.read(files.nextContents) else { throw .damaged("guardians-next-file") }
        try await store(contents, under: setup.commitment.hash)
        for guardian in setup.guardians where !guardian.isKept {
            let letter = GuardianLetter.packet(
                setup.bundle.scope, sealed: guardian.packet, challenge: guardian.challenge)
            try await post.send(letter, to: try await post.person(guardian.key.handle))
        }
        return setup
    }

    /// Sends packets again to those who have not answered.
    ///
    /// - Throws: ``RecoveryClientError``; ``RecoveryClientError/allHaveAnswered``: all of them have answered.
    public func remind() async throws(RecoveryClientError) -> RecoverySetup {
        guard let setup = try next() else {
            guard try current() != nil else { throw try await whyNone() }
            throw .allHaveAnswered
        }
        guard setup.guardians.contains(where: { !$0.isKept }) else { throw .allHaveAnswered }
        return try await deliver(setup)
    }

    /// What the owner may keep on paper: the ask key of the guardians in force.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func paper() async throws(RecoveryClientError) -> [UInt8] {
        let setup = try await setInForce()
        guard let paper = try? post.secrets.withSealingKey({ setup.askKey(with: $0)?.paper }) else {
            throw .damaged("guardians")
        }
        return paper
    }

    /// Withdraws the set that is being asked: those in force stay. What those who were asked keep of it opens nothing, and its
    /// epoch is not given again.
    ///
    /// - Returns: the guardians who were asked.
    /// - Throws: ``RecoveryClientError/noneAsked``: no one is being asked, or enough have answered and the log may
    ///   know of it.
    @discardableResult public func withdraw() throws(RecoveryClientError) -> [Handle] {
        guard let setup = try next(), setup.stage == .delivering else { throw .noneAsked }
        try files.clear(files.nextSetup)
        return setup.guardians.map(\.key.handle)
    }

    /// Takes guardians' answers, and puts the new set in force once enough of them keep their part.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func advance() async throws(RecoveryClientError) {
        try await GuardianSide(post, files).takeLetters()
        try await putInForce()
        if try next() == nil { _ = try await inForce() }
    }

    /// Proofs that prove nothing are ignored: anyone may write.
    func take(_ letter: GuardianLetter, from sender: Handle) throws(RecoveryClientError) {
        guard case .proof(let scope, let challenge, let proof) = letter else { return }
        if var setup = try next(), setup.bundle.scope == scope, (try? setup.kept(by: sender, proof)) != nil {
            try files.write(setup.encoded, to: files.nextSetup)
        }
        if var check = try check(), (try? check.take(proof, to: challenge, from: sender)) != nil {
            try files.write(check.encoded, to: files.check)
        }
    }

    private func putInForce() async throws(RecoveryClientError) {
        guard var setup = try next(), setup.keptCount >= setup.neededCount else { return }
        do throws(RecoverySetupError) { try setup.publish() } catch { throw .setup(error) }
        try files.write(setup.encoded, to: files.nextSetup)
        let state = try await commit(to: setup.commitment.hash)
        do throws(RecoverySetupError) { try setup.activate(by: state) } catch { throw .setup(error) }
        try rememberFormer(of: setup)
        try files.write(setup.encoded, to: files.setup)
        if let kept = try files.read(files.nextKept) { try files.write(kept, to: files.kept) }
        try finishRecovery(setup)
        try files.clear(files.check)
        for guardian in setup.guardians {
            let person = try await post.person(guardian.key.handle)
            try await post.send(.inForce(setup.bundle.scope, setup.commitment), to: person)
        }
        try files.clear(files.nextSetup)
    }

    /// No request for the identity is open, because new guardians would end it without leaving an objection; and see
    /// ``checkFormerOver(_:)``.
    private func checkMayChange(_ state: AccountState) throws(RecoveryClientError) {
        guard state.pendingRecovery == nil else { throw .recoveryIsOpen }
        try checkFormerOver(state)
    }

    /// Guardians change once in a delay: until then a recovery may begin with those before.
    private func checkFormerOver(_ state: AccountState) throws(RecoveryClientError) {
        guard state.recoveryCommitment != nil, let end = state.formerRecovery?.end, post.now() < end else { return }
        throw .changedTooSoon(until: end)
    }

    private func commit(to hash: [UInt8]) async throws(RecoveryClientError) -> AccountState {
        let state = try await post.asking { () throws(ClientError) in try await post.client.ownState(post.secrets) }
        if state.recoveryCommitment == hash { return state }
        try checkMayChange(state)
        let former = try await logged(in: state).map { FormerRecovery($0, since: post.now()) }
        return try await post.asking { () throws(ClientError) in
            let body: AccountStateBody
            do throws(AccountStateError) { body = try state.next(committingTo: hash, leaving: former) } catch {
                throw .account(error)
            }
            return try await post.client.submit(body, cards: [], by: post.secrets).lookup.state
        }
    }

    /// The commitment that the log names; nil if it names none. The server has the commitment of guardians who were
    /// chosen elsewhere.
    private func logged(in state: AccountState) async throws(RecoveryClientError) -> RecoveryCommitment? {
        guard let hash = state.recoveryCommitment else { return nil }
        if let own = try current()?.commitment, own.hash == hash { return own }
        guard let promise = try await post.promise(of: state.handle, hash) else { throw .guardedThingsLost }
        return promise.commitment
    }

    private func finishRecovery(_ setup: RecoverySetup) throws(RecoveryClientError) {
        guard var record = try files.readRecovery(), record.attempt?.stage == .rearming else { return }
        do throws(RecoveryAttemptError) { try record.attempt?.rearmed(by: setup) } catch { throw .attempt(error) }
        try files.write(record)
    }
}

// MARK: Do they still keep it?

extension OwnerSide {
    /// The last check; nil before the first.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func check() throws(RecoveryClientError) -> GuardianCheckRecord? {
        guard try formerSet() == nil, let setup = try current() else { return nil }
        return try files.value(in: files.check) { try GuardianCheckRecord(decoding: $0, of: setup) }
    }

    /// Asks every guardian whether they still keep their part.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func beginCheck() async throws(RecoveryClientError) {
        let setup = try await setInForce()
        var generator = SystemRandomNumberGenerator()
        let check = GuardianCheckRecord(of: setup, at: post.now(), using: &generator)
        try files.write(check.encoded, to: files.check)
        for (handle, challenge) in check.challenges.sorted(by: { $0.key.description < $1.key.description }) {
            let person = try await post.person(handle)
            try await post.send(.check(setup.bundle.scope, challenge: challenge), to: person)
        }
    }

    /// Stops a recovery that another person began: "this was not me". Any device of the account may do this. The log is
    /// told, and so are the guardians whom this device knows, by letters, which pass the same server: what it cannot
    /// keep from them is
    /// ``objection()``, given to them in another way.
    ///
    /// - Returns: the objection, to be given to guardians in other ways; nil when the log does not show the request any more.
    /// - Throws: ``RecoveryClientError``; guardians were told even if the log was not.
    public func stopRecovery() async throws(RecoveryClientError) -> GuardianObjection? {
        let secrets = post.secrets
        _ = try await post.asking { () throws(ClientError) in try await post.client.finishPending(secrets) }
        let (state, stop) = try await toStop()
        let objection = try objection(to: state, stop)
        let failure = await log(stop, after: state)
        if let objection { await tell(objection) }
        if let failure { throw failure }
        return objection
    }

    /// An objection for guardians: to the recovery that the log shows, or, if the server shows none or does not answer, to any;
    /// nothing is sent. To be kept before ``stopRecovery()``, which a server may refuse.
    ///
    /// - Throws: ``RecoveryClientError``: also when this device knows of no account that lists it;
    ///   ``RecoveryClientError/removedDevice``: guardians would not take it.
    public func objection() async throws(RecoveryClientError) -> GuardianObjection {
        let secrets = post.secrets
        if let state = try? await post.lookup(secrets.handle).lookup.state {
            let own = try await ownRecord(in: state)
            let stop = RecoveryStop(device: own.number, time: post.now())
            if let objection = try objection(to: state, stop) { return objection }
            return try objection(to: GuardianObjection.anything, by: own.number, at: stop.time)
        }
        let pinned = try await post.asking { () throws(ClientError) in
            do throws(StoreError) { return try await post.client.store.pinnedPeer(secrets.handle) } catch {
                throw ClientError.store(error)
            }
        }
        guard let own = pinned?.devices.first(where: { $0.signingKey == secrets.keys.signing }) else {
            throw .client(.misuse(.deviceNotAddedYet))
        }
        return try objection(to: GuardianObjection.anything, by: own.number, at: post.now())
    }

    private func toStop() async throws(RecoveryClientError) -> (state: AccountState, stop: RecoveryStop) {
        let state = try await post.lookup(post.secrets.handle).lookup.state
        let own = try await ownRecord(in: state)
        guard state.pendingRecovery != nil else { throw .nothingToStop }
        return (state, RecoveryStop(device: own.number, time: post.now()))
    }

    private func objection(
        to state: AccountState, _ stop: RecoveryStop
    ) throws(RecoveryClientError) -> GuardianObjection? {
        guard case .started(let start, _, _) = state.step else { return nil }
        return try objection(to: start.request, by: stop.device, at: stop.time)
    }

    private func objection(
        to request: [UInt8], by device: UInt16, at time: UInt64
    ) throws(RecoveryClientError) -> GuardianObjection {
        do {
            return try GuardianObjection(to: request, of: post.secrets.handle, by: device, at: time) {
                try post.secrets.sign($0)
            }
        } catch { throw .damaged("keystore") }
    }

    private func log(_ stop: RecoveryStop, after state: AccountState) async -> RecoveryClientError? {
        let stopped: AccountState
        do throws(AccountStateError) {
            stopped = try AccountState(stopping: stop, after: state) { try post.secrets.sign($0) }
        } catch { return .account(error) }
        do throws(RecoveryClientError) {
            _ = try await post.asking { () throws(ClientError) in
                try await post.client.submit(stopped, cards: [], by: post.secrets)
            }
            return nil
        } catch { return error }
    }

    /// An unreachable guardian does not keep it from the others.
    private func tell(_ objection: GuardianObjection) async {
        guard let setup = try? current() else { return }
        for guardian in setup.guardians {
            guard let person = try? await post.person(guardian.key.handle) else { continue }
            try? await post.send(.objection(setup.bundle.scope, objection), to: person)
        }
    }
}
