// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

extension P256.Signing.PrivateKey {
    var publicBytes: [UInt8] { Array(publicKey.compressedRepresentation) }
    func raw(_ message: [UInt8]) throws -> [UInt8] { Array(try signature(for: message).rawRepresentation) }
}

extension Curve25519.Signing.PrivateKey {
    var publicBytes: [UInt8] { Array(publicKey.rawRepresentation) }
}

/// Alice with guardians, and everything that a recovery of her account needs.
struct RecoverableAccount {
    /// When the recovery begins; a thousand seconds later it may end, for five thousand.
    static let started = PaperDirectory.now - 10_000
    static let delay: UInt32 = 1000
    static let ended = started + 2000

    let alice: PaperPerson
    let askKey = Curve25519.Signing.PrivateKey()
    let newIdentity = P256.Signing.PrivateKey()
    let recoveryKey = P256.Signing.PrivateKey()
    let commitment: RecoveryCommitment
    let first: AccountState
    /// With the commitment.
    let committed: AccountState
    /// With a recovery under way.
    let asked: AccountState
    /// Under the new identity.
    let recovered: AccountState

    init() throws {
        alice = try PaperPerson("alice@example.org", seed: 10)
        let recovery = recoveryKey
        commitment = try RecoveryCommitment(
            epoch: 1, delay: Self.delay, recoveryKey: recovery.publicBytes, bundle: [1, 2, 3],
            askKey: askKey.publicBytes)
        first = try alice.state()
        committed = try AccountState(
            signing: first.next(committingTo: commitment.hash, leaving: nil), with: alice.identity.raw)
        let (new, ask) = (newIdentity, askKey)
        asked = try AccountState(
            starting: Self.start(new, commitment, ask), superseding: nil, after: committed, with: new.raw)
        recovered = try Self.recovered(after: asked, Self.start(new, commitment, ask), new, recovery)
    }

    static func start(
        _ identity: P256.Signing.PrivateKey, _ commitment: RecoveryCommitment, _ askKey: Curve25519.Signing.PrivateKey,
        started: UInt64 = started, expires: UInt64? = nil, endorsed: UInt64? = nil
    ) throws -> RecoveryStart {
        let (request, expires) = ([UInt8](repeating: 9, count: 32), expires ?? started + 6000)
        return try RecoveryStart(
            request: request, identityKey: identity.publicBytes, commitment: commitment, started: started,
            expires: expires,
            endorsement: RecoveryEndorsement(
                of: request, identityKey: identity.publicBytes, commitment: commitment, expires: expires,
                at: endorsed ?? started, signing: { Array(try askKey.signature(for: $0)) }))
    }

    func start(started: UInt64 = started, commitment: RecoveryCommitment? = nil) throws -> RecoveryStart {
        try Self.start(newIdentity, commitment ?? self.commitment, askKey, started: started)
    }

    static func body(
        after state: AccountState, _ identity: P256.Signing.PrivateKey, device: DeviceRecord? = nil,
        commitment: [UInt8]? = nil, head: [UInt8]? = nil
    ) throws -> AccountStateBody {
        AccountStateBody(
            handle: state.handle, version: state.version + 1, previous: state.hash,
            identityKey: identity.publicBytes, recoveryCommitment: commitment, pendingRecovery: nil,
            accountHead: head, devices: [try device ?? PaperPerson.device(3, seed: 50)])
    }

    static func recovered(
        after state: AccountState, _ start: RecoveryStart, _ identity: P256.Signing.PrivateKey,
        _ recoveryKey: P256.Signing.PrivateKey, signer: P256.Signing.PrivateKey? = nil,
        accepting: P256.Signing.PrivateKey? = nil, at time: UInt64 = ended, device: DeviceRecord? = nil,
        commitment: [UInt8]? = nil, head: [UInt8]? = nil
    ) throws -> AccountState {
        try AccountState(
            recovering: body(after: state, identity, device: device, commitment: commitment, head: head), by: start,
            recoveryKey: recoveryKey.publicBytes, at: time, authorizing: (signer ?? recoveryKey).raw,
            accepting: (accepting ?? identity).raw)
    }

    /// An ordinary step with any parts.
    func ordinary(
        after state: AccountState, handle: Handle? = nil, version: UInt64? = nil, previous: [UInt8]? = nil,
        identity: P256.Signing.PrivateKey? = nil, pending: [UInt8]? = nil
    ) throws -> AccountState {
        let identity = identity ?? alice.identity
        let body = AccountStateBody(
            handle: handle ?? state.handle, version: version ?? state.version + 1, previous: previous ?? state.hash,
            identityKey: identity.publicBytes, recoveryCommitment: state.recoveryCommitment,
            pendingRecovery: pending, accountHead: state.accountHead, devices: state.devices)
        return try AccountState(signing: body, with: identity.raw)
    }

