// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LogAuditor
import PinnedHTTP
import ProtocolTesting
import SignetClient
import Testing
import TransparencyLog

@Suite struct CosignerTests {
    let folder: TemporaryFolder
    let log: ForgedLog
    let source = ServedLog()
    let name: KeyName

    init() throws {
        folder = try TemporaryFolder()
        log = try ForgedLog()
        name = try KeyName(Array("auditor.example/map".utf8))
        _ = try AuditorKey.create(name, at: folder.below("key"))
    }

    func cosigner(_ state: String = "state", at time: UInt64 = ForgedLog.now) async throws -> AuditCosigner {
        let auditor = try Auditor(
            of: log.policy(), at: source, keeping: AuditFolder(path: folder.below(state)), clock: { time })
        do { try await auditor.resume() } catch {
            guard case .guilty = error else { throw error }
        }
        return try AuditCosigner(
            auditor, of: log.policy(), key: AuditorKey(path: folder.below("key")), clock: { time })
    }

    /// What the log sends for the checkpoint of a size.
    func request(_ log: ForgedLog, from old: UInt64, to size: UInt64? = nil) throws -> [UInt8] {
        let size = size ?? log.size
        let proof =
            old == 0 || old == size ? ConsistencyProof(hashes: []) : try log.tree.consistencyProof(from: old, to: size)
        return try AddCheckpointRequest(oldSize: old, consistency: proof, note: log.checkpoint(size: size)).encoded
    }

    func verify(_ answer: CosignerAnswer, of note: SignedNote, at time: UInt64 = 1_800_000_000) throws {
        guard case .cosignatures(let lines) = WitnessAnswer(status: answer.status, body: answer.body) else {
            throw WitnessRefusal.unknownOrigin
        }
        let key = try AuditorKey(path: folder.below("key")).signer.verifierKey
        #expect(try key.verifyCosignature(try #require(lines.first), of: note.text) == time)
    }

    @Test func anAuditedCheckpointIsCosignedBeforeItIsPublished() async throws {
        try log.grow(epochs: 2, people: 3)
        // The tiles are there, the checkpoint is not.
        try source.serveTiles(of: log)
        let cosigner = try await cosigner()
        try verify(await cosigner.answer(request(log, from: 0)), of: log.checkpoint())
        try log.grow(epochs: 2, people: 3, from: 10)
        try source.serveTiles(of: log)
        try verify(await cosigner.answer(request(log, from: 14)), of: log.checkpoint())
    }

    @Test func cosign_refusesACheckpointThatCannotBeAudited() async throws {
        try log.grow(epochs: 2, people: 3)
        let cosigner = try await cosigner()
        #expect(await cosigner.answer(try request(log, from: 0)).status == 503)
        try source.serveTiles(of: log)
        #expect(await cosigner.answer(try request(log, from: 0)).status == 200)
    }

    /// A log that was off for hours asks what time it is. Only once it has been told does it end an epoch that is of now.
    @Test func whatWasAuditedInTimeIsCosignedOnceMore_andNothingNewThatEndsInAnOldEpoch() async throws {
        try log.grow(epochs: 2, people: 3)
        try source.serveTiles(of: log)
        do {
            let cosigner = try await cosigner()
            #expect(await cosigner.answer(try request(log, from: 0)).status == 200)
        }
        let (size, later) = (log.size, ForgedLog.now + 7200)
        let cosigner = try await cosigner(at: later)
        try verify(await cosigner.answer(request(log, from: size)), of: log.checkpoint(), at: later)
        try log.grow(epochs: 1, people: 1, from: 10)
        try source.serveTiles(of: log)
        let old = await cosigner.answer(try request(log, from: size))
        #expect(old.status == 503 && old.body == Array("the log's last epoch is not of now\n".utf8))
        log.letTimePass(7200)
        try log.closeEpoch()
        try source.serveTiles(of: log)
        try verify(await cosigner.answer(request(log, from: size)), of: log.checkpoint(), at: later)
    }

    @Test(arguments: ForgedFault.allCases) func aGuiltyLogIsNeverCosignedAgain(_ fault: ForgedFault) async throws {
        try log.grow(epochs: 2, people: 3)
        try source.serveTiles(of: log)
        do {
            let cosigner = try await cosigner()
            #expect(await cosigner.answer(try request(log, from: 0)).status == 200)
            let sound = log.size
            try log.commit(fault)
            try source.serveTiles(of: log)
            for _ in 0..<2 {
                let answer = await cosigner.answer(try request(log, from: sound))
                #expect(answer.status == 503)
                #expect(answer.body == Array("the log broke its rules\n".utf8))
            }
            // The checkpoint that it cosigned before is refused too.
            #expect(await cosigner.answer(try request(log, from: sound, to: sound)).status == 503)
        }
        let again = try await cosigner()
        #expect(await again.answer(try request(log, from: 14, to: 14)).status == 503)
    }

