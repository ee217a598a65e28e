// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProcessTesting
import SignetAPI
import SignetServer
import Testing

/// The real `signetd`, killed again and again while people register.
///
/// `SIGNET_KILL_ROUNDS` sets the number of rounds, `SIGNET_KILL_SEED` repeats a run's choices. The pauses before a
/// kill are the subject of the test; they wait for no event.
@Suite(.serialized) struct KillTests {
    private static let rounds = number("SIGNET_KILL_ROUNDS") ?? 200
    private static let seed = number("SIGNET_KILL_SEED") ?? Int.random(in: 0..<1_000_000)

    @Test(.timeLimit(.minutes(30))) func aKilledServerKeepsAcknowledgedRegistrationsAndNeverForks() async throws {
        var random = SeededRandom(UInt64(Self.seed))
        try await withDataDirectory { data in
            let witnessed = Witnessed(try StoredDirectory.readProfile(data))
            for round in 0..<Self.rounds {
                let microseconds = random.next() % 250_000
                if random.next() % 5 == 0 {
                    try await killWhileStarting(data, after: microseconds)
                } else {
                    try await killWhileServing(data, witnessed, round, after: microseconds)
                }
            }
            try await checkEverything(data, witnessed)
            print(
                "killed \(Self.rounds) times (seed \(Self.seed)): \(witnessed.acknowledgedCount) registrations and "
                    + "\(witnessed.headCount) checkpoints still hold")
            #expect(witnessed.acknowledgedCount >= Self.rounds / 20, "the kills came before anything happened")
        }
    }

    @Test func aStoppingServerAnswersTheRequestInProgress() async throws {
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            let daemon = try Daemon(data)
            let port = try #require(await daemon.port())
            let idle = try await Connection.open(port: port, root: profile.tlsRoot)
            let busy = try await Connection.open(port: port, root: profile.tlsRoot)
            try await busy.send(
                "POST /api/get-public-keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 33\r\n\r\n{\"targets\":[")
            // After an answer on a third connection, the server has read the beginning of the request.
            let client = TestClient(port: port, root: profile.tlsRoot)
            try await expectStatus(200, of: client.get("/health"))
            daemon.signal(SIGTERM)
            #expect(await idle.readToEnd().isEmpty)
            try await busy.send("\"alice@example.org\"]}")
            let answer = await busy.readAnswer()
            #expect(answer?.status == 200)
            #expect(answer?.text == "[]")
            await busy.close()
            let end = await daemon.ended()
            #expect(end.status == 0 && !end.wasKilled)
            #expect(end.complaints.hasSuffix("msg=stopped\n"))
            for secret in ["alice", "127.0.0.1", "localhost"] { #expect(!end.complaints.contains(secret)) }
        }
    }

    @Test func aSecondServerOnTheSameDataIsRefused() async throws {
        try await withDataDirectory { data in
            let first = try Daemon(data)
            #expect(await first.port() != nil)
            let second = try Daemon(data)
            let port = await second.port()
            #expect(port == nil)
            // A second server that serves would not end.
            if port != nil { second.signal(SIGKILL) }
            let end = await second.ended()
            #expect(end.status == 75)
            #expect(end.complaints.contains("another process uses this data directory"))
            first.signal(SIGINT)
            #expect(await first.ended().status == 0)
        }
    }

    private func killWhileStarting(_ data: DataDirectory, after microseconds: UInt64) async throws {
        let daemon = try Daemon(data)
        try await Task.sleep(for: .microseconds(microseconds))
        daemon.signal(SIGKILL)
        #expect(await daemon.ended().wasKilled)
    }

    private func killWhileServing(
        _ data: DataDirectory, _ witnessed: Witnessed, _ round: Int, after microseconds: UInt64
    ) async throws {
        let daemon = try Daemon(data)
        let port = try #require(await daemon.port(), "signetd did not start again")
        let client = TestClient(port: port, root: witnessed.profile.tlsRoot)
        try await witnessed.check(at: client)
        let (acknowledgments, mark) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<3 {
                group.addTask { _ = await witnessed.register("r\(round)-\(lane)", at: client) { mark.yield() } }
            }
            group.addTask { try await witnessed.noteCheckpoint(at: client) }
            // However slow the machine is, every fourth kill comes after something was acknowledged.
            if round % 4 == 0 { for await _ in acknowledgments { break } }
            try await Task.sleep(for: .microseconds(microseconds))
            daemon.signal(SIGKILL)
            try await group.waitForAll()
        }
        #expect(await daemon.ended().wasKilled)
    }

    private func checkEverything(_ data: DataDirectory, _ witnessed: Witnessed) async throws {
        let daemon = try Daemon(data)
        let port = try #require(await daemon.port())
        let client = TestClient(port: port, root: witnessed.profile.tlsRoot)
        try await witnessed.check(everyone: true, at: client)
        try await witnessed.checkHistory(at: client)
        daemon.signal(SIGTERM)
        #expect(await daemon.ended().status == 0)
    }

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }
}
