// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
import Logging
import NoteLog
import NoteStore
import NotesAPI
import ProtocolTesting
import SignetAPI
import Synchronization
import Testing
import TransparencyLog

@testable import SignetServer

/// The roots of the notes in a directory's log, which are logged at intervals, and what is proven from them.
@Suite struct LoggedNotesTests {
    /// Runs `body` beside a directory and a store with a note of alice's.
    private func with(
        _ body: (StoredDirectory, NoteArchive, DataDirectory, NoteDraft, NoteWriter) async throws -> Void
    ) async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let store = try NoteArchive(at: data.path + "/notes.sqlite", clock: { 0 }, logger: silent)
            let alice = try NoteWriter("alice")
            let draft = try NoteDraft(by: alice)
            _ = try await store.push(NotePushes([try draft.creation()]), by: alice.author)
            try await body(stored, store, data, draft, alice)
            store.close()
            await stored.directory.close()
        }
    }

    @Test func aRootIsLoggedAtEachIntervalEvenIfUnchanged() async throws {
        try await with { stored, store, _, _, _ in
            let time = Mutex<UInt64>(ServerClock.system.time())
            let logged = LoggedNotes(
                store, in: stored.directory, every: 900, clock: { time.withLock { $0 } }, logger: silent)
            for (seconds, version) in [(0, 1), (1, 1), (898, 1), (1, 2), (899, 2), (1, 3)] as [(UInt64, UInt64)] {
                time.withLock { $0 += seconds }
                await logged.keepUp()
                #expect(stored.directory.version(of: .notes) == version)
            }
        }
    }

    /// An idle log may end an epoch nearly once an hour. A root that is as old as that is one that clients refuse before the next is shown.
    @Test func aRootIsLoggedEveryHalfHourAtLeast() async throws {
        try await with { stored, store, _, _, _ in
            let time = Mutex<UInt64>(ServerClock.system.time())
            let logged = LoggedNotes(
                store, in: stored.directory, every: 3500, clock: { time.withLock { $0 } }, logger: silent)
            for (seconds, version) in [(0, 1), (1799, 1), (1, 2), (1799, 2)] as [(UInt64, UInt64)] {
                time.withLock { $0 += seconds }
                await logged.keepUp()
                #expect(stored.directory.version(of: .notes) == version)
            }
        }
    }

    @Test func noRootIsLoggedBeforeTheFirstNote() async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let store = try NoteArchive(at: data.path + "/notes.sqlite", clock: { 0 }, logger: silent)
            await LoggedNotes(
                store, in: stored.directory, every: 900, clock: ServerClock.system.time, logger: silent
            ).keepUp()
            #expect(stored.directory.version(of: .notes) == 0)
            store.close()
            await stored.directory.close()
        }
    }

    @Test func theRootIsProvenInItsEpochAndToMembersOnly() async throws {
        try await with { stored, store, _, draft, alice in
            let directory = stored.directory
            let logged = LoggedNotes(
                store, in: directory, every: 900, clock: ServerClock.system.time, logger: silent)
            let before = directory.log.published.head.size
            let early = LoggedHeadsRequest(size: before, notes: [draft.note])
            #expect(try await logged.heads(early, for: alice.handle) == .anotherEpoch, "there was none then")
            let request = LoggedHeadsRequest(size: directory.log.published.head.size, notes: [draft.note])
            guard case .heads(let root, let heads) = try await logged.heads(request, for: alice.handle) else {
                throw Missing()
            }
            let lookup = try await directory.lookup(LookupRequest(handle: alice.handle, knownSize: 0))
            let epoch = try LookupVerifier(trust: stored.profile.trust).verify(
                lookup.encoded, for: alice.handle, knowing: nil, at: ServerClock.system.time()
            ).epoch
            let verified = try root.verify(in: epoch, at: ServerClock.system.time())
            let head = try unwrapped(heads[0]).verify(draft.note, in: verified).head
            #expect(head?.control.head == draft.state.head)
            let mallory = try NoteWriter("mallory")
            guard case .heads(_, let none) = try await logged.heads(request, for: mallory.handle) else {
                throw Missing()
            }
            #expect(none == [nil])
        }
    }

    /// What the next one has put down, it would take for something of before itself.
    @Test func whoLeadsNoMorePutsDownNothing() async throws {
        try await with { stored, store, _, _, _ in
            func keepUp() async {
                await LoggedNotes(
                    store, in: stored.directory, isShared: true, every: 900, clock: ServerClock.system.time,
                    logger: silent
                ).keepUp()
            }
            await keepUp()
            let first = try await store.root(number: 1)?.time
            #expect(first != nil, "it led")
            await stored.directory.close()
            await keepUp()
            let second = try await store.root(number: 2)?.time
            #expect(second == nil)
        }
    }

    /// Only a process that has just begun to lead asks whether it does, and while too few witnesses cosign it learns nothing: that is no failure
    /// that somebody has to look into.
    @Test func belowTheQuorumTheFirstRootWaitsWithoutAWord() async throws {
        try await with { stored, store, data, _, _ in
            await stored.directory.close()
            let (witness, lines) = (AbsentWitness(), Lines())
            let directory = try await Directory.open(
                at: data.records, keys: StoredDirectory.readKeys(data, stored.profile), clock: ServerClock.system.time,
                logger: silent, witnessing: witness)
            let logger = Logger(label: "test") { _ in
                LogfmtOutput(level: .trace, now: { 784_111_777 }) { line in
                    lines.all.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
                }
            }
            let logged = LoggedNotes(
                store, in: directory, isShared: true, every: 900, clock: ServerClock.system.time, logger: logger)
            for _ in 0..<2 { await logged.keepUp() }
            #expect(lines.all.withLock(\.self) == [])
            #expect(directory.version(of: .notes) == 0)
            witness.isAway.withLock { $0 = false }
            await logged.keepUp()
            #expect(directory.version(of: .notes) == 1)
            #expect(lines.all.withLock(\.self) == [])
            await directory.close()
        }
    }

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    /// The only one that has to cosign.
    private final class AbsentWitness: CheckpointWitnessing {
        let isAway = Mutex(true)

        func cosignatures(
            on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
        ) async throws(WitnessShortfall) -> [NoteSignature] {
            guard !isAway.withLock(\.self) else { throw WitnessShortfall(missing: []) }
            return []
        }
    }

    @Test func theNextProcessLogsTheNextVersion() async throws {
        try await with { stored, store, data, _, _ in
            let first = LoggedNotes(
                store, in: stored.directory, every: 900, clock: ServerClock.system.time, logger: silent)
            await first.keepUp()
            await stored.directory.close()
            let again = try await StoredDirectory.open(data, logger: silent)
            let second = LoggedNotes(
                store, in: again.directory, every: 900, clock: ServerClock.system.time, logger: silent)
            await second.keepUp()
            #expect(again.directory.version(of: .notes) == 2, "the log and the database agree")
            await again.directory.close()
        }
    }
}
