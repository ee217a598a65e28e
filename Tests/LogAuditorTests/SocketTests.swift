// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogAuditor
import PinnedHTTP
import ProtocolTesting
import SignetClient
import Testing
import TransparencyLog

/// The auditor and its cosigner, which reach the log over sockets only.
@Suite struct SocketTests {
    let folder: TemporaryFolder
    let log: ForgedLog
    let files = ServedLog()

    init() throws {
        folder = try TemporaryFolder()
        log = try ForgedLog()
        try log.grow(epochs: 2, people: 150)
        try files.serve(log)
    }

    func auditor(_ server: FileServer) throws -> Auditor {
        try Auditor(
            of: log.policy(), at: HTTPLogSource(server.url), keeping: AuditFolder(path: folder.below("state")),
            clock: { ForgedLog.now })
    }

    @Test(arguments: ForgedFault.allCases) func eachFaultOfALogIsFoundOverHTTP(_ fault: ForgedFault) async throws {
        let server = try await FileServer(files)
        let auditor = try auditor(server)
        #expect(try await auditor.auditPublished().checkpoint.head.size == log.size)
        try log.commit(fault)
        try files.serve(log)
        do throws(AuditorError) {
            _ = try await auditor.auditPublished()
            Issue.record("found nothing")
        } catch { #expect(error.claim == fault.name.rawValue) }
        await server.stop()
    }

    @Test(arguments: [2, 5]) func aForkIsFoundOverHTTP(_ epochs: Int) async throws {
        let server = try await FileServer(files)
        let auditor = try auditor(server)
        _ = try await auditor.auditPublished()
        let other = try ForgedLog()
        try other.grow(epochs: epochs, people: 150, from: 5000)
        try files.serve(other)
        do throws(AuditorError) {
            _ = try await auditor.auditPublished()
            Issue.record("found nothing")
        } catch { #expect(error.claim == "fork") }
        await server.stop()
    }

    @Test func theLogCollectsTheCosignatureBeforeItPublishes() async throws {
        let server = try await FileServer(files)
        let auditor = try auditor(server)
        _ = try AuditorKey.create(KeyName(Array("auditor.example/map".utf8)), at: folder.below("key"))
        let key = try AuditorKey(path: folder.below("key"))
        let cosigner = try await CosignerServer(
            AuditCosigner(auditor, of: log.policy(), key: key, clock: { 1_800_000_000 }), host: "127.0.0.1", port: 0)
        let transport = try NIOTransport(
            overPlainHTTPTo: ServerAddress("https://127.0.0.1:\(cosigner.port)"),
            deadlines: .init(
                connect: .seconds(600), handshake: .seconds(600), idle: .seconds(600), response: .seconds(600)))
        var latest: UInt64 = 0
        for round in 0..<3 {
            try log.grow(epochs: 1, people: 20, from: UInt64(1000 * (round + 1)))
            // The published checkpoint stays the old one.
            try files.serveTiles(of: log)
            let proof =
                latest == 0
                ? ConsistencyProof(hashes: []) : try log.tree.consistencyProof(from: latest, to: log.size)
            let note = try log.checkpoint()
            let answer = try await transport.send(
                TransportRequest(
                    method: "POST", path: "/add-checkpoint",
                    body: AddCheckpointRequest(oldSize: latest, consistency: proof, note: note).encoded,
                    limit: .init(maximumByteCount: 1 << 16, mediaType: nil)))
            guard case .cosignatures(let lines) = WitnessAnswer(status: answer.status, body: answer.body) else {
                Issue.record("\(answer.status)")
                break
            }
            #expect(try key.signer.verifierKey.verifyCosignature(lines[0], of: note.text) == 1_800_000_000)
            latest = log.size
        }
        await cosigner.stop()
        await server.stop()
    }
}
