// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyTransparency
import LogEngine
import SQLStores
import SignetAPI
import Synchronization
import Testing
import TransparencyLog

@testable import KeyDirectory

/// Two servers of one directory, of which one has not come as far as the other. An honest client must not take that for a log that went
/// back, and a log that went back must not pass for it.
@Suite struct FrontEndTests {
    /// A clock whose waits end when a test says so.
    private final class HeldClock: Sendable {
        private let calls = Mutex(0)
        private let began: AsyncStream<Void>
        private let report: AsyncStream<Void>.Continuation

        init() { (began, report) = AsyncStream.makeStream() }

        var count: Int { calls.withLock { $0 } }

        /// Waits that end only with their task.
        func neverEnding() -> FrontEnd {
            FrontEnd { [self] _ in
                calls.withLock { $0 += 1 }
                report.yield()
                let (never, keep) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                withExtendedLifetime(keep) {}
                throw CancellationError()
            }
        }

        /// Waits that are over at once.
        static func over() -> FrontEnd { FrontEnd { _ in } }

        func awaitWait() async { for await _ in began { return } }
    }

    /// A directory with one person, and a copy of it in which another person came.
    private struct Pair {
        let behind: Place
        let ahead: Place
        let alice: Person

        init() async throws {
            (behind, ahead) = (try Place(), try Place())
            let directory = try await behind.create()
            var alice = try Person("alice@example.org")
            try await alice.register(at: directory)
            self.alice = alice
            await directory.close()
            try FileManager.default.copyItem(atPath: behind.path, toPath: ahead.path)
        }

        func open(_ place: Place, _ frontEnd: FrontEnd?) async throws -> Directory {
            try await Directory.open(
                at: place.path, keys: place.keys, clock: place.time, logger: Place.silent, frontEnd: frontEnd)
        }

        /// What a client knows after the person came.
        func newestView() async throws -> LogView {
            let directory = try await open(ahead, FrontEnd())
            var bob = try Person("bob@example.org")
            try await bob.register(at: directory)
            let view = try await ahead.verifiedLookup(bob.handle, at: directory).view
            await directory.close()
            return view
        }
    }

