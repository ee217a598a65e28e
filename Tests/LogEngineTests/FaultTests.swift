// SPDX-License-Identifier: Apache-2.0

import LogEngine
import SignetTesting
import Testing
import TransparencyLog

/// Every call of the log to its storage fails once: without effect, with its effect, and half done.
@Suite struct FaultTests {
    /// Without a sealer there is no index, and so no snapshot of one.
    static let files: [LogFileKind] = LogFileKind.allCases.filter { $0 != .snapshot }
    static let effects: [Fault.Effect] = [.nothing, .everything, .half]

    @Test(arguments: files, effects)
    func aFailedCallLosesNoAcknowledgedEntryAndDoesNotFork(file: LogFileKind, effect: Fault.Effect) async throws {
        var ordinal = 0
        while true {
            let disk = try await ScriptedRun.disk()
            let storage = FaultyFileSystem(disk, fault: Fault([file], ordinal: ordinal, effect: effect))
            var run = ScriptedRun()
            try await run.perform(on: storage)
            guard storage.hasFailed else { break }
            let cut = disk.crashed(.some(seed: UInt64(ordinal)))
            #expect(try await run.check(disk) == [], "restarted after call \(ordinal)")
            #expect(try await run.check(cut) == [], "power cut after call \(ordinal)")
            let later = disk.crashed(.nothing)
            #expect(
                try await run.check(later, checksBefore: 1) == [],
                "restarted after call \(ordinal), and then a power cut")
            ordinal += 1
        }
        #expect(ordinal > 0)
    }

    @Test(arguments: files.filter { $0 != .directory }) func aShortWriteIsContinued(file: LogFileKind) async throws {
        var ordinal = 0
        while true {
            let disk = try await ScriptedRun.disk()
            let storage = FaultyFileSystem(disk, fault: Fault([file], ordinal: ordinal, effect: .shortCount))
            var run = ScriptedRun()
            try await run.perform(on: storage)
            guard storage.hasFailed else { break }
            #expect(run.acknowledged == ScriptedRun.groups.reduce(0, +) && run.fixture.fatal == [])
            ordinal += 1
        }
        #expect(ordinal > 2)
    }

    @Test func aPowerCutAtAnyCallLosesNoAcknowledgedEntryAndDoesNotFork() async throws {
        var ordinal = 0
        while true {
            let disk = try await ScriptedRun.disk()
            var fault = Fault(Set(Self.files), ordinal: ordinal, effect: .nothing)
            fault.isFinal = true
            let storage = FaultyFileSystem(disk, fault: fault)
            var run = ScriptedRun()
            try await run.perform(on: storage)
            guard storage.hasFailed else { break }
            let seed = UInt64(ordinal)
            for survival in [.nothing, .everything, .some(seed: seed), .some(seed: ~seed)] as [SimulatedDisk.Survival] {
                let broken = try await run.check(disk.crashed(survival))
                #expect(broken == [], "power cut at call \(ordinal), surviving: \(survival)")
            }
            ordinal += 1
        }
        #expect(ordinal > 100)
    }

    @Test func aFullDiskStopsTheLog_whichOpensAgainWithSpace() async throws {
        for ordinal in 0..<60 {
            let disk = try await ScriptedRun.disk()
            var fault = Fault([.segment, .lockRecord, .tile, .bundle], ordinal: ordinal, effect: .half)
            fault.code = 28
            fault.staysFull = true
            var run = ScriptedRun()
            try await run.perform(on: FaultyFileSystem(disk, fault: fault))
            #expect(try await run.check(disk) == [], "full at call \(ordinal)")
        }
    }

    @Test func aFailedCreationLeavesNoLogAndCanBeRepeated() async throws {
        for effect in Self.effects {
            var ordinal = 0
            while true {
                let disk = SimulatedDisk()
                let storage = FaultyFileSystem(disk, fault: Fault(Set(Self.files), ordinal: ordinal, effect: effect))
                let fixture = LogFixture()
                let refusal = try await LogOpenError.met {
                    try await DurableLog.create(in: storage, try fixture.configuration())
                }
                guard storage.hasFailed else { break }
                #expect(refusal != nil)
                let found = try await LogOpenError.met { await (try fixture.log(on: disk)).close() }
                #expect(found == nil || found == .noLog, "after call \(ordinal)")
                if found == .noLog { await (try await fixture.newLog(on: disk)).close() }
                ordinal += 1
            }
        }
    }

    @Test func aFailureStopsTheLogAndIsReportedOnce() async throws {
        let disk = try await ScriptedRun.disk()
        let fixture = LogFixture()
        let opening = FaultyFileSystem(disk)
        await (try await fixture.log(on: opening)).close()
        let calls = opening.calls.filter { $0.file == .segment }.count
        let storage = FaultyFileSystem(disk, fault: Fault([.segment], ordinal: calls + 1, effect: .nothing))
        let log = try await fixture.log(on: storage)
        let waiting = Task { try await log.awaitPublished(size: 1) }
        await #expect(throws: LogAppendError.stopped) { try await log.append(LogFixture.entries(0..<1)) }
        await #expect(throws: LogAppendError.stopped) { try await log.append(LogFixture.entries(0..<1)) }
        await #expect(throws: LogWaitError.stopped) { try await waiting.value }
        await #expect(throws: LogWaitError.stopped) { try await log.republish() }
        #expect(fixture.fatal == [.writeAheadLog(LogFileError(.synchronizeData, of: .segment, code: 5))])
        #expect(log.published.head.size == 0, "what is published stays published")
        await log.close()
        let synchronized = storage.calls.filter { $0.operation == .synchronizeData && $0.file == .segment }
        #expect(synchronized.count == 1, "a failed synchronization is never repeated")
    }

    @Test func open_synchronizesAFrameWhoseSynchronizationFailed() async throws {
        let disk = try await ScriptedRun.disk()
        let opening = FaultyFileSystem(disk)
        await (try await LogFixture().log(on: opening)).close()
        let calls = opening.calls.filter { $0.file == .segment }.count
        let fault = Fault([.segment], ordinal: calls + 1, effect: .nothing)
        var run = ScriptedRun()
        try await run.perform(on: FaultyFileSystem(disk, fault: fault))
        #expect(run.acknowledged == 0)
        let log = try await LogFixture().log(on: disk)
        #expect(log.published.head.size == 1, "the frame is visible though its synchronization failed")
        #expect(try await run.check(disk.crashed(.nothing)) == [], "and now it survives a power cut")
        await log.close()
    }
}
