// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import TransparencyLog

/// Alice's states through a recovery: registered, with guardians, asked, recovered. All keys come from seeds.
struct RecoveryStory {
    /// When the recovery is asked for.
    static let started = PaperDirectory.now - 10_000
    /// What she committed to, in seconds.
    static let delay: UInt32 = 1000
    /// When it ends.
    static let ended = started + 2000

    let alice: PaperPerson
    let commitment: RecoveryCommitment
    private let askKey: Curve25519.Signing.PrivateKey
    private let recorded: [[UInt8]: [UInt8]]

    init(recorded: [[UInt8]: [UInt8]]) throws {
        self.recorded = recorded
        alice = try PaperPerson("alice@example.org", seed: 10, deviceCount: 1, recorded: recorded)
        askKey = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 62, count: 32))
        commitment = try RecoveryCommitment(
            epoch: 1, delay: Self.delay, recoveryKey: Self.publicKey(61), bundle: [1, 2, 3],
            askKey: Array(askKey.publicKey.rawRepresentation))
    }

    private static func key(_ seed: UInt8) throws -> P256.Signing.PrivateKey {
        try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: seed, count: 32))
    }

    private static func publicKey(_ seed: UInt8) throws -> [UInt8] {
        Array(try key(seed).publicKey.compressedRepresentation)
    }

    private func signer(_ key: P256.Signing.PrivateKey) -> ([UInt8]) throws -> [UInt8] {
        { try recorded.signature(of: $0, by: key) }
    }

    /// Guardians who replace the first ones, or in their turn those.
    private func later(_ epoch: UInt32 = 2) throws -> RecoveryCommitment {
        try RecoveryCommitment(
            epoch: epoch, delay: Self.delay, recoveryKey: Self.publicKey(61), bundle: [4, 5, 6],
            askKey: Array(askKey.publicKey.rawRepresentation))
    }

    func start(at time: UInt64 = started) throws -> RecoveryStart { try start(by: commitment, at: time) }

    private func start(by commitment: RecoveryCommitment, at time: UInt64) throws -> RecoveryStart {
        let (request, identityKey, expires) = ([UInt8](repeating: 9, count: 32), try Self.publicKey(60), time + 6000)
        let endorsement = try RecoveryEndorsement(
            of: request, identityKey: identityKey, commitment: commitment, expires: expires, at: time,
            signing: { Array(try askKey.signature(for: $0)) })
        return try RecoveryStart(
            request: request, identityKey: identityKey, commitment: commitment, started: time, expires: expires,
            endorsement: endorsement)
    }

    func committed() throws -> AccountState {
        try AccountState(
            signing: alice.state().next(committingTo: commitment.hash, leaving: nil), with: signer(alice.identity))
    }

    func asked(at time: UInt64 = started) throws -> AccountState {
        try AccountState(
            starting: start(at: time), superseding: nil, after: committed(), with: signer(Self.key(60)))
    }

    /// The takeover, after its request or after any other state.
    func recovered(
        after state: AccountState? = nil, started: UInt64 = started, at time: UInt64 = ended
    ) throws -> AccountState {
        try recovered(after: state ?? asked(at: started), by: start(at: started), at: time)
    }

    private func recovered(
        after state: AccountState, by start: RecoveryStart, at time: UInt64
    ) throws -> AccountState {
        let body = AccountStateBody(
            handle: alice.handle, version: state.version + 1, previous: state.hash,
            identityKey: try Self.publicKey(60), recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil,
            devices: [try PaperPerson.device(3, seed: 50)])
        return try AccountState(
            recovering: body, by: start, recoveryKey: Self.publicKey(61), at: time,
            authorizing: signer(Self.key(61)), accepting: signer(Self.key(60)))
    }

    /// Alice's states when other guardians take the place of the first ones and give her the account: the change says when it was
    /// made, in seconds since 1970.
    func replaced(claiming since: UInt64) throws -> [AccountState] {
        let changed = try changed(to: later(), from: commitment, since: since, after: committed())
        return try [alice.state(), committed(), changed] + recovered(by: later(), after: changed)
    }

    /// The same when those were replaced once more before they asked.
    func replacedTwice(claiming first: UInt64, _ second: UInt64) throws -> [AccountState] {
        let changed = try changed(to: later(), from: commitment, since: first, after: committed())
        let again = try self.changed(to: later(3), from: later(), since: second, after: changed)
        return try [alice.state(), committed(), changed, again] + recovered(by: later(3), after: again)
    }

    private func changed(
        to named: RecoveryCommitment, from former: RecoveryCommitment, since time: UInt64, after state: AccountState
    ) throws -> AccountState {
        try AccountState(
            signing: state.next(committingTo: named.hash, leaving: FormerRecovery(former, since: time)),
            with: signer(alice.identity))
    }

    /// The request under a commitment, and the takeover.
    private func recovered(by commitment: RecoveryCommitment, after state: AccountState) throws -> [AccountState] {
        let start = try start(by: commitment, at: Self.started)
        let asked = try AccountState(starting: start, superseding: nil, after: state, with: signer(Self.key(60)))
        return [asked, try recovered(after: asked, by: start, at: Self.ended)]
    }

    /// The whole story.
    func states() throws -> [AccountState] { [try alice.state(), try committed(), try asked(), try recovered()] }
}

