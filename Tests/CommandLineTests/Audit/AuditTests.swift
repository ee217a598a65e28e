// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import PinnedHTTP
import ProtocolTesting
import SignetClient
import Testing
import TransparencyLog

/// `signet audit`, `signet evidence verify` and `signet gossip` as programs.
@Suite(.serialized) struct AuditTests {
    /// A log in a folder, as a mirror stores it.
    struct MirroredLog {
        let folder: URL
        let log: ForgedLog

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(component: "audit-\(UUID().uuidString)")
            log = try ForgedLog(from: Surroundings.system.now())
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(log.policy().encoded).write(to: folder.appending(component: "policy"))
        }

        func write(publishing: Bool = true) throws {
            var files: [(String, [UInt8])] = publishing ? [("checkpoint", try log.checkpoint().encoded)] : []
            for tile in Tile.added(from: 0, to: log.size) {
                let start = Int(tile.index) * Tile.fullWidth
                let bytes =
                    tile.content == .entries
                    ? try EntryBundle(entries: Array(log.entries[start..<start + tile.width])).encoded
                    : try tile.encode(log.tree.hashes(of: tile))
                files.append((String(decoding: tile.path, as: UTF8.self), bytes))
            }
            for (path, bytes) in files {
                let file = folder.appending(path: "mirror/" + path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(bytes).write(to: file, options: .atomic)
            }
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }

        func signet(_ arguments: String...) async throws -> Exit { try await Program.signet.run(arguments, in: folder) }

        func audit() async throws -> Exit {
            try await signet("audit", "mirror", "--policy", "policy", "--state", "state", "--json")
        }

        /// The request that the log sends for a cosignature.
        func request(from old: UInt64) throws -> [UInt8] {
            let isTrivial = old == 0 || old == log.size
            let proof = isTrivial ? nil : try log.tree.consistencyProof(from: old, to: log.size)
            return try AddCheckpointRequest(
                oldSize: old, consistency: proof ?? ConsistencyProof(hashes: []), note: log.checkpoint()
            ).encoded
        }

        func ask(_ server: RunningServer, from old: UInt64) async throws -> WitnessAnswer {
            try await Self.ask(server, try request(from: old))
        }

        static func ask(_ server: RunningServer, _ body: [UInt8]) async throws -> WitnessAnswer {
            let transport = try NIOTransport(
                overPlainHTTPTo: ServerAddress("https://127.0.0.1:\(server.port)"),
                deadlines: .init(
                    connect: .seconds(600), handshake: .seconds(600), idle: .seconds(600), response: .seconds(600)))
            let request = TransportRequest(
                method: "POST", path: "/add-checkpoint", body: body,
                limit: .init(maximumByteCount: 1 << 16, mediaType: nil))
            let answer = try await transport.send(request)
            return WitnessAnswer(status: answer.status, body: answer.body)
        }

        func startCosigner() async throws -> RunningServer {
            try await RunningServer.start(
                .signet,
                [
                    "audit", "mirror", "--policy", "policy", "--state", "state", "--cosign", "key", "--listen",
                    "127.0.0.1:0",
                ], in: folder)
        }
    }

    @Test func anHonestLogIsSound() async throws {
        let mirror = try MirroredLog()
        defer { mirror.remove() }
        try mirror.log.grow(epochs: 3, people: 100)
        try mirror.write()
        let exit = try await mirror.audit()
        expect(0, exit)
        #expect(try exit.keys() == ["epoch", "labels", "origin", "size", "sound"])
        #expect(try exit.object()["size"] as? Int == 603)
        expect(0, try await mirror.audit(), "from the kept state")
        expect(65, try await mirror.signet("audit", "mirror", "--policy", "mirror/checkpoint"))
        expect(64, try await mirror.signet("audit", "mirror"))
        expect(1, try await mirror.signet("audit", "nowhere", "--policy", "policy", "--state", "other"))
    }

    @Test(arguments: [ForgedFault.repeatedVersion, .flashKey])
    func evidenceAgainstAFaultyLogVerifiesWithoutTheLog(_ fault: ForgedFault) async throws {
        let mirror = try MirroredLog()
        defer { mirror.remove() }
        try mirror.log.grow(epochs: 2, people: 3)
        try mirror.log.commit(fault)
        try mirror.write()
        let exit = try await mirror.audit()
        expect(1, exit)
        #expect(try exit.object()["fault"] as? String == fault.name.rawValue)
        let file = try #require(try exit.object()["evidence"] as? String)
        expect(1, try await mirror.audit(), "the fault is kept")
        try FileManager.default.removeItem(at: mirror.folder.appending(component: "mirror"))
        let key = String(decoding: mirror.log.signer.verifierKey.encoded, as: UTF8.self)
        let alone = try await mirror.signet("evidence", "verify", file, "--vkey", key, "--json")
        expect(fault.isShownByEntries ? 0 : 1, alone)
        let proven = try await mirror.signet(
            "evidence", "verify", file, "--policy", "policy", "--log", "state", "--json")
        expect(0, proven)
        #expect(try proven.object()["fault"] as? String == fault.name.rawValue)
        let stranger = String(decoding: try ForgedLog(seed: 9).signer.verifierKey.encoded, as: UTF8.self)
        expect(1, try await mirror.signet("evidence", "verify", file, "--vkey", stranger))
    }

