// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
import SignetAPI
import SignetTesting
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

/// What requests are answered, and what is published later, while too few witnesses cosign.
@Suite(.everyEngine) struct UnwitnessedTests {
    let place: Place
    let witness: PaperWitness

    init() throws {
        place = try Place()
        witness = try PaperWitness()
    }

    private func open() async throws -> Directory {
        try await place.open(witnessing: witness)
    }

    @Test func aRegistrationIsStoredOnceAndPublishedWhenTheWitnessIsBack() async throws {
        await (try place.create()).close()
        let directory = try await open()
        witness.goAway()
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        for _ in 0..<3 {
            #expect(try await refusal { try await alice.send(submission, to: directory) } == .unwitnessed)
        }
        witness.goAway(false)
        let receipt = try await alice.send(submission, to: directory)
        #expect(receipt == StateReceipt(index: 2, size: 4))
        #expect(directory.log.statistics.durableSize == 4, "logged once")
        await directory.close()
    }

    /// The attack: what a start with a clock two days ahead signs has that time, though no witness is there. The next start takes it for the time
    /// of the log, and dates an epoch by it.
    @Test func whatIsSignedHasTheTimeOfTheClockThatDatesEpochs() async throws {
        await (try place.create()).close()
        let dating = StandingClock()
        dating.advance(7)
        place.clock.advance(2 * 86_400)
        witness.goAway()
        let directory = try await place.open(epochClock: { dating.now }, witnessing: witness)
        await #expect(throws: LogWaitError.self) { try await directory.republish() }
        await directory.close()
        let note = try LogCopy(in: place.logFiles).signedHead().note
        let own = try #require(place.keys.cosigners.first?.verifierKey)
        let line = try #require(note.signatures.first { $0.isClaimed(by: own) })
        #expect(try own.verifyCosignature(line, of: note.text) == dating.now)
    }

    @Test func open_belowTheQuorumAnswersFromTheLastWitnessedCheckpoint() async throws {
        await (try place.create()).close()
        let directory = try await open()
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let view = try await place.verifiedLookup(alice.handle, at: directory).view
        witness.goAway()
        var bob = try Person("bob@example.org")
        #expect(try await refusal { try await bob.register(at: directory) } == .unwitnessed)
        await directory.close()

        let again = try await open()
        _ = try await place.verifiedLookup(alice.handle, at: again, knowing: view)
        guard case .absent = try await place.verifiedAnswer(about: bob.handle, at: again, knowing: view) else {
            Issue.record("shown before it was witnessed")
            return
        }
        witness.goAway(false)
        _ = try await again.log.republish()
        #expect(try await place.verifiedLookup(bob.handle, at: again, knowing: view).state.version == 1)
        await again.close()
    }

    @Test func aChangeOfKeysIsLoggedOnce() async throws {
        await (try place.create()).close()
        let directory = try await open()
        let record = SuccessionRecord(
            kind: .keys, number: 1, vrfKey: place.keys.vrf.publicKey, policy: try place.verifier().trust.policy)
        witness.goAway()
        for _ in 0..<2 {
            #expect(try await refusal { try await directory.succeed(record) } == .unwitnessed)
        }
        witness.goAway(false)
        let other = SuccessionRecord(kind: .log, number: 1, vrfKey: record.vrfKey, policy: record.policy)
        #expect(try await refusal { try await directory.succeed(other) } == .versionConflict, "no witness is missing")
        let link = try await directory.succeed(record)
        #expect(try await directory.succeed(record) == link)
        #expect(try directory.succession()?.links == [link])
        #expect(directory.log.statistics.durableSize == 3)
        let skipped = SuccessionRecord(
            kind: .keys, number: 3, vrfKey: record.vrfKey, policy: record.policy)
        #expect(try await refusal { try await directory.succeed(skipped) } == .versionConflict)
        await directory.close()
    }
}
