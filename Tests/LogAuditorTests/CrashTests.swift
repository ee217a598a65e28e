// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogAuditor
import ProtocolTesting
import SignetClient
import Testing
import TransparencyLog

/// Stops at every step of every write that a cosignature or a restart rests on.
@Suite struct CrashTests {
    let folder: TemporaryFolder
    let log: ForgedLog
    let source = ServedLog()

    init() throws {
        folder = try TemporaryFolder()
        log = try ForgedLog()
        _ = try AuditorKey.create(KeyName(Array("auditor.example/map".utf8)), at: folder.below("key"))
        try log.grow(epochs: 2, people: 3)
        try source.serveTiles(of: log)
    }

    /// A moment: before or after a step.
    struct Moment: Sendable, CustomTestStringConvertible {
        let step: DurableFile.Step
        let isDone: Bool

        static let all = DurableFile.Step.allCases.flatMap {
            [Moment(step: $0, isDone: false), Moment(step: $0, isDone: true)]
        }

        var testDescription: String { "\(isDone ? "after" : "before") \(step)" }

        /// Fails at this moment, as a process that ends here would.
        var hook: @Sendable (DurableFile.Step, Bool) throws(FileFault) -> Void {
            { step, isDone throws(FileFault) in
                if step == self.step && isDone == self.isDone { throw .system(0) }
            }
        }
    }

    func cosigner(
        memory: Moment? = nil, checkpoint: Moment? = nil
    ) async throws -> AuditCosigner {
        let state = folder.below("state")
        let kept = checkpoint.map { AuditFolder(path: state, hook: $0.hook) } ?? AuditFolder(path: state)
        let auditor = try Auditor(of: log.policy(), at: source, keeping: kept, clock: { ForgedLog.now })
        try await auditor.resume()
        let path = folder.below("key")
        let key = try memory.map { try AuditorKey(path: path, hook: $0.hook) } ?? AuditorKey(path: path)
        return try AuditCosigner(auditor, of: log.policy(), key: key, clock: { 1_800_000_000 })
    }

    func request(_ log: ForgedLog, from old: UInt64) throws -> [UInt8] {
        let proof =
            old == 0 || old == log.size
            ? ConsistencyProof(hashes: []) : try log.tree.consistencyProof(from: old, to: log.size)
        return try AddCheckpointRequest(oldSize: old, consistency: proof, note: log.checkpoint()).encoded
    }

    /// The size that the cosigner cosigned last: a request from an impossible size is answered with it.
    func remembered(_ cosigner: AuditCosigner) async throws -> UInt64 {
        let body = try request(log, from: 1)
        let answer = await cosigner.answer(body)
        guard case .otherSize(let size) = WitnessAnswer(status: answer.status, body: answer.body) else { return 0 }
        return size
    }

    @Test(arguments: Moment.all) func aStopWhileRememberingTheCheckpointForgetsNoCosignature(
        _ moment: Moment
    ) async throws {
        do {
            let stopped = try await cosigner(memory: moment)
            #expect(await stopped.answer(try request(log, from: 0)).status == 503)
        }
        let again = try await cosigner()
        let size = try await remembered(again)
        #expect(size == 0 || size == log.size)
        #expect(await again.answer(try request(log, from: size)).status == 200)
        // Another history of the same size is refused, whichever size was remembered.
        let rival = try ForgedLog()
        try rival.grow(epochs: 2, people: 3, from: 60)
        try source.serveTiles(of: rival)
        #expect(await again.answer(try request(rival, from: log.size)).status == 422)
    }

    @Test(arguments: Moment.all) func aStopWhileKeepingTheCheckpointGivesNoCosignature(_ moment: Moment) async throws {
        do {
            let stopped = try await cosigner(checkpoint: moment)
            #expect(await stopped.answer(try request(log, from: 0)).status == 503)
        }
        let again = try await cosigner()
        #expect(try await remembered(again) == 0)
        #expect(await again.answer(try request(log, from: 0)).status == 200)
    }

    @Test(arguments: Moment.all) func aStopAfterTheLogGrewContinuesAtTheRememberedSize(_ moment: Moment) async throws {
        do {
            let first = try await cosigner()
            #expect(await first.answer(try request(log, from: 0)).status == 200)
        }
        try log.grow(epochs: 2, people: 3, from: 20)
        try source.serveTiles(of: log)
        do {
            let stopped = try await cosigner(memory: moment, checkpoint: nil)
            #expect(await stopped.answer(try request(log, from: 14)).status == 503)
        }
        let again = try await cosigner()
        let size = try await remembered(again)
        #expect(size == 14 || size == log.size)
        #expect(await again.answer(try request(log, from: size)).status == 200)
    }
}
