// SPDX-License-Identifier: Apache-2.0

import SignetTesting
import Testing
import TransparencyLog

@testable import LogEngine

/// A log that publishes only checkpoints that its witnesses have cosigned.
@Suite struct WitnessedLogTests {
    let fixture = LogFixture()
    let witness: PaperWitness
    let disk = SimulatedDisk()

    init() async throws {
        witness = try PaperWitness()
        try await DurableLog.create(in: disk, try fixture.configuration())
    }

    private func open(on storage: (any LogFileSystem)? = nil) async throws -> DurableLog {
        var configuration = try fixture.configuration()
        configuration.witnessing = witness
        return try await DurableLog.open(in: storage ?? disk, configuration)
    }

    private func isCosigned(_ checkpoint: PublishedCheckpoint) -> Bool {
        checkpoint.note.signatures.contains { $0.keyID == witness.signer.verifierKey.keyID }
    }

    @Test func aPublishedCheckpointIsCosigned() async throws {
        let log = try await open()
        let range = try await log.append(LogFixture.entries(0..<3))
        let published = try await log.awaitPublished(size: range.upperBound)
        #expect(published.head.size == 3)
        #expect(isCosigned(published))
        #expect(witness.head == published.head)
        await log.close()
    }

    @Test func noCheckpointIsPublishedBeforeTheWitnessAnswers() async throws {
        let log = try await open()
        _ = try await log.append(LogFixture.entries(0..<1))
        _ = try await log.awaitPublished(size: 1)
        witness.hold()
        _ = try await log.append(LogFixture.entries(1..<2))
        await witness.awaitArrival()
        #expect(log.published.head.size == 1)
        #expect(log.statistics.durableSize == 2)
        // Entries that are appended meanwhile are durable too, and published with the next round.
        _ = try await log.append(LogFixture.entries(2..<5))
        #expect(log.published.head.size == 1)
        witness.release()
        #expect(try await log.awaitPublished(size: 5).head.size == 5)
        #expect(fixture.published.map(\.head.size).suffix(2) == [2, 5])
        await log.close()
    }

