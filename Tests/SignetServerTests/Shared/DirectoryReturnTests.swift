// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
import LogWitness
import NoteStore
import ObjectStores
import ObjectTesting
import SQLStores
import SharedLog
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// A directory goes to engines that several machines share, and back to the files of one.
@Suite(
    .serialized,
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("moving back"), "There is no PostgreSQL 15 here."))
struct DirectoryReturnTests {
    private func withMoved(_ body: (MovingDirectory) async throws -> Void) async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await body(directory)
        }
    }

    /// What a move fails of.
    private func failure(
        _ directory: MovingDirectory,
        _ interruption: @escaping @Sendable (DirectoryReturn.Step) throws(MoveError) -> Void = {
            (_) throws(MoveError) in
        }
    ) async throws -> MoveError? {
        do { try await directory.giveBack(interruption) } catch { return try #require(error as? MoveError) }
        return nil
    }

    private func expectServing(_ directory: MovingDirectory) async throws -> TreeHead {
        let stored = try await StoredDirectory.open(directory.data, logger: silent)
        let head = stored.directory.log.published.head
        await stored.directory.close()
        return head
    }

    // MARK: Attacks

    /// Whoever holds the backups gives back an older one, and it is moved: the engines would sign another log than the one that people have
    /// seen.
    @Test func aRestoredCopyThatNobodyConfirmsIsNotMoved() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            let head = try LogCopy(of: data.log).signedHead().head
            FileManager.default.createFile(atPath: data.restoredMark, contents: nil)
            do {
                try await directory.move()
                Issue.record("It was moved.")
            } catch {
                guard case .rollback(let fault)? = error as? MoveError else {
                    Issue.record("\(error)")
                    return
                }
                #expect(fault == .restoredAndUnconfirmed(head))
            }
            #expect(!FileManager.default.fileExists(atPath: data.engines))
            var guarding = RollbackGuard()
            guarding.acceptsRestored = true
            try await directory.move(guarding: guarding)
            #expect(!FileManager.default.fileExists(atPath: data.restoredMark), "the operator has vouched for it")
        }
    }

    // MARK: There and back

    @Test func aDirectoryThatCameBackIsTheSame_andGoesThereAgain() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            let before = try directory.rows(onFiles: true)
            try await directory.move()
            #expect(try directory.rows(onFiles: false) == before)
            try await directory.lead()
            try await directory.giveBack()
            // A process that leads makes an epoch and notes how far it has compared.
            let (old, new) = (Set(before.filter(isOfPeople)), Set(try directory.rows(onFiles: true).filter(isOfPeople)))
            #expect(old == new)
            #expect(try directory.bodiesOnFiles() == directory.pieces)
            let head = try await expectServing(directory)
            try await directory.move(isRepeated: true)
            #expect(!FileManager.default.fileExists(atPath: data.keys + "/shared-secret.next"), "nobody asked for it")
            #expect(try directory.sql("SELECT size >= \(head.size) FROM log.log") == "t")
            try await directory.lead()
            try await directory.giveBack()
            #expect(try await expectServing(directory).size > head.size)
            #expect(try directory.bodiesOnFiles() == directory.pieces)
        }
    }

    /// One command may remove all rows of a table that an interrupted move has left, and another one have it sorted.
    @Test func noCommandOfAMoveHasALimit() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data, patience: .zero)
            try await directory.move()
            try await directory.giveBack()
            try await directory.move(isRepeated: true)
            #expect(FileManager.default.fileExists(atPath: data.engines))
        }
    }

    /// In a cluster nobody makes another one: no machine would know which of two is in use.
    @Test func aLoginKeyThatNoMachineHasIsMadeAnewOnFiles() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await directory.lead()
            try await openNotesAtAFrontEnd(directory)
            let former = try Data(contentsOf: URL(filePath: data.loginKey))
            try FileManager.default.removeItem(atPath: data.loginKey)
            await #expect(throws: StoredDirectoryError.self) {
                try await StoredNotes.replaceLoginKeys(of: data, logger: silent)
            }
            try await directory.giveBack()
            #expect(try directory.sql("SELECT string_agg(name, ' ') FROM limits.secrets") == "shared")
            try await StoredNotes.replaceLoginKeys(of: data, logger: silent)
            _ = try await expectServing(directory)
            try await directory.move(isRepeated: true)
            // A machine of the cluster before, which has kept its files, starts first.
            let replacement = try Data(contentsOf: URL(filePath: data.loginKey))
            try former.write(to: URL(filePath: data.loginKey))
            await #expect(throws: StoredNotesError.loginKeyDiffers) { try await openNotesAtAFrontEnd(directory) }
            try replacement.write(to: URL(filePath: data.loginKey))
            try await openNotesAtAFrontEnd(directory)
            try await directory.lead()
        }
    }

    private func openNotesAtAFrontEnd(_ directory: MovingDirectory) async throws {
        let secret = try #require(try StoredDirectory.readSharedSecret(directory.data, isNeeded: true))
        let notes = try await StoredNotes.open(
            directory.data, sharing: secret, in: directory.engines(), logger: silent)
        await notes.close()
    }

    private func isOfPeople(_ row: String) -> Bool {
        (row.hasPrefix("directory ") || row.hasPrefix("notes "))
            && !["directory meta ", "notes marks ", "notes roots ", "notes positions "].contains { row.hasPrefix($0) }
    }

    @Test func theLogThatCameBackHasTheRootThatTheEnginesHad() async throws {
        try await withMoved { directory in
            try await directory.lead()
            let engines = try directory.engines()
            let profile = try StoredDirectory.readProfile(directory.data)
            let origin = try #require(profile.trust.policy.logs.first?.name)
            let size = try directory.sql("SELECT size FROM log.log")
            let root = try directory.sql("SELECT encode(root, 'hex') FROM log.log")
            let report = try await directory.giveBack()
            #expect("\(report.entries)" == size)
            let replay = FrameReplay(sealing: nil, shown: 0)
            try LogCopy(of: directory.data.log).forEachFrame { (frame) throws(LogOpenError) in try replay.take(frame) }
            let bytes = try #require(replay.root(size: replay.size)).bytes
            #expect(bytes.map { String(format: "%02x", $0) }.joined() == root)
            let log = try engines.log(profile.trust.policy, origin)
            #expect(try await log.movedTo() != nil)
            log.database.close()
        }
    }

    @Test func noProcessOfTheClusterLeadsOrServesWhatHasGone() async throws {
        try await withMoved { directory in
            try await directory.lead()
            let file = try String(contentsOfFile: directory.data.engines, encoding: .utf8)
            try directory.sql("CREATE TABLE public.before AS SELECT * FROM log.log")
            try await directory.giveBack()
            try file.write(toFile: directory.data.engines, atomically: true, encoding: .utf8)
            let error = try #require(try await directory.leadingError())
            #expect("\(error)".contains("movedAway"))
            // Nor one that has a database of before.
            try directory.sql("INSERT INTO log.log SELECT * FROM public.before")
            let again = try #require(try await directory.leadingError())
            #expect("\(again)".contains("movedAway"))
            #expect(try directory.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'notes'") == "0")
        }
    }

    // MARK: Interruptions

    @Test(arguments: DirectoryReturn.Step.allCases)
    func anInterruptedMoveIsCompletedByTheNext(after step: DirectoryReturn.Step) async throws {
        try await withMoved { directory in
            try await directory.lead()
            let error = try await failure(directory) { (reached) throws(MoveError) in
                if reached == step { throw .interrupted }
            }
            guard case .interrupted = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(!FileManager.default.fileExists(atPath: directory.data.records))
            switch step {
            case .claimed, .tables, .ready: try await directory.lead()
            case .takenAway, .burnt: #expect(try await directory.leadingError() != nil)
            }
            try await directory.giveBack()
            _ = try await expectServing(directory)
            #expect(try directory.bodiesOnFiles() == directory.pieces)
            #expect(!FileManager.default.fileExists(atPath: directory.data.path + "/return.ready"))
            guard case .onFiles = try await failure(directory) else {
                Issue.record("it moved twice")
                return
            }
        }
    }

    /// The commit of the last transaction either happens, with a word of the server's beside its success, or breaks off.
    @Test(arguments: [(true, "RAISE WARNING 'alone'"), (false, "PERFORM pg_terminate_backend(pg_backend_pid())")])
    func whetherTheDatabaseLetGoOfTheLogIsNotKnown_andTheNextMoveFindsOut(hasLetGo: Bool, end: String) async throws {
        try await withMoved { directory in
            try await directory.lead()
            try directory.sql(
                """
                CREATE FUNCTION public.ending() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(end); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER ending AFTER INSERT ON log.moved DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION public.ending()
                """)
            guard case .outcomeUnknown = try await failure(directory) else {
                Issue.record("it was taken for known")
                return
            }
            #expect(try directory.sql("SELECT count(*) FROM log.log") == (hasLetGo ? "0" : "1"))
            #expect(!FileManager.default.fileExists(atPath: directory.data.records))
            try directory.sql("DROP FUNCTION public.ending CASCADE")
            try await directory.giveBack()
            _ = try await expectServing(directory)
            #expect(try directory.bodiesOnFiles() == directory.pieces)
        }
    }

    // MARK: Attacks

    @Test(arguments: [
        ("notes", "UPDATE notes.accounts SET bytes = bytes - 1", "accounts"),
        ("directory", "DELETE FROM directory.devices", "devices"),
        ("notes", "UPDATE notes.chunks SET number = number + 7 WHERE number = 1", "chunks"),
    ])
    func aRowThatChangesAfterItWasCopiedIsRefusedByName(schema: String, change: String, table: String) async throws {
        try await withMoved { directory in
            let error = try await failure(directory) { (step) throws(MoveError) in
                if step == .ready { _ = try? directory.sql(change) }
            }
            guard case .tables(schema, .differs(table: table)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try await directory.lead()
        }
    }

    @Test func anObjectThatIsNotWhatWasPutIsRefusedByName() async throws {
        try await withMoved { directory in
            try await directory.lead()
            let path = try #require(try await directory.objects.list("blob/").first)
            let bytes = try #require(try await directory.objects.get(path)).bytes
            for change in [[], bytes.dropLast(), bytes + [0], bytes.map { $0 ^ 1 }] as [[UInt8]] {
                try await directory.objects.remove(path)
                try await directory.objects.putImmutable(change, at: path)
                guard case .noteFile(.differs(path: path)) = try await failure(directory) else {
                    Issue.record("\(change.count) bytes were taken")
                    return
                }
            }
            try await directory.objects.remove(path)
            guard case .noteFile(.missing(path: path)) = try await failure(directory) else {
                Issue.record("a missing object was not missed")
                return
            }
            // The operator goes on without it, and nothing else is lost.
            try await directory.giveBack(acceptsLoss: true)
            #expect(try directory.bodiesOnFiles().filter { !$0.isEmpty }.count == directory.pieces.count - 1)
            _ = try await expectServing(directory)
        }
    }

    @Test func aFrameThatWasChangedIsRefusedByItsPlace() async throws {
        try await withMoved { directory in
            try directory.sql("UPDATE log.frames SET payload = payload || '\\x00'::bytea WHERE first = 0")
            guard case .candidacy(.fault(.frameDamaged(firstIndex: 0))) = try await failure(directory) else {
                Issue.record("it was taken")
                return
            }
        }
    }

    @Test func aDatabaseThatIsBehindWhatWasSignedIsRefused() async throws {
        try await withMoved { directory in
            try directory.sql("CREATE TABLE log.old AS SELECT * FROM log.log")
            try await directory.lead()
            try directory.sql(
                """
                DELETE FROM log.frames USING log.old WHERE first >= old.size;
                UPDATE log.log SET size = old.size, root = old.root, published_size = old.published_size,
                    published_root = old.published_root, note = old.note FROM log.old;
                """)
            guard case .candidacy(.ended(.conflict(.databaseBehind))) = try await failure(directory) else {
                Issue.record("it was taken")
                return
            }
        }
    }

    /// Database and bucket were both put back: only a witness and this machine know what was shown, and the next start on the files would
    /// find it out when `signed` is burnt.
    @Test(arguments: [true, false])
    func enginesThatAreBehindWhatOthersHaveSeenAreNotTakenAway(isWitnessed: Bool) async throws {
        try await withMoved { directory in
            try await directory.lead()
            let digits = try #require(try directory.sql("SELECT size FROM log.log"))
            let size = try #require(UInt64(digits))
            let seen: SeenHead
            if isWitnessed {
                let name = try #require(Policy.Name(Array("w".utf8)))
                seen = SeenHead(TreeHead(size: size + 1, root: .emptyTree), in: .witness(name))
            } else {
                let profile = try StoredDirectory.readProfile(directory.data)
                let keys = try StoredDirectory.readKeys(directory.data, profile)
                let configuration = LogConfiguration(signer: keys.log, cosigners: keys.cosigners, clock: { 1 })
                let shown = try configuration.sign(TreeHead(size: size + 1, root: .emptyTree))
                try Data(shown.bytes).write(to: URL(filePath: directory.data.state + "/checkpoint.published"))
                seen = SeenHead(shown.head, in: .thisMachine)
            }
            do {
                try await directory.giveBack(witnessed: isWitnessed ? [seen] : [])
                Issue.record("it was moved")
            } catch {
                guard case .candidacy(.ended(.conflict(.databaseBehind(seen: seen, _))))? = error as? MoveError else {
                    Issue.record("\(error)")
                    return
                }
            }
            #expect(!FileManager.default.fileExists(atPath: directory.data.path + "/return"))
            #expect(try directory.sql("SELECT count(*) FROM log.log") == "1")
            try? FileManager.default.removeItem(atPath: directory.data.state)
            try await directory.giveBack()
        }
    }

    /// A witness that is ahead would not have been asked.
    @Test func withRootsOfWitnessesThatCannotBeUsedNothingIsTakenAway() async throws {
        try await withMoved { directory in
            try await directory.lead()
            do {
                try await directory.giveBack(witnessRoots: Array("no certificate".utf8))
                Issue.record("it was moved")
            } catch {
                guard case .stored(.witnessRoots(.malformed))? = error as? MoveError else {
                    Issue.record("\(error)")
                    return
                }
            }
            #expect(!FileManager.default.fileExists(atPath: directory.data.path + "/return"))
            #expect(try directory.sql("SELECT count(*) FROM log.log") == "1")
        }
    }

    // MARK: Others

    @Test func whileAnotherProcessHasTheLeaseNothingIsTakenAway() async throws {
        try await withMoved { directory in
            try directory.sql(
                "INSERT INTO log.lease VALUES (1, 'another', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 5000)"
            )
            guard case .candidacy(.ended(.othersLead)) = try await failure(directory) else {
                Issue.record("it was taken")
                return
            }
            #expect(try directory.sql("SELECT count(*) FROM log.log") == "1")
        }
    }

    @Test func whoHasClaimedTheLogMeanwhileKeepsIt() async throws {
        try await withMoved { directory in
            let error = try await failure(directory) { (step) throws(MoveError) in
                if step == .ready { _ = try? directory.sql("UPDATE log.log SET generation = generation + 1") }
            }
            guard case .candidacy(.ended(.othersLead)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try directory.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'notes'") == "1")
            try await directory.lead()
        }
    }

    @Test func aProcessThatIsStillConnectedIsNoticed() async throws {
        try await withMoved { directory in
            let notes = try directory.openNotes()
            _ = try await notes.usedByteCount(of: Handle(typed: Array("alice@example.org".utf8)))
            guard case .othersConnected(1) = try await failure(directory) else {
                Issue.record("it was not")
                return
            }
            notes.close()
            try await directory.giveBack()
        }
    }

    @Test func filesThatAreThereAreNotTouched() async throws {
        try await withMoved { directory in
            let path = directory.data.recovery
            try Data([1]).write(to: URL(filePath: path))
            guard case .present(path: path) = try await failure(directory) else {
                Issue.record("they were")
                return
            }
            #expect(FileManager.default.contents(atPath: path) == Data([1]))
        }
    }

    @Test func theEndOfAnAccountIsLoggedBefore() async throws {
        try await withMoved { directory in
            try directory.sql("INSERT INTO directory.waiting (label, version) VALUES ('\\x00'::bytea, 2)")
            guard case .endsWaiting(1) = try await failure(directory) else {
                Issue.record("it was left out")
                return
            }
        }
    }

    @Test func aStateThatWaitsIsLoggedByTheOneMachine() async throws {
        try await withMoved { directory in
            try directory.sql(
                "INSERT INTO directory.waiting (state) SELECT MIN(id) FROM directory.states")
            try directory.sql("UPDATE directory.meta SET checked_state = 1000")
            try await directory.giveBack()
            let path = directory.data.records + "/directory.sqlite"
            let row = try SQLiteDatabase.read(path) { try $0.row("SELECT checked_state FROM meta") }
            #expect(try row?.integer(0) == 0)
            _ = try await expectServing(directory)
        }
    }
}