    /// The mishap, which one server must go on to show: without front ends less is a rollback, and evidence.
    @Test func aServerThatIsAloneShowsThatItWentBack() async throws {
        let pair = try await Pair()
        let view = try await pair.newestView()
        let directory = try await pair.open(pair.behind, nil)
        await #expect {
            _ = try await pair.behind.verifiedLookup(pair.alice.handle, at: directory, knowing: view)
        } throws: { error in
            guard case LookupError.consistency(let contradiction) = error else { return false }
            return contradiction.fault == .rollback
        }
        #expect(!directory.isBehind(.max))
        #expect(directory.readyLookup(LookupRequest(handle: pair.alice.handle, knownSize: .max)) != nil)
        await directory.close()
    }

    @Test func aFrontEndThatLagsSaysSoInPlaceOfShowingLess() async throws {
        let pair = try await Pair()
        let size = try await pair.newestView().head.size
        let directory = try await pair.open(pair.behind, HeldClock.over())
        let lookup = LookupRequest(handle: pair.alice.handle, knownSize: size)
        #expect(try await refusal { try await directory.lookup(lookup) } == .behind)
        #expect(try await refusal { try await directory.history(HistoryRequest(lookup)) } == .behind)
        let milestones = MilestonesRequest(handle: pair.alice.handle, size: size, after: 0)
        #expect(try await refusal { try await directory.milestones(milestones) } == .behind)
        await directory.close()
    }

    /// An answer that is in memory is one of what this front end has.
    @Test func noAnswerFromMemoryIsOlderThanWhatTheClientKnows() async throws {
        let pair = try await Pair()
        let directory = try await pair.open(pair.behind, HeldClock.over())
        let size = directory.log.published.head.size
        _ = try await directory.lookup(LookupRequest(handle: pair.alice.handle, knownSize: size))
        #expect(directory.readyLookup(LookupRequest(handle: pair.alice.handle, knownSize: size)) != nil)
        #expect(directory.readyLookup(LookupRequest(handle: pair.alice.handle, knownSize: size + 1)) == nil)
        await directory.close()
    }

    @Test func aClientThatKnowsNoMoreWaitsForNothing() async throws {
        let pair = try await Pair()
        let clock = HeldClock()
        let directory = try await pair.open(pair.behind, clock.neverEnding())
        let size = directory.log.published.head.size
        for known in [0, size - 1, size] {
            _ = try await directory.lookup(LookupRequest(handle: pair.alice.handle, knownSize: known))
        }
        #expect(clock.count == 0)
        await directory.close()
    }

    @Test func aClientIsAnsweredAsSoonAsTheFrontEndHasComeAsFar() async throws {
        let pair = try await Pair()
        let clock = HeldClock()
        let directory = try await pair.open(pair.behind, clock.neverEnding())
        let size = directory.log.published.head.size
        let request = LookupRequest(handle: pair.alice.handle, knownSize: size + 1)
        async let answer = directory.lookup(request)
        await clock.awaitWait()
        var bob = try Person("bob@example.org")
        try await bob.register(at: directory)
        #expect(try Checkpoint(decoding: SignedNote(decoding: try await answer.note).text).head.size > size)
        await directory.close()
    }

    @Test func aFrontEndWaitsTwoSeconds() async throws {
        let asked = Shared<[Duration]>([])
        let frontEnd = FrontEnd { duration in asked.change { $0.append(duration) } }
        _ = await frontEnd.awaits {
            while asked.now.isEmpty { await Task.yield() }
            return true
        }
        #expect(asked.now == [.seconds(2)])
    }

    /// A database that is cut off, as its client sees it for half a minute.
    private struct Silent: SQLDatabase {
        let cancelled: AsyncStream<Void>.Continuation

        func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            let (never, keep) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            withExtendedLifetime(keep) {}
            cancelled.yield()
            throw CancellationError()
        }

        func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
            throw CancellationError()
        }

        func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { throw CancellationError() }

        func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { throw CancellationError() }

        var nowExpression: String { "0" }

        func expunge() async throws {}

        func close() {}
    }

    @Test func aClientWaitsThreeSecondsForTheDatabase() async throws {
        let pair = try await Pair()
        let directory = try await pair.open(pair.behind, nil)
        let (asked, cancelled) = (Shared<[Duration]>([]), AsyncStream.makeStream(of: Void.self))
        let frontEnd = FrontEnd(
            sleeping: { _ in }, reading: { duration in asked.change { $0.append(duration) } })
        let cutOff = Directory(
            log: directory.log, epochs: directory.epochs, snapshots: nil,
            origin: try KeyName(Array(Place.origin.utf8)), vrf: directory.vrf,
            database: DirectoryDatabase(
                database: Silent(cancelled: cancelled.continuation), handsOver: true, logger: Place.silent),
            paths: directory.paths, clock: directory.clock, logger: Place.silent, frontEnd: frontEnd)
        let lookup = LookupRequest(handle: pair.alice.handle, knownSize: 0)
        #expect(try await refusal { try await cutOff.lookup(lookup) } == .unavailable)
        #expect(try await refusal { try await cutOff.history(HistoryRequest(lookup)) } == .unavailable)
        let hash = text(Base64.encode([UInt8](repeating: 1, count: 32)))
        #expect(
            try await refusal { try await cutOff.eCallEntries(ECallRequest(publicKeyHashs: [hash])) } == .unavailable)
        #expect(asked.now == [.seconds(3), .seconds(3), .seconds(3)])
        // Nobody waits for what comes too late, and it holds no connection that another one could have.
        var count = 0
        for await _ in cancelled.stream {
            count += 1
            if count == 3 { break }
        }
        await directory.close()
    }

    @Test func aDatabaseThatAnswersIsHeard() async throws {
        let pair = try await Pair()
        let directory = try await pair.open(pair.behind, HeldClock().neverEnding())
        _ = try await directory.lookup(LookupRequest(handle: pair.alice.handle, knownSize: 0))
        let refused = try await refusal { () async throws -> Int in
            try await directory.read { _ in throw DirectoryError.refused(.notFound) }
        }
        #expect(refused == .notFound)
        await directory.close()
    }

    /// Anyone can name any size: those who wait take memory, and no more of it than this.
    @Test func moreWaitingClientsThanABoundAreToldAtOnce() async throws {
        let clock = HeldClock()
        let frontEnd = clock.neverEnding()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<FrontEnd.maximumWaitingCount {
                group.addTask {
                    _ = await frontEnd.awaits {
                        let (never, keep) = AsyncStream.makeStream(of: Void.self)
                        for await _ in never {}
                        withExtendedLifetime(keep) {}
                        return false
                    }
                }
            }
            for _ in 0..<FrontEnd.maximumWaitingCount { await clock.awaitWait() }
            #expect(await !frontEnd.awaits { true })
            group.cancelAll()
        }
        #expect(await frontEnd.awaits { true })
    }
}
