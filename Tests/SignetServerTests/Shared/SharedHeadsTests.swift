// SPDX-License-Identifier: Apache-2.0

import EngineLab
import KeyDirectory
import KeyTransparency
import LogEngine
import NoteLog
import NoteStore
import NotesAPI
import ProtocolTesting
import SignetAPI
import Synchronization
import Testing
import TransparencyLog

@testable import SignetServer

/// What a front end proves of the positions of notes that the process that leads has logged.
@Suite(
    .serialized,
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("positions of notes at front ends"),
        "There is no PostgreSQL 15 here.")
)
struct SharedHeadsTests {
    /// The attack: a note was in the map when its root was logged, and is erased before a front end has made the map.
    @Test(.timeLimit(.minutes(3))) func aNoteThatWasErasedTakesNobodysProofs() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            let (alice, mallory) = (try NoteWriter("alice"), try NoteWriter("mallory"))
            let draft = try NoteDraft(by: alice)
            let notes = try directory.openNotes()
            _ = try await notes.push(NotePushes([draft.creation()]), by: alice.author)
            _ = try await notes.push(NotePushes([NoteDraft(by: mallory).creation()]), by: mallory.author)
            // Bodies become objects after the root was logged.
            try await directory.lead()
            try await notes.erase(mallory.handle, keepsPlace: true)

            let (stored, _) = try await StoredDirectory.serve(data, try directory.engines(), logger: silent) {}
            let logged = LoggedNotes(
                notes, in: stored.directory, isShared: true, every: 900, clock: ServerClock.system.time, logger: silent)
            let request = LoggedHeadsRequest(size: stored.directory.log.published.head.size, notes: [draft.note])
            guard case .heads(_, let heads) = try await logged.heads(request, for: alice.handle) else {
                throw Missing()
            }
            #expect(try unwrapped(heads[0]).head?.control.head == draft.state.head)
            notes.close()
            await stored.directory.close()
        }
    }
    /// The next root may be late: it is not due before this one is half an hour old, and then takes as long as the witnesses do.
    @Test(.timeLimit(.minutes(3))) func aFrontEndProvesFromARootForAsLongAsClientsBelieveIt() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            let alice = try NoteWriter("alice")
            let draft = try NoteDraft(by: alice)
            let notes = try directory.openNotes()
            _ = try await notes.push(NotePushes([draft.creation()]), by: alice.author)
            var options = Sequencer.Options()
            options.heartbeat = 1800
            // Bodies become objects after the root was logged.
            try await directory.lead(options) {
                try directory.sql("SELECT count(*) FROM notes.chunks WHERE object IS NULL") == "0"
            }
            let made = try await unwrapped(notes.root(number: 1)).time

            let (stored, _) = try await StoredDirectory.serve(data, try directory.engines(), logger: silent) {}
            let time = Mutex(made)
            let logged = LoggedNotes(
                notes, in: stored.directory, isShared: true, every: max(stored.directory.heartbeat, 1),
                clock: { time.withLock { $0 } }, logger: silent)
            let request = LoggedHeadsRequest(size: stored.directory.log.published.head.size, notes: [draft.note])
            for (age, isProven) in [(901, true), (3539, true), (3540, false)] as [(UInt64, Bool)] {
                time.withLock { $0 = made + age }
                let answer = try await logged.heads(request, for: alice.handle)
                #expect((answer != .anotherEpoch) == isProven, "after \(age) seconds")
            }
            notes.close()
            await stored.directory.close()
        }
    }
}
