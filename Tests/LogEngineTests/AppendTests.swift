// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LogEngine
import SignetTesting
import Synchronization
import Testing
import TransparencyLog

@Suite struct AppendTests {
    @Test func anAppendReturnsTheIndexesOfItsEntries() async throws {
        let log = try await LogFixture().newLog(on: SimulatedDisk())
        #expect(try await log.append(LogFixture.entries(0..<3)) == 0..<3)
        #expect(try await log.append(LogFixture.entries(3..<4)) == 3..<4)
        _ = try await log.awaitPublished(size: 4)
        for index in 0..<4 {
            #expect(try await log.entry(at: UInt64(index)) == LogFixture.entries(index..<index + 1)[0])
        }
        await log.close()
    }

    @Test func anIdleAppendSynchronizesOnceToAcknowledgeAndOnceToPublish() async throws {
        let fixture = LogFixture()
        let storage = FaultyFileSystem(SimulatedDisk())
        let log = try await fixture.newLog(on: storage)
        let first = try await log.append(LogFixture.entries(0..<1))
        _ = try await log.awaitPublished(size: first.upperBound)
        let before = storage.calls.count
        let second = try await log.append(LogFixture.entries(1..<2))
        _ = try await log.awaitPublished(size: second.upperBound)
        let synchronizing: Set<LogFileOperation> = [.synchronizeData, .synchronize, .synchronizeDirectory]
        let calls = storage.calls.dropFirst(before).filter { synchronizing.contains($0.operation) }
        #expect(
            calls == [
                LogFileCall(.synchronizeData, of: .segment),
                LogFileCall(.synchronizeData, of: .lockRecord),
            ])
        await log.close()
    }

    /// With an interval that never passes, so that the test does not depend on how fast the machine is.
    @Test func withinTheIntervalOnlyAFullBatchOrAClosingLogWritesAFrame() async throws {
        var configuration = try LogFixture().configuration()
        configuration.frameInterval = .seconds(1_000_000)
        configuration.limits.batchEntries = 4
        let disk = SimulatedDisk()
        try await DurableLog.create(in: disk, configuration)
        let log = try await DurableLog.open(in: disk, configuration)
        #expect(try await log.append(LogFixture.entries(0..<1)) == 0..<1, "an idle log commits at once")
        async let waiting = log.append(LogFixture.entries(1..<2))
        while log.statistics.queuedEntries < 1 { await Task.yield() }
        #expect(log.statistics.commits == 1)
        #expect(try await log.append(LogFixture.entries(2..<5)) == 2..<5, "one waits, and three make a full batch")
        #expect(try await waiting == 1..<2)
        #expect(log.statistics.commits == 2)
        async let last = log.append(LogFixture.entries(5..<6))
        while log.statistics.queuedEntries < 1 { await Task.yield() }
        await log.close()
        #expect(try await last == 5..<6)
        #expect(log.statistics.commits == 3)
    }

    @Test func thePublishedNoteSatisfiesAPolicyOfTheLogAndItsCosigner() async throws {
        let log = try await LogFixture().newLog(on: SimulatedDisk())
        _ = try await log.append(LogFixture.entries(0..<5))
        let published = try await log.awaitPublished(size: 5)
        let logKey = String(decoding: try LogFixture.signer().verifierKey.encoded, as: UTF8.self)
        let witnessKey = try LogFixture.signer(LogFixture.witness, .cosignatureV1, seed: 9).verifierKey.encoded
        let text = "log \(logKey)\nwitness w \(String(decoding: witnessKey, as: UTF8.self))\nquorum w\n"
        let verified = try Policy(decoding: Array(text.utf8)).verify(try SignedNote(decoding: published.bytes))
        #expect(verified.checkpoint.head == published.head)
        #expect(verified.quorumTime == 1_700_000_000)
        await log.close()
    }

    @Test func appendsDuringOneWriteAreWrittenAsOneFrame() async throws {
        let gate = Gate()
        let storage = FaultyFileSystem(SimulatedDisk()) { call in
            if call.operation == .synchronizeData && call.file == .segment { gate.pass() }
        }
        let log = try await LogFixture().newLog(on: storage)
        gate.close()
        let ranges = try await withThrowingTaskGroup(of: Range<UInt64>.self) { group in
            group.addTask { try await log.append(LogFixture.entries(0..<1)) }
            while !gate.isHolding { await Task.yield() }
            for number in 1...100 {
                group.addTask { try await log.append(LogFixture.entries(2 * number..<2 * number + 2)) }
            }
            while log.statistics.queuedEntries < 200 { await Task.yield() }
            #expect(try log.root(size: 0) == .emptyTree, "readers do not wait for the disk")
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(log.statistics.commits == 2)
        #expect(ranges.map(\.lowerBound).sorted() == [0] + (0..<100).map { 1 + 2 * $0 })
        await log.close()
    }

    @Test func aFrameIsNotSignedBeforeItIsDurable() async throws {
        let (gate, disk, fixture) = (Gate(), SimulatedDisk(), LogFixture())
        let storage = FaultyFileSystem(disk) { call in
            if call.operation == .synchronizeData && call.file == .segment { gate.pass() }
        }
        let log = try await fixture.newLog(on: storage)
        gate.close()
        async let appended = log.append(LogFixture.entries(0..<1))
        while !gate.isHolding { await Task.yield() }
        // The frame is written and visible, and everything that the publisher knows of is signed.
        #expect(try await log.republish().head.size == 0)
        let reopened = try await LogFixture().log(on: disk.crashed(.nothing))
        #expect(reopened.published.head.size == 0, "what was signed is on the disk")
        await reopened.close()
        gate.open()
        #expect(try await appended == 0..<1)
        #expect(try await log.awaitPublished(size: 1).head.size == 1)
        await log.close()
    }

    @Test(arguments: [(entries: 4, bytes: 32 << 20), (entries: 1000, bytes: 50)])
    func append_refusesAGroupForAFullQueue(limit: (entries: Int, bytes: Int)) async throws {
        let gate = Gate()
        let storage = FaultyFileSystem(SimulatedDisk()) { call in
            if call.operation == .synchronizeData && call.file == .segment { gate.pass() }
        }
        let fixture = LogFixture()
        try await DurableLog.create(in: storage, try fixture.configuration())
        var configuration = try fixture.configuration()
        configuration.limits.queuedEntries = limit.entries
        configuration.limits.queuedByteCount = limit.bytes
        let log = try await DurableLog.open(in: storage, configuration)
        gate.close()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await log.append(LogFixture.entries(0..<1)) }
            while !gate.isHolding { await Task.yield() }
            group.addTask { _ = try await log.append(LogFixture.entries(1..<5)) }
            while log.statistics.queuedEntries < 4 { await Task.yield() }
            let refusal = await #expect(throws: LogAppendError.queueFull(waiting: 4)) {
                try await log.append(LogFixture.entries(5..<6))
            }
            #expect(refusal?.isWorthRetrying == true)
            gate.open()
            try await group.waitForAll()
        }
        #expect(try await log.append(LogFixture.entries(5..<6)) == 5..<6)
        await log.close()
    }

    @Test func append_refusesEntriesOutsideTheFormat() async throws {
        let log = try await LogFixture().newLog(on: SimulatedDisk())
        await #expect(throws: LogAppendError.emptyGroup) { try await log.append([]) }
        await #expect(throws: LogAppendError.emptyEntry(position: 1)) { try await log.append([[1], []]) }
        await #expect(throws: LogAppendError.entryTooLong(position: 0, byteCount: 65_536)) {
            try await log.append([[UInt8](repeating: 1, count: 65_536)])
        }
        await #expect(throws: LogAppendError.groupTooLarge(byteCount: 65_002 * 65, maximum: 4 << 20)) {
            try await log.append([[UInt8]](repeating: [UInt8](repeating: 1, count: 65_000), count: 65))
        }
        #expect(try await log.append([[UInt8](repeating: 1, count: 65_535)]) == 0..<1)
        await log.close()
    }

    @Test func aClosedLogHasPublishedAllEntriesAndRefusesMore() async throws {
        let fixture = LogFixture()
        let disk = SimulatedDisk()
        let log = try await fixture.newLog(on: disk)
        _ = try await log.append(LogFixture.entries(0..<300))
        await log.close()
        #expect(log.published.head.size == 300)
        await #expect(throws: LogAppendError.closed) { try await log.append([[1]]) }
        await #expect(throws: LogWaitError.closed) { try await log.awaitPublished(size: 301) }
        await #expect(throws: LogWaitError.closed) { try await log.republish() }
        #expect(try await log.entry(at: 299) == LogFixture.entries(299..<300)[0])
    }

    @Test func aRepublishedCheckpointHasTheSameHeadAndTheCurrentTime() async throws {
        let fixture = LogFixture()
        let log = try await fixture.newLog(on: SimulatedDisk())
        _ = try await log.append(LogFixture.entries(0..<2))
        let first = try await log.awaitPublished(size: 2)
        fixture.time.store(1_700_003_600, ordering: .relaxed)
        let second = try await log.republish()
        #expect(second.head == first.head && second.note.text == first.note.text)
        #expect(second.note.signatures[1].blob.prefix(8).elementsEqual([0, 0, 0, 0, 0x65, 0x53, 0xFF, 0x10]))
        #expect(log.published == second)
        await log.close()
    }

    @Test func aCancelledWaitThrowsCancelled() async throws {
        let log = try await LogFixture().newLog(on: SimulatedDisk())
        let waiting = Task { try await log.awaitPublished(size: 1) }
        waiting.cancel()
        await #expect(throws: LogWaitError.cancelled) { try await waiting.value }
        await log.close()
    }
}

/// Holds a thread of the log where the test wants it.
final class Gate: Sendable {
    private let state = Mutex((isClosed: false, isHolding: false))
    private let opening = DispatchSemaphore(value: 0)

    /// Whether a thread waits here.
    var isHolding: Bool { state.withLock { $0.isHolding } }

    func close() { state.withLock { $0.isClosed = true } }

    func pass() {
        let mustWait = state.withLock { state in
            state.isHolding = state.isClosed
            return state.isClosed
        }
        if mustWait { opening.wait() }
    }

    func open() {
        state.withLock { $0.isClosed = false }
        opening.signal()
    }
}