/// A case of a recovery in the making.
struct RecoveryDelayDraft {
    let story: RecoveryStory
    /// What was logged, each in an epoch of its own.
    var states: [AccountState]
    /// When those epochs ended, in seconds since 1970.
    var times: [UInt64]
    /// The version that is logged as a reset.
    var reset: UInt64?
    /// The version that is not shown.
    var hidden: UInt64?
    /// When the contact last saw the person without a recovery under way.
    var lookedAt: UInt64?
    /// When that was by the contact's own clock.
    var lookedBy: UInt64?
    /// A change of what is said of the epochs in which the steps came.
    var editSteps: (inout [LoggedStep], PaperDirectory) throws -> Void = { _, _ in }

    init(_ story: RecoveryStory) throws {
        self.story = story
        states = try story.states()
        times = [
            PaperDirectory.now - 20_000, PaperDirectory.now - 20_000, RecoveryStory.started, RecoveryStory.ended,
        ]
    }

    private func person(_ state: AccountState) -> PaperPerson {
        var person = story.alice
        (person.encodedState, person.version, person.devices) = (state.encoded, state.version, state.devices)
        person.kind = state.version == reset ? .reset : .set
        return person
    }

    /// The directory to which all of it happened.
    private func directory() throws -> PaperDirectory {
        var directory = try PaperDirectory(from: PaperDirectory.now - 20_000)
        for (state, time) in zip(states, times) {
            try directory.log(person(state))
            try directory.endEpoch(at: time * 1000)
        }
        try directory.endEpoch()
        return directory
    }

    /// What it answers.
    private func response(_ directory: PaperDirectory) throws -> HistoryResponse {
        let label = try directory.label(story.alice.handle).hash
        var (entries, steps) = ([HistoryResponse.Entry](), [LoggedStep]())
        for (place, bytes) in directory.entries.enumerated() {
            switch try LogEntry(decoding: bytes) {
            case .device(let leaf) where leaf.label == label: entries.append(.device(leaf.publicKey))
            case .state(let record) where record.label == LabelIndex(label):
                guard let state = states.first(where: { $0.version == record.version }) else { continue }
                entries.append(entry(record, person(state)))
                guard record.version > 2, record.version != hidden else { continue }
                steps.append(try directory.step(UInt64(entries.count), at: UInt64(place)))
            default: continue
            }
        }
        try editSteps(&steps, directory)
        let lookup = try directory.answer(about: person(states[states.count - 1])).response.encoded
        return HistoryResponse(lookup: lookup, steps: steps, entries: entries.dropLast())
    }

    private func entry(_ record: StateRecord, _ person: PaperPerson) -> HistoryResponse.Entry {
        record.version == hidden
            ? .withheld(record.kind, version: record.version, record.commitment)
            : .state(record.kind, opening: person.opening, encoded: person.encodedState)
    }

    func vector(
        _ name: String, _ why: String, _ verdict: RecoveryDelayVector.Verdict
    ) throws -> RecoveryDelayVector {
        let (directory, pinned) = (try directory(), states[1])
        return RecoveryDelayVector(
            kind: RecoveryDelayVector.kind, name: name, why: why, handle: story.alice.handle.description,
            directory: try VectorTrust(directory), now: PaperDirectory.now,
            pinned: .init(
                identityKey: LookupVector.hex(pinned.identityKey), version: pinned.version,
                state: LookupVector.hex(pinned.hash)),
            lookedAt: lookedAt, lookedBy: lookedBy, history: LookupVector.hex(try response(directory).encoded),
            verdict: verdict)
    }
}