    @Test func aCosignerThatLostItsFolderRefusesAnotherHistory() async throws {
        try log.grow(epochs: 2, people: 3)
        try source.serveTiles(of: log)
        do {
            let cosigner = try await cosigner()
            #expect(await cosigner.answer(try request(log, from: 0)).status == 200)
        }
        // Another history, sound in itself, shown to an auditor that lost its folder.
        let other = try ForgedLog()
        try other.grow(epochs: 3, people: 3, from: 40)
        try source.serveTiles(of: other)
        let again = try await cosigner("empty")
        let conflict = await again.answer(try request(other, from: 0))
        #expect(conflict.status == 409 && conflict.body == Array("14\n".utf8))
        #expect(await again.answer(try request(other, from: 14)).status == 422)
    }

    @Test func cosigner_refusesAKeyWithoutItsMemory() async throws {
        try FileManager.default.removeItem(atPath: folder.below("key.memory"))
        await #expect(throws: AuditorKeyError.file(.notFound, path: folder.below("key.memory"))) {
            _ = try await cosigner()
        }
    }

    @Test func cosigner_refusesAMemoryOfAnotherLog() async throws {
        let other = try ForgedLog(origin: "other.example/log", seed: 7)
        let note = try other.checkpoint()
        let line = try AuditorKey(path: folder.below("key")).signer.cosign(note.text, time: 1)
        let cosigned = try SignedNote(text: note.text, signatures: note.signatures + [line])
        try DurableFile(path: folder.below("key.memory")).replace(with: cosigned.encoded)
        await #expect(throws: AuditorKeyError.memoryOfAnotherLog) { _ = try await cosigner() }
        try DurableFile(path: folder.below("key.memory")).replace(with: note.encoded)
        await #expect(throws: AuditorKeyError.memoryDamaged) { _ = try await cosigner() }
    }

    @Test func cosigner_refusesAKeyThatOthersMayRead() async throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.below("key"))
        #expect(throws: AuditorKeyError.file(.openToOthers, path: folder.below("key"))) {
            _ = try AuditorKey(path: folder.below("key"))
        }
    }

    @Test func aRequestThatAWitnessRefusesIsNotAudited() async throws {
        try log.grow(epochs: 2, people: 3)
        try source.serveTiles(of: log)
        let cosigner = try await cosigner()
        let stranger = try ForgedLog(seed: 5)
        try stranger.grow(epochs: 2, people: 3)
        #expect(await cosigner.answer(try request(stranger, from: 0)).status == 403)
        #expect(await cosigner.answer(Array("old 0\n".utf8)).status == 400)
        #expect(source.readCount == 0)
    }

    @Test func theSocketAnswersWithTheStatusesOfAWitness() async throws {
        try log.grow(epochs: 2, people: 3)
        try source.serveTiles(of: log)
        let server = try await CosignerServer(cosigner(), host: "127.0.0.1", port: 0)
        let transport = try NIOTransport(
            overPlainHTTPTo: ServerAddress("https://127.0.0.1:\(server.port)"),
            deadlines: .init(
                connect: .seconds(600), handshake: .seconds(600), idle: .seconds(600), response: .seconds(600)))
        func send(_ method: String, _ path: String, _ body: [UInt8] = []) async throws -> TransportResponse {
            try await transport.send(
                TransportRequest(
                    method: method, path: path, body: body, limit: .init(maximumByteCount: 1 << 16, mediaType: nil)))
        }
        let answer = try await send("POST", "/add-checkpoint", request(log, from: 0))
        try verify(CosignerAnswer(status: answer.status, body: answer.body), of: log.checkpoint())
        #expect(try await send("GET", "/add-checkpoint").status == 405)
        #expect(try await send("POST", "/other").status == 404)
        #expect(try await send("POST", "/add-checkpoint", [UInt8](repeating: 0, count: 200_000)).status == 413)
        #expect(try await send("POST", "/add-checkpoint", request(log, from: 3, to: 7)).status == 409)
        await server.stop()
    }
}
