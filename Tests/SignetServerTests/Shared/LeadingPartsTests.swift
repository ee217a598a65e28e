// SPDX-License-Identifier: Apache-2.0

import EngineLab
import KeyDirectory
import KeyTransparency
import SharedLog
import SignetAPI
import Synchronization
import Testing

@testable import SignetServer

/// What a process that leads does beside the log: pins, notes and the keys of cards.
@Suite(
    .serialized,
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("parts of a leader"),
        "There is no PostgreSQL 15 here.")
)
struct LeadingPartsTests {
    private func withMoved(_ body: (MovingDirectory) async throws -> Void) async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await body(directory)
        }
    }

    /// Opens parts of which one waits until it is let go.
    private static func options(_ part: WaitingPart) -> Sequencer.Options {
        var options = Sequencer.Options()
        options.republishing = .milliseconds(50)
        options.open = { _, _, _ in [part] }
        return options
    }

    /// As where a fail-over has used up all connections of the database for a moment.
    @Test(.timeLimit(.minutes(3))) func partsThatCouldNotBeOpenedAreOpenedLater() async throws {
        try await withMoved { directory in
            let engines = try directory.engines()
            let attempts = Mutex<[String?]>([])
            var options = Sequencer.Options()
            options.republishing = .milliseconds(50)
            options.words = { _ in "no connection is left" }
            options.open = { data, stored, logger in
                let count = attempts.withLock { attempts in
                    attempts.append(engines.meters.now.missingParts)
                    return attempts.count
                }
                guard count > 1 else { throw StoredNotesError.unreadable }
                return try await StandardParts.open(data, beside: stored, logger: logger)
            }
            try await directory.lead(over: engines, options) {
                guard try directory.sql("SELECT count(*) > 0 FROM notes.roots") == "t" else { return false }
                return try await PinsInLog.shared(directory.data, engines, logger: silent).newest?.version == 1
            }
            #expect(attempts.withLock { Array($0.prefix(2)) } == [nil, "no connection is left"])
            #expect(engines.meters.now.missingParts == nil)
        }
    }

    /// A first map of many notes takes minutes.
    @Test(.timeLimit(.minutes(3))) func theCheckpointIsSignedAgainWhileAPartIsAtWork() async throws {
        try await withMoved { directory in
            let part = WaitingPart(endsWhenCancelled: true)
            let sequencer = Sequencer(directory.data, try directory.engines(), Self.options(part), logger: silent)
            let running = Task { try await sequencer.run() }
            var notes: [String: Set<String>] = [:]
            try await directory.settle {
                guard part.hasBegun, let size = try directory.sql("SELECT size FROM log.log"),
                    let note = try directory.sql("SELECT encode(note, 'hex') FROM log.log")
                else { return false }
                notes[size, default: []].insert(note)
                return notes.values.contains { $0.count > 2 }
            }
            running.cancel()
            try await directory.settle { part.isClosed }
            try await running.value
        }
    }

    @Test(.timeLimit(.minutes(3))) func theLeaseIsNotKeptUntilAPartHasEnded() async throws {
        try await withMoved { directory in
            let part = WaitingPart(endsWhenCancelled: false)
            let sequencer = Sequencer(directory.data, try directory.engines(), Self.options(part), logger: silent)
            let running = Task { try await sequencer.run() }
            try await directory.settle { part.hasBegun }
            running.cancel()
            try await directory.settle { try directory.sql("SELECT expires FROM log.lease") == "0" }
            #expect(!part.isClosed)
            part.letGo()
            try await running.value
            #expect(part.isClosed)
        }
    }
}

/// A part that is at work for as long as nobody lets it go.
private final class WaitingPart: PartAnswering {
    private let endsWhenCancelled: Bool
    private let state = Mutex((hasBegun: false, isClosed: false))
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)

    init(endsWhenCancelled: Bool) { self.endsWhenCancelled = endsWhenCancelled }

    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func letGo() { end.finish() }

    let routes: [any PartRoute] = []

    func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] { throw PartRefusal(.unavailable) }

    func keepUp() async {
        state.withLock { $0.hasBegun = true }
        if endsWhenCancelled {
            await wait()
        } else {
            await Task { await wait() }.value
        }
    }

    private func wait() async { for await _ in ends {} }

    func close() async { state.withLock { $0.isClosed = true } }
}