    @Test func awaitPublished_throwsBelowTheQuorum_andTheEntriesArePublishedLater() async throws {
        let log = try await open()
        _ = try await log.awaitPublished(size: 0)
        witness.goAway()
        let range = try await log.append(LogFixture.entries(0..<2))
        await #expect(throws: LogWaitError.belowQuorum(missing: [witness.signer.verifierKey.name])) {
            try await log.awaitPublished(size: range.upperBound)
        }
        #expect(log.published.head.size == 0)
        witness.goAway(false)
        let published = try await log.republish()
        #expect(published.head.size == 2)
        #expect(isCosigned(published))
        await log.close()
    }

    @Test func aFailedRoundFailsTheWaitsForItsSizeOnly() async throws {
        let log = try await open()
        let first = try await log.awaitPublished(size: 0)
        _ = try await log.append(LogFixture.entries(0..<2))
        let second = try await log.awaitPublished(size: 2)
        await log.close()

        let publications = Publications(first)
        let (registered, mark) = AsyncStream<Void>.makeStream()
        _ = publications.beginRound()
        async let served = publications.outcome(of: .size(1)) { mark.yield() }
        async let larger = publications.outcome(of: .size(2)) { mark.yield() }
        async let later = publications.outcome(of: .freshSignature) { mark.yield() }
        var registrations = registered.makeAsyncIterator()
        for _ in 0..<3 { await registrations.next() }

        publications.failRound(ofSize: 1, .belowQuorum(missing: []))
        _ = publications.beginRound()
        publications.complete(second)
        #expect(await served == .failure(.belowQuorum(missing: [])))
        #expect(await larger == .success(second))
        #expect(await later == .success(second))
    }

    @Test func open_belowTheQuorumKeepsTheLastPublishedCheckpoint() async throws {
        let log = try await open()
        _ = try await log.append(LogFixture.entries(0..<2))
        let before = try await log.awaitPublished(size: 2)
        witness.goAway()
        _ = try await log.append(LogFixture.entries(2..<4))
        await log.close()
        let again = try await open()
        #expect(again.published == before)
        #expect(again.statistics.durableSize == 4)
        witness.goAway(false)
        #expect(try await again.republish().head.size == 4)
        await again.close()
    }

    @Test func open_withoutWitnessesRemovesTheFileOfThePublishedCheckpoint() async throws {
        let log = try await open()
        _ = try await log.append(LogFixture.entries(0..<2))
        _ = try await log.awaitPublished(size: 2)
        await log.close()
        #expect(disk.paths.contains("checkpoint.published"))
        let bare = try await DurableLog.open(in: disk, try fixture.configuration())
        _ = try await bare.append(LogFixture.entries(2..<3))
        _ = try await bare.awaitPublished(size: 3)
        await bare.close()
        #expect(!disk.paths.contains("checkpoint.published"))
        // If the file remained, the log would publish two entries again.
        let again = try await open()
        #expect(again.published.head.size == 3)
        await again.close()
    }

    /// Everything else is whole, and no backup is newer.
    @Test func open_withADamagedPublishedCheckpointShowsWhatWasSignedLast() async throws {
        let log = try await open()
        _ = try await log.append(LogFixture.entries(0..<2))
        _ = try await log.awaitPublished(size: 2)
        await log.close()
        for bytes in [Array("no note".utf8), [], Array(disk["checkpoint.published"]?.dropFirst() ?? [])] {
            _ = try disk.createDurably("checkpoint.published", in: "", bytes)
            witness.goAway()
            let again = try await open()
            #expect(again.published.head.size == 2)
            witness.goAway(false)
            #expect(isCosigned(try await again.republish()))
            await again.close()
        }
    }

    @Test func open_refusesAPublishedCheckpointThatTheTreeDoesNotExtend() async throws {
        let log = try await open()
        _ = try await log.append(LogFixture.entries(0..<2))
        _ = try await log.awaitPublished(size: 2)
        await log.close()
        let other = SimulatedDisk()
        let longer = try await fixture.newLog(on: other)
        _ = try await longer.append(LogFixture.entries(5..<9))
        await longer.close()
        disk["checkpoint.published"] = try LockRecordFile(in: other).current.note
        let refusal = try await LogOpenError.met { _ = try await open() }
        #expect(refusal == .publishedCheckpointContradicts)
    }

    /// The process is killed at each call to its disk; the witness remembers each head and must never be shown a fork.
    @Test(arguments: [Fault.Effect.nothing, .everything, .half])
    func aKillAtAnyCallLosesNoAcknowledgedEntryAndDoesNotFork(effect: Fault.Effect) async throws {
        var ordinal = 0
        while try await survives(ordinal, effect) { ordinal += 1 }
        #expect(ordinal > 20)
    }

    private func survives(_ ordinal: Int, _ effect: Fault.Effect) async throws -> Bool {
        let suite = try await WitnessedLogTests()
        var fault = Fault(Set(LogFileKind.allCases), ordinal: ordinal, effect: effect)
        fault.isFinal = true
        let storage = FaultyFileSystem(suite.disk, fault: fault)
        var acknowledged: UInt64 = 0
        if let log = try? await suite.open(on: storage) {
            for step in 0..<3 {
                guard let range = try? await log.append(LogFixture.entries(2 * step..<2 * step + 2)) else { break }
                acknowledged = range.upperBound
                guard (try? await log.awaitPublished(size: acknowledged)) != nil else { break }
            }
            await log.close()
        }
        let shown = suite.fixture.published.last?.head ?? .empty
        let disk = suite.disk.crashed(.some(seed: UInt64(ordinal)))
        let again = try await suite.open(on: disk)
        #expect(again.published.head.size >= shown.size, "rolled back after call \(ordinal)")
        let published = try await again.republish()
        #expect(published.head.size >= acknowledged, "lost after call \(ordinal)")
        #expect(try again.root(size: shown.size) == shown.root)
        #expect(suite.witness.refusals.isEmpty, "forked after call \(ordinal)")
        await again.close()
        return storage.hasFailed
    }
}

extension Publications {
    fileprivate func outcome(of wish: Wish, onWaiting: @Sendable () -> Void) async -> Outcome {
        do throws(LogWaitError) { return .success(try await wait(for: wish, onWaiting: onWaiting)) } catch {
            return .failure(error)
        }
    }
}
