// SPDX-License-Identifier: Apache-2.0

import Foundation
import NoteLog
import NotesAPI
import ProcessTesting
import ProtocolTesting
import SignetAPI
import SignetServer
import Synchronization
import Testing

/// The real `signetd`, killed again and again while people write, share, unshare and rekey.
///
/// `SIGNET_NOTES_KILL_ROUNDS` sets the number of rounds, `SIGNET_KILL_SEED` repeats a run's choices. The pauses before
/// a kill are the subject of the test.
@Suite(.serialized) struct NotesKillTests {
    private static let rounds = number("SIGNET_NOTES_KILL_ROUNDS") ?? 20
    private static let seed = number("SIGNET_KILL_SEED") ?? Int.random(in: 0..<1_000_000)

    @Test(.timeLimit(.minutes(10))) func aKilledServerHasAppliedAPushCompletelyOrNotAtAll() async throws {
        var random = SeededRandom(UInt64(Self.seed))
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            var lanes: [NotesLane] = []
            for round in 0..<Self.rounds {
                let daemon = try Daemon(data)
                let port = try #require(await daemon.port(), "signetd did not start again")
                let notes = NotesClient(TestClient(port: port, root: profile.tlsRoot))
                if round == 0 {
                    for name in ["a", "b"] {
                        lanes.append(try await NotesLane.open(name, at: notes))
                    }
                }
                for lane in lanes { try await lane.check(at: notes) }
                let (answers, answer) = AsyncStream<Void>.makeStream()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in lanes {
                        let choices = random.next()
                        group.addTask { try await lane.push(at: notes, SeededRandom(choices)) { answer.yield() } }
                    }
                    // The kill comes a number of answers later, however slow the machine is, and a moment after the
                    // last.
                    for _ in 0..<1 + random.next() % 16 { for await _ in answers { break } }
                    try await Task.sleep(for: .microseconds(random.next() % 10_000))
                    daemon.signal(SIGKILL)
                    try await group.waitForAll()
                }
                #expect(await daemon.ended().wasKilled)
            }
            let counts = lanes.map(\.counts)
            print("killed \(Self.rounds) times (seed \(Self.seed)): \(counts) pushes applied, in doubt, of those new")
            #expect(counts.reduce(0) { $0 + $1[0] } >= Self.rounds)
        }
    }

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }
}
