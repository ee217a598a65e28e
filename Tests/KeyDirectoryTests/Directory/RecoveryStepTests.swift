// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import LogEngine
import SQLStores
import SignetAPI
import SignetTesting
import Testing
import TransparencyLog

@testable import KeyDirectory

/// The steps of a recovery that the directory accepts from a device that the account does not have, on what the state
/// proves.
@Suite(.everyEngine) struct RecoveryStepTests {
    let place: Place
    let directory: Directory
    var alice: Person
    let recoveryKey = P256.Signing.PrivateKey()
    let askKey = Curve25519.Signing.PrivateKey()
    let newIdentity = P256.Signing.PrivateKey()
    let device: Device
    let commitment: RecoveryCommitment
    static let delay: UInt32 = 1000

    init() async throws {
        place = try Place()
        directory = try await place.create()
        alice = try Person("alice@example.org", deviceCount: 2)
        try await alice.register(at: directory)
        device = try Device(3)
        commitment = try RecoveryCommitment(
            epoch: 1, delay: Self.delay, recoveryKey: Self.bytes(recoveryKey), bundle: [1],
            askKey: Array(askKey.publicKey.rawRepresentation))
        let identity = alice.identity
        let state = try AccountState(
            signing: try #require(alice.state).next(committingTo: commitment.hash, leaving: nil)
        ) {
            Array(try identity.signature(for: $0).rawRepresentation)
        }
        let submission = try StateSubmission(state: state, opening: Person.opening(), cards: [])
        _ = try await alice.send(submission, to: directory)
        alice.state = state
    }

    private static func bytes(_ key: P256.Signing.PrivateKey) -> [UInt8] {
        Array(key.publicKey.compressedRepresentation)
    }

    private static func sign(_ key: P256.Signing.PrivateKey) -> ([UInt8]) throws -> [UInt8] {
        { Array(try key.signature(for: $0).rawRepresentation) }
    }

    private func start(at time: UInt64? = nil) throws -> RecoveryStart {
        let time = time ?? place.clock.now
        let (request, identity) = ([UInt8](repeating: 1, count: 32), Self.bytes(newIdentity))
        let askKey = askKey
        return try RecoveryStart(
            request: request, identityKey: identity, commitment: commitment, started: time, expires: time + 50_000,
            endorsement: RecoveryEndorsement(
                of: request, identityKey: identity, commitment: commitment, expires: time + 50_000, at: time,
                signing: { Array(try askKey.signature(for: $0)) }))
    }

    private func asked(_ start: RecoveryStart, after state: AccountState) throws -> AccountState {
        try AccountState(starting: start, superseding: nil, after: state, with: Self.sign(newIdentity))
    }

    /// Brings a state as a new device does.
    private func bring(
        _ state: AccountState, cards: [DeviceCard] = [], to other: Directory? = nil
    ) async throws {
        let directory = other ?? directory
        let submission = try StateSubmission(state: state, opening: Person.opening(), cards: cards)
        let (signature, content) = try device.sign(
            .register, submission.encoded, at: directory, time: place.clock.now)
        _ = try await directory.register(submission, signature, content)
    }

    /// Closes what is open and opens it again with a witness that can be sent away.
    private func opened(with witness: PaperWitness, closing open: Directory) async throws -> Directory {
        await open.close()
        return try await place.open(witnessing: witness)
    }

    private func recovered(after state: AccountState, _ start: RecoveryStart, at time: UInt64) throws -> AccountState {
        let body = AccountStateBody(
            handle: alice.handle, version: state.version + 1, previous: state.hash,
            identityKey: Self.bytes(newIdentity), recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil,
            devices: [device.record])
        return try AccountState(
            recovering: body, by: start, recoveryKey: Self.bytes(recoveryKey), at: time,
            authorizing: Self.sign(recoveryKey), accepting: Self.sign(newIdentity))
    }