    /// An objection by the device that alice's first device is.
    func stopped(after state: AccountState, device: UInt16 = 1, seed: UInt8 = 11) throws -> AccountState {
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: seed, count: 32))
        return try AccountState(stopping: RecoveryStop(device: device, time: Self.started + 1), after: state) {
            Array(try key.signature(for: $0))
        }
    }

    /// A note whose base is any state.
    func note(after state: AccountState, about base: AccountState, _ start: RecoveryStart) throws -> [UInt8] {
        var bytes = Array("signet-recovery-note/v2\n".utf8)
        bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: (state.version + 1) >> (8 * UInt64($0))) }
        bytes += state.hash + [1] + start.encoded + [0]
        bytes += [UInt8(base.encoded.count >> 8), UInt8(base.encoded.count & 255)] + base.encoded
        return bytes + AccountSignature.low(try newIdentity.raw(bytes))
    }

    /// Alice as one of her states has her.
    func person(_ state: AccountState, kind: StateKind = .set) -> PaperPerson {
        var person = alice
        person.encodedState = state.encoded
        person.version = state.version
        person.devices = state.devices
        person.kind = kind
        return person
    }

    /// Other guardians, named in version 3 with a date that says when; they ask in version 4 and take over in version 5.
    func replaced(claiming since: UInt64) throws -> [AccountState] {
        let named = try RecoveryCommitment(
            epoch: 2, delay: Self.delay, recoveryKey: recoveryKey.publicBytes, bundle: [4],
            askKey: askKey.publicBytes)
        let changed = try AccountState(
            signing: committed.next(committingTo: named.hash, leaving: FormerRecovery(commitment, since: since)),
            with: alice.identity.raw)
        let start = try start(commitment: named)
        let asked = try AccountState(starting: start, superseding: nil, after: changed, with: newIdentity.raw)
        let taken = try Self.recovered(after: asked, start, newIdentity, recoveryKey)
        return [first, committed, changed, asked, taken]
    }
}

extension RecoverableAccount {
    /// Guardians without a delay are named twice, right behind one another, the second time claiming that the first change was long ago,
    /// and give the account away.
    func replacedTwice() throws -> [AccountState] {
        func named(_ epoch: UInt32) throws -> RecoveryCommitment {
            try RecoveryCommitment(
                epoch: epoch, delay: 0, recoveryKey: recoveryKey.publicBytes, bundle: [UInt8(epoch)],
                askKey: askKey.publicBytes)
        }
        let (one, two) = (try named(2), try named(3))
        let long = Self.started - UInt64(Self.delay)
        let first = try AccountState(
            signing: committed.next(committingTo: one.hash, leaving: FormerRecovery(commitment, since: long)),
            with: alice.identity.raw)
        let second = try AccountState(
            signing: first.next(committingTo: two.hash, leaving: FormerRecovery(one, since: Self.started)),
            with: alice.identity.raw)
        let start = try start(commitment: two)
        let asked = try AccountState(starting: start, superseding: nil, after: second, with: newIdentity.raw)
        let taken = try Self.recovered(after: asked, start, newIdentity, recoveryKey)
        return [self.first, committed, first, second, asked, taken]
    }
}

extension PaperDirectory {
    /// The whole history of somebody in this log, as the directory shows it: the states are theirs, by version.
    ///
    /// - Parameters:
    ///   - hidden: the version that is not shown.
    ///   - withSteps: whether it says in which epochs versions from 3 on were logged.
    ///   - time: when the checkpoint was cosigned, in seconds since 1970.
    ///   - seen: when the quorum saw versions first, in seconds since 1970, if not at the end of their epochs.
    ///   - absent: when it last saw the log without them, in the same way.
    func history(
        of people: [PaperPerson], hiding hidden: UInt64? = nil, withSteps: Bool = true, at time: UInt64 = now,
        seenAt seen: [UInt64: UInt64] = [:], absentAt absent: [UInt64: UInt64] = [:]
    ) throws -> [UInt8] {
        let last = try #require(people.last)
        let label = try label(last.handle).hash
        var (shown, steps) = ([HistoryResponse.Entry](), [LoggedStep]())
        for (place, bytes) in entries.enumerated() {
            switch try LogEntry(decoding: bytes) {
            case .device(let leaf) where leaf.label == label: shown.append(.device(leaf.publicKey))
            case .state(let record) where record.label == LabelIndex(label):
                let person = try #require(people.first { $0.version == record.version })
                shown.append(
                    record.version == hidden
                        ? .withheld(record.kind, version: record.version, record.commitment)
                        : .state(record.kind, opening: person.opening, encoded: person.encodedState))
                guard withSteps, record.version != hidden, record.version > 2 else { continue }
                steps.append(
                    try step(
                        UInt64(shown.count), at: UInt64(place), absentAt: absent[record.version],
                        seenAt: seen[record.version]))
            default: continue
            }
        }
        var answer = try answer(about: last)
        answer.note = try note(at: time).encoded
        return HistoryResponse(lookup: answer.response.encoded, steps: steps, entries: shown.dropLast()).encoded
    }
}