    /// Killed again and again while it audits and cosigns: nothing that was given out is forgotten, and nothing is
    /// given out that was not audited.
    @Test func aKilledCosignerKeepsItsStateAndCosignsOnlyWhatItAudited() async throws {
        let mirror = try MirroredLog()
        defer { mirror.remove() }
        expect(0, try await mirror.signet("audit", "key", "auditor.example/map", "--out", "key"))
        var given: UInt64 = 0
        for round in 0..<6 {
            let server = try await mirror.startCosigner()
            try mirror.log.grow(epochs: 2, people: 200, from: UInt64(1000 * round))
            try mirror.write(publishing: round.isMultiple(of: 2))
            let old = given
            let body = try mirror.request(from: old)
            async let question = MirroredLog.ask(server, body)
            // The kill comes before or after the answer: both happen.
            if round.isMultiple(of: 3) { _ = try? await question }
            try await server.stop(SIGKILL)
            if case .cosignatures = try? await question { given = mirror.log.size }
            let again = try await mirror.startCosigner()
            let sizes = [given, mirror.log.size]
            var answer = try await mirror.ask(again, from: given)
            if case .otherSize(let latest) = answer {
                // It had stored a size that it could not answer with before the kill.
                #expect(sizes.contains(latest))
                answer = try await mirror.ask(again, from: latest)
            }
            guard case .cosignatures = answer else {
                Issue.record("\(answer)")
                return
            }
            given = mirror.log.size
            try await again.stop(SIGKILL)
        }
        let server = try await mirror.startCosigner()
        try mirror.log.commit(.flashKey)
        try mirror.write(publishing: false)
        #expect(try await mirror.ask(server, from: given) == .unavailable(status: 503))
        let end = try await server.stop(SIGKILL)
        _ = end
        expect(1, try await mirror.audit(), "the fault is kept after a kill")
    }

    /// A page of the operator's; nil while nothing listens there.
    private static func page(_ path: String, at port: Int) async throws -> (status: Int, text: String)? {
        let transport = try NIOTransport(
            overPlainHTTPTo: ServerAddress("https://127.0.0.1:\(port)"),
            deadlines: .init(
                connect: .seconds(600), handshake: .seconds(600), idle: .seconds(600), response: .seconds(600)))
        let request = TransportRequest(
            method: "GET", path: path, limit: .init(maximumByteCount: 1 << 16, mediaType: nil))
        guard let answer = try? await transport.send(request) else { return nil }
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// Asks for a page again and again until it says something.
    private static func wait(for words: String, on path: String, at port: Int) async throws {
        let end = ContinuousClock.now + .seconds(Program.deadline)
        var seen = ""
        while ContinuousClock.now < end {
            seen = try await page(path, at: port)?.text ?? ""
            if seen.contains(words) { return }
        }
        Issue.record("no \(words) on \(path): \(seen.prefix(2000))")
    }

    @Test func theOperatorsPagesFollowTheLog_andShowThatItLies() async throws {
        let mirror = try MirroredLog()
        defer { mirror.remove() }
        try mirror.log.grow(epochs: 2, people: 20)
        try mirror.write()
        let port = try SilentListener.freePort()
        expect(0, try await mirror.signet("audit", "key", "auditor.example/map", "--out", "key"))
        let alone = try await mirror.signet(
            "audit", "mirror", "--policy", "policy", "--state", "state", "--admin-listen", "127.0.0.1:\(port)")
        expect(64, alone, "an audit that ends answers nobody")
        let options = [
            "audit", "mirror", "--policy", "policy", "--state", "state", "--cosign", "key", "--listen", "127.0.0.1:0",
            "--every", "1", "--admin-listen", "127.0.0.1:\(port)",
        ]
        let server = try await RunningServer.start(.signet, options, in: mirror.folder)
        let entries = "signet_audited_log_entries{log=\"directory.example/log\"}"
        try await Self.wait(for: "\(entries) \(mirror.log.size)\n", on: "/metrics", at: port)
        #expect(try await Self.page("/ready", at: port)?.status == 200)
        let honest = mirror.log.size
        try mirror.log.commit(.flashKey)
        try mirror.write()
        try await Self.wait(for: "the log broke its rules", on: "/ready", at: port)
        #expect(try await Self.page("/ready", at: port)?.status == 503)
        try await Self.wait(
            for: "signet_audited_log_faults{log=\"directory.example/log\"} 1\n", on: "/metrics", at: port)
        try await Self.wait(for: "\(entries) \(honest)\n", on: "/metrics", at: port)
        #expect(try await mirror.ask(server, from: 0) == .unavailable(status: 503), "it goes on, and cosigns nothing")
        try await server.stop(SIGKILL)

        let again = try await RunningServer.start(.signet, options, in: mirror.folder)
        try await Self.wait(for: "the log broke its rules", on: "/ready", at: port)
        try await again.stop(SIGKILL)
    }
}