    private func stop(
        _ state: AccountState, by device: Device, at time: UInt64? = nil, to other: Directory? = nil
    ) async throws -> AccountState {
        let directory = other ?? directory
        let stop = RecoveryStop(device: device.record.number, time: time ?? place.clock.now)
        let stopped = try AccountState(stopping: stop, after: state) {
            Array(try device.signing.signature(for: $0))
        }
        let submission = try StateSubmission(state: stopped, opening: Person.opening(), cards: [])
        let caller = try await device.caller(
            .updateState, submission.encoded, at: directory, time: place.clock.now)
        _ = try await directory.update(submission, by: caller)
        return stopped
    }

    @Test func aRecoveryRevokesEveryFormerDevice() async throws {
        let start = try start()
        let asked = try asked(start, after: try #require(alice.state))
        try await bring(asked)
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state == asked)
        place.clock.advance(UInt64(Self.delay))
        try await directory.republish()
        let after = try recovered(after: asked, start, at: place.clock.now)
        let cards = [try await device.card(for: alice.handle, at: directory)]
        try await bring(after, cards: cards)
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state == after)
        for old in alice.devices {
            #expect(
                try await refusal { try await old.caller(.addFriend, at: directory, time: place.clock.now) }
                    == .notYourAccount)
        }
        _ = try await device.caller(.addFriend, at: directory, time: place.clock.now)
        // The second copy of a submission gets its receipt.
        try await directory.republish()
    }

    /// When the quorum saw the log without each step of alice's recovery, and with it, as the directory answers now.
    private func seen(at directory: Directory) async throws -> [[UInt64?]] {
        let request = HistoryRequest(LookupRequest(handle: alice.handle, knownSize: 0))
        let history = try await HistoryVerifier(trust: place.verifier().trust).verify(
            directory.history(request).encoded, for: alice.handle, knowing: nil, since: MerkleFrontier(),
            at: place.clock.now)
        return history.loggedIn.sorted { $0.key < $1.key }.map { [$0.value.absentAt, $0.value.seenAt] }
    }

    @Test func theTimesAtWhichTheQuorumSawAStepAreKept() async throws {
        let start = try start()
        let asked = try asked(start, after: try #require(alice.state))
        // The last checkpoint was cosigned long before.
        place.clock.advance(200)
        let began = place.clock.now
        try await bring(asked)
        place.clock.advance(UInt64(Self.delay))
        try await directory.republish()
        #expect(try await seen(at: directory) == [[began, began]])
        let cards = [try await device.card(for: alice.handle, at: directory)]
        try await bring(recovered(after: asked, start, at: place.clock.now), cards: cards)
        let ended = place.clock.now
        place.clock.advance(3000)
        await directory.close()
        let again = try await place.open()
        #expect(try await seen(at: again) == [[began, began], [ended, ended]])
        await again.close()
    }

    /// A thief with a device can fill an account's history with requests and objections; an answer stays short.
    @Test func anAnswerDatesABoundedNumberOfSteps() throws {
        let asked = try asked(start(), after: try #require(alice.state)).encoded
        let ordinary = try #require(alice.state).encoded
        let states = [asked, ordinary] + [[UInt8]](repeating: asked, count: HistoryResponse.maximumStepCount - 1)
        #expect(Array(Directory.dated(states)) == [0] + Array(2..<states.count))
        #expect(Array(Directory.dated(states + [asked])) == Array(2...states.count))
    }

    /// A time that was not kept is kept at the next checkpoint, and is not dated back.
    @Test func aMissingTimeOfAStepIsKeptAtTheNextCheckpoint() async throws {
        try await bring(asked(start(), after: try #require(alice.state)))
        try await directory.database.write { _ = try $0.run("DELETE FROM seen") }
        place.clock.advance(500)
        try await directory.republish()
        let late = place.clock.now
        #expect(try await seen(at: directory) == [[nil, late]])
        place.clock.advance(500)
        try await directory.republish()
        #expect(try await seen(at: directory) == [[nil, late]])
    }

    /// There is no attack here: the witnesses were away when the request came, so that contacts would have taken the
    /// takeover for one before its delay.
    @Test func aTakeoverWaitsUntilTheWitnessesHaveSeenTheRequestForLongEnough() async throws {
        let witness = try PaperWitness()
        let directory = try await opened(with: witness, closing: directory)
        let start = try start()
        let asked = try asked(start, after: try #require(alice.state))
        witness.goAway()
        #expect(try await refusal { try await bring(asked, to: directory) } == .unwitnessed)
        place.clock.advance(UInt64(Self.delay))
        witness.goAway(false)
        try await directory.republish()
        let cards = [try await device.card(for: alice.handle, at: directory)]
        for seconds in [UInt64(0), UInt64(Self.delay) - RecoveryDelay.tolerance / 2 - 1] {
            place.clock.advance(seconds)
            let early = try recovered(after: asked, start, at: place.clock.now)
            #expect(try await refusal { try await bring(early, cards: cards, to: directory) } == .notYet)
        }
        place.clock.advance(1)
        try await bring(recovered(after: asked, start, at: place.clock.now), cards: cards, to: directory)
        let times = try await seen(at: directory)
        #expect(RecoveryDelay.hasPassed(Self.delay, since: times.first?.last ?? nil, to: times.last?.first ?? nil))
        await directory.close()
    }

    @Test func aTakeoverWaitsForWitnessesAndAnObjectionDoesNot() async throws {
        let witness = try PaperWitness()
        let directory = try await opened(with: witness, closing: directory)
        let start = try start()
        let asked = try asked(start, after: try #require(alice.state))
        try await bring(asked, to: directory)
        place.clock.advance(UInt64(Self.delay))
        try await directory.republish()
        let cards = [try await device.card(for: alice.handle, at: directory)]
        witness.goAway()
        let takeover = try recovered(after: asked, start, at: place.clock.now)
        #expect(try await refusal { try await bring(takeover, cards: cards, to: directory) } == .notYet)
        let refused = try await refusal { _ = try await stop(asked, by: alice.devices[1], to: directory) }
        #expect(refused == .unwitnessed, "it is kept")
        witness.goAway(false)
        try await directory.republish()
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state.isStop)
        await directory.close()
    }

    /// A request that came while the witnesses were away is dated by the first checkpoint that they cosign.
    @Test(arguments: [false, true]) func aRequestIsDatedByTheNextCheckpoint(isReopened: Bool) async throws {
        let witness = try PaperWitness()
        var directory = try await opened(with: witness, closing: directory)
        let (asked, began) = (try asked(start(), after: try #require(alice.state)), place.clock.now)
        witness.goAway()
        #expect(try await refusal { try await bring(asked, to: directory) } == .unwitnessed)
        if isReopened { directory = try await opened(with: witness, closing: directory) }
        place.clock.advance(50)
        witness.goAway(false)
        try await directory.republish()
        place.clock.advance(500)
        try await directory.republish()
        #expect(try await seen(at: directory) == [[began, began + 50]])
        await directory.close()
    }

    @Test func aDeviceWithoutTheIdentityKeyCanObject() async throws {
        let asked = try asked(start(), after: try #require(alice.state))
        try await bring(asked)
        let stopped = try await stop(asked, by: alice.devices[1])
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state == stopped)
    }

    @Test func start_refusesForADayAfterAnObjection() async throws {
        let first = try asked(start(), after: try #require(alice.state))
        try await bring(first)
        let stopped = try await stop(first, by: alice.devices[0])
        place.clock.advance(RecoveryStop.freeze)
        #expect(try await refusal { try await bring(asked(start(), after: stopped)) } == .versionConflict)
        place.clock.advance(1)
        try await bring(asked(start(), after: stopped))
    }

    @Test func start_refusesATimeThatDiffersByMoreThanFiveMinutes() async throws {
        let (state, now) = (try #require(alice.state), place.clock.now)
        for (time, code) in [(now - 301, ErrorCode.stepTooOld), (now + 301, .wrongTime)] {
            #expect(try await refusal { try await bring(asked(start(at: time), after: state)) } == code)
        }
        try await bring(asked(start(at: now - 300), after: state))
    }

    @Test func update_refusesANewCommitmentOfTheOlderForm() async throws {
        var other = try Person("bob@example.org")
        try await other.register(at: directory)
        let first = try #require(other.state)
        let older = try AccountState(
            signing: AccountStateBody(
                handle: first.handle, version: 2, previous: first.hash, identityKey: first.identityKey,
                recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil, devices: first.devices,
                olderCommitment: [UInt8](repeating: 1, count: 32)), with: Self.sign(other.identity))
        let submission = try StateSubmission(state: older, opening: Person.opening(), cards: [])
        let caller = try await other.devices[0].caller(
            .updateState, submission.encoded, at: directory, time: place.clock.now)
        #expect(try await refusal { _ = try await directory.update(submission, by: caller) } == .badRequest)
    }

    /// A device that changes the guardians cannot date the change back, so that the former guardians could not help any
    /// more.
    @Test(arguments: [(-301, ErrorCode.stepTooOld), (-300, nil), (300, nil), (301, .wrongTime)])
    func update_refusesAChangeOfGuardiansThatIsNotDatedNow(offset: Int, code: ErrorCode?) async throws {
        let since = UInt64(Int(place.clock.now) + offset)
        let body = try #require(alice.state).next(
            committingTo: [UInt8](repeating: 3, count: 32), leaving: FormerRecovery(commitment, since: since))
        let state = try AccountState(signing: body, with: Self.sign(alice.identity))
        let submission = try StateSubmission(state: state, opening: Person.opening(), cards: [])
        let caller = try await alice.devices[0].caller(
            .updateState, submission.encoded, at: directory, time: place.clock.now)
        #expect(try await refusal { _ = try await directory.update(submission, by: caller) } == code)
    }

    @Test func takeover_refusesATimeToComeOrMoreThanFiveMinutesAgo() async throws {
        let start = try start()
        let asked = try asked(start, after: try #require(alice.state))
        try await bring(asked)
        let cards = [try await device.card(for: alice.handle, at: directory)]
        #expect(
            try await refusal {
                try await bring(recovered(after: asked, start, at: start.notBefore), cards: cards)
            } == .wrongTime)
        place.clock.advance(UInt64(Self.delay) + 301)
        #expect(
            try await refusal {
                try await bring(recovered(after: asked, start, at: start.notBefore), cards: cards)
            } == .stepTooOld)
    }

    @Test func objection_refusesATimeMoreThanFiveMinutesAgo() async throws {
        let asked = try asked(start(), after: try #require(alice.state))
        try await bring(asked)
        #expect(
            try await refusal { _ = try await stop(asked, by: alice.devices[0], at: place.clock.now - 301) }
                == .stepTooOld)
    }

    @Test func takeover_refusesADeviceWithoutACard() async throws {
        let start = try start()
        let asked = try asked(start, after: try #require(alice.state))
        try await bring(asked)
        place.clock.advance(UInt64(Self.delay))
        #expect(
            try await refusal { try await bring(recovered(after: asked, start, at: place.clock.now)) }
                == .possessionNotProven)
    }

    @Test func register_refusesAnOrdinaryStepOfAnUnknownDeviceAndASecondRequest() async throws {
        let state = try #require(alice.state)
        let identity = alice.identity
        let body = try state.next(devices: state.devices)
        let ordinary = try AccountState(signing: body, with: Self.sign(identity))
        #expect(try await refusal { try await bring(ordinary) } == .notYourAccount)
        let asked = try asked(start(), after: state)
        try await bring(asked)
        place.clock.advance(1)
        #expect(try await refusal { try await bring(self.asked(start(), after: asked)) } == .versionConflict)
    }

    /// The attack: a new device's requests for a recovery, one after another, fill what the server remembers of signed
    /// requests.
    @Test func aRepeatedRequestChangesNothing_andTakesNoNonce() async throws {
        let asked = try asked(start(), after: try #require(alice.state))
        let submission = try StateSubmission(state: asked, opening: Person.opening(), cards: [])
        let before = directory.nonces.count
        var receipts: Set<UInt64> = []
        for _ in 0..<5 {
            let (signature, content) = try device.sign(
                .register, submission.encoded, at: directory, time: place.clock.now)
            for _ in 0..<2 { receipts.insert(try await directory.register(submission, signature, content).index) }
        }
        let size = directory.log.published.head.size
        #expect(receipts == [size - 2], "the step, and the epoch behind it")
        #expect(directory.nonces.count == before)
    }

    /// The same directory, where an account has little room for states.
    private func small(_ room: StateRoom) -> Directory {
        Directory(
            log: directory.log, epochs: directory.epochs, snapshots: directory.snapshots,
            origin: place.keys.log.verifierKey.name, vrf: place.keys.vrf,
            database: directory.database, paths: directory.paths, clock: place.time, logger: Place.silent, room: room)
    }

    /// Brings a state in which nothing is new.
    private func repeatState(after state: AccountState, to directory: Directory) async throws -> AccountState {
        let next = try AccountState(signing: state.next(devices: state.devices), with: Self.sign(alice.identity))
        let submission = try StateSubmission(state: next, opening: Person.opening(), cards: [])
        let caller = try await alice.devices[0].caller(
            .updateState, submission.encoded, at: directory, time: place.clock.now)
        _ = try await directory.update(submission, by: caller)
        return next
    }

    /// The attack: a thief with a device of the account sends a day's states, so that no recovery begins, is stopped or
    /// ends.
    @Test(arguments: [false, true]) func recoveryStepsHaveRoomAfterADaysChanges(isStopped: Bool) async throws {
        let small = small(StateRoom(changes: 3, requests: 8))
        let full = try await repeatState(after: try #require(alice.state), to: small)
        #expect(full.version == 3)
        #expect(try await refusal { _ = try await repeatState(after: full, to: small) } == .tooManyRequests)
        let start = try start()
        let asked = try asked(start, after: full)
        try await bring(asked, to: small)
        if isStopped {
            _ = try await stop(asked, by: alice.devices[0], to: small)
        } else {
            place.clock.advance(UInt64(Self.delay))
            try await small.republish()
            let after = try recovered(after: asked, start, at: place.clock.now)
            try await bring(after, cards: [try await device.card(for: alice.handle, at: small)], to: small)
        }
    }

    /// The attack: a person with the ask key, and with a delay of a second, begins another recovery each second.
    @Test func start_refusesMoreRequestsThanADayHasRoomFor() async throws {
        let small = small(StateRoom(changes: 3, requests: 4))
        let full = try await repeatState(after: try #require(alice.state), to: small)
        let first = try start()
        let asked = try asked(first, after: full)
        try await bring(asked, to: small)
        place.clock.advance(first.expires - place.clock.now)
        try await small.republish()
        func next() throws -> AccountState {
            try AccountState(starting: start(), superseding: first, after: asked, with: Self.sign(newIdentity))
        }
        #expect(try await refusal { try await bring(next(), to: small) } == .tooManyRequests)
        place.clock.advance(StandingClock.start + StateRoom.window - place.clock.now)
        try await small.republish()
        try await bring(next(), to: small)
    }

    /// The attack: an attacker dates `started` five minutes ahead, as clocks may differ, and repeats the request before
    /// an honest device can make one.
    @Test func start_refusesASecondRequestUntilTheFirstExpiredByTheServersClock() async throws {
        let first = try start()
        let asked = try asked(first, after: try #require(alice.state))
        try await bring(asked)
        place.clock.advance(first.expires - place.clock.now - 1)
        try await directory.republish()
        let next = try AccountState(
            starting: start(at: first.expires), superseding: first, after: asked, with: Self.sign(newIdentity))
        #expect(try await refusal { try await bring(next) } == .versionConflict)
        place.clock.advance(1)
        try await bring(next)
    }

    @Test func start_doesNotFindAnUnknownHandle() async throws {
        let nobody = try Person("nobody@example.org")
        let state = try AccountState(
            signing: AccountStateBody(
                first: nobody.handle, identityKey: Self.bytes(nobody.identity), devices: [nobody.devices[0].record]),
            with: Self.sign(nobody.identity))
        #expect(try await refusal { try await bring(asked(start(), after: state)) } == .notFound)
    }
}
