// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
import NoteStore
import ObjectStores
import ObjectTesting
import SQLStores
import SharedLog
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// The log's key and the witnesses change in engines that several machines share.
@Suite(
    .serialized,
    .enabled(
        if: PostgresLab.isPresent || PostgresLab.sayWhatIsLeftOut("changes of keys"), "There is no PostgreSQL 15 here.")
)
struct SharedRotationTests {
    /// A log that has been led, with nobody in it.
    func withShared(
        _ objects: MemoryObjects = MemoryObjects(), _ body: (MovingDirectory) async throws -> Void
    ) async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data, objects: objects)
            try await directory.move()
            try await directory.lead(isFilled: false)
            try await body(directory)
        }
    }

    enum Change: CaseIterable {
        case key
        case witnesses

        func run(_ rotation: DirectoryKeyRotation, _ number: Int = 0) async throws -> DirectoryProfile? {
            switch self {
            case .key: try await rotation.rotateLogKey(untried: true)
            case .witnesses: try await rotation.changeWitnesses(to: Self.lines(number), untried: true)
            }
        }

        /// The own clock, and another witness that nobody has to ask.
        private static func lines(_ number: Int) throws -> [UInt8] {
            let signer = try NoteSigner(
                name: KeyName(Array("witness.example/w\(number)".utf8)), algorithm: .cosignatureV1,
                seed: [UInt8](repeating: UInt8(number), count: 32))
            let key = String(decoding: signer.verifierKey.encoded, as: UTF8.self)
            return Array("witness w \(key)\ngroup seen any clock w\nquorum seen\n".utf8)
        }
    }

    /// Otherwise front ends would have none to show, and clients would take the directory for one that hides them.
    @Test func thePinsAreSignedByTheLogsNewKey() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            func pins(where holds: (SignedNote) throws -> Bool) async throws -> SignedNote? {
                for _ in 0..<10 {
                    if let bytes = try await directory.objects.get("pins/1")?.bytes {
                        let note = try SignedNote(decoding: bytes)
                        if try holds(note) { return note }
                    }
                    try await directory.lead()
                }
                return nil
            }
            func areSigned(_ note: SignedNote) throws -> Bool {
                let log = try #require(try profile(directory.data).trust.policy.logs.first)
                return note.signatures.contains { (try? log.verifyLogSignature($0, of: note.text)) != nil }
            }
            let before = try #require(try await pins(where: areSigned))
            _ = try await Change.key.run(directory.rotation())
            #expect(try !areSigned(before))
            let after = try #require(try await pins(where: areSigned), "they are not signed again")
            #expect(after.text == before.text)
        }
    }

    private func profile(_ data: DataDirectory) throws -> DirectoryProfile { try StoredDirectory.readProfile(data) }

    private func note(_ directory: MovingDirectory) throws -> SignedNote {
        let hexadecimal = try #require(try directory.sql("SELECT encode(note, 'hex') FROM log.log"))
        let digits = Array(hexadecimal.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return try SignedNote(decoding: bytes)
    }

    /// What a client with an older file for clients follows to.
    private func followed(_ old: DirectoryProfile, _ data: DataDirectory) throws -> VerifiedSuccession {
        let bytes = try #require(FileManager.default.contents(atPath: data.history + "/succession"))
        return try #require(
            try SuccessionVerifier(trust: old.trust).follow(SuccessionChain(decoding: Array(bytes))))
    }

    /// Whether this is how somebody ends whose files are not those of the log.
    private func isChanged(_ error: (any Error)?) -> Bool {
        switch error as? StoredDirectoryError {
        case .rotationInterrupted: true
        case .shared(let setup):
            switch setup.cause {
            case .directory(.log(.fault(.keysChanged))), .directory(.candidacy(.fault(.keysChanged))): true
            default: false
            }
        default: false
        }
    }

    private func servingError(_ directory: MovingDirectory, at data: DataDirectory) async throws -> (any Error)? {
        do {
            let (stored, _) = try await StoredDirectory.serve(data, try directory.engines(), logger: silent) {}
            await stored.directory.close()
            return nil
        } catch { return error }
    }

    // MARK: What is to hold

    /// So `--accept-clock` has nothing to accept there. On one machine the same change is refused.
    @Test(arguments: Change.allCases)
    func noClockIsComparedWithAnOldLog_otherThanOnOneMachine(change: Change) async throws {
        try await withDataDirectory { data in
            let keys = try StoredDirectory.readKeys(data, profile(data))
            let past = TestPerson.now - LogClock.longestPause - 86_400
            try FileManager.default.removeItem(atPath: data.records)
            try await Directory.create(at: data.records, keys: keys, clock: { past }, logger: silent)
            let old = try await Directory.open(at: data.records, keys: keys, clock: { past }, logger: silent)
            try await old.republish()
            await old.close()
            await #expect {
                _ = try await change.run(DirectoryKeyRotation(data, logger: silent))
            } throws: { error in
                if case KeyRotationError.stored(.clockAhead) = error { true } else { false }
            }
            let directory = try MovingDirectory(data)
            try await directory.move()
            let changed = try await change.run(directory.rotation())
            #expect(try profile(data) == changed)
        }
    }

    /// Alice and Bob are found under the new key, by whoever has followed there from the old one.
    @Test func theLogGoesOnWithItsNextKey_andAClientThatSleptFollows() async throws {
        try await withDataDirectory { data in
            let directory = try MovingDirectory(data)
            try await directory.fill()
            try await directory.move()
            try await directory.lead()
            let (old, next) = (try profile(data), try directory.rotation().announceLogKey())
            for number in 1...2 {
                let changed = try await directory.rotation().rotateLogKey()
                #expect(try profile(data) == changed)
                #expect(number == 2 || changed.trust.policy.logs == [next])
                try await directory.lead(isFilled: false)
            }
            let succession = try followed(old, data)
            #expect(succession.changes.count == 2 && !succession.weakensQuorum)
            #expect(succession.trust.policy == (try profile(data)).trust.policy)
            let (stored, _) = try await StoredDirectory.serve(data, try directory.engines(), logger: silent) {}
            #expect(try stored.directory.succession()?.links.count == 2)
            for name in ["alice", "bob"] {
                let request = LookupRequest(handle: try Handle(typed: Array("\(name)@example.org".utf8)), knownSize: 0)
                let answer = try await stored.directory.lookup(request)
                let found = try LookupVerifier(trust: succession.trust)
                    .verify(
                        answer.encoded, for: request.handle, knowing: nil, at: UInt64(Date().timeIntervalSince1970))
                guard case .registered = found else {
                    Issue.record("\(name) is gone")
                    return
                }
            }
            await stored.directory.close()
        }
    }

    @Test func theLogGoesOnWithOtherWitnesses() async throws {
        try await withShared { directory in
            let old = try profile(directory.data)
            let changed = try #require(try await Change.witnesses.run(directory.rotation()))
            #expect(try followed(old, directory.data).trust.policy == changed.trust.policy)
            try await directory.lead(isFilled: false)
            #expect(throws: Never.self) { try changed.trust.policy.verify(note(directory)) }
            // The same again changes nothing.
            let generation = try directory.sql("SELECT generation FROM log.log")
            #expect(try await Change.witnesses.run(directory.rotation()) == nil)
            #expect(try directory.sql("SELECT generation FROM log.log") == generation)
        }
    }

    /// Whoever is told there that nothing has to be changed would go on with these files, and hand them on.
    @Test(arguments: Change.allCases)
    func onAMachineWithTheFilesOfBefore_theSameWitnessesAreNoAnswer(change: Change) async throws {
        try await withShared { directory in
            _ = try await Change.witnesses.run(directory.rotation())
            let old = try directory.copyOfMachine("old")
            // It is complete, and nobody has led since.
            _ = try await change.run(directory.rotation(), 1)
            await #expect { _ = try await Change.witnesses.run(directory.rotation(at: old)) } throws: { error in
                guard case KeyRotationError.stored(let error) = error else { return false }
                return isChanged(error)
            }
        }
    }

    /// What could be put in its place is signed by the next key or for other witnesses: nobody would follow who trusts what was before.
    @Test(arguments: Change.allCases) func aProofThatIsLostIsNotMadeAnew(change: Change) async throws {
        try await withShared { directory in
            let old = try profile(directory.data)
            _ = try await change.run(directory.rotation())
            let path = directory.data.history + "/succession"
            for isLed in [false, true] {
                if isLed { try await directory.lead(isFilled: false) }
                let generation = try directory.sql("SELECT generation FROM log.log")
                try FileManager.default.moveItem(atPath: path, toPath: path + ".kept")
                // The list in use, after a change of the witnesses, and another one.
                for number in 0...1 {
                    await #expect("\(isLed), \(number)") {
                        _ = try await Change.witnesses.run(directory.rotation(), number)
                    } throws: { error in
                        if case KeyRotationError.stored(.successionOutdated) = error { true } else { false }
                    }
                }
                #expect(!exists(path) && !exists(directory.data.formerProfile))
                #expect(try directory.sql("SELECT generation FROM log.log") == generation)
                try FileManager.default.moveItem(atPath: path + ".kept", toPath: path)
            }
            let changed = try #require(try await Change.witnesses.run(directory.rotation(), 1))
            #expect(try followed(old, directory.data).trust.policy == changed.trust.policy)
        }
    }

    // MARK: Interruptions

    /// Whoever is told of the witnesses alone would not copy the log's key.
    @Test func aChangeOfTheKeyThatAChangeOfWitnessesCompletesIsNamed() async throws {
        try await withShared { directory in
            _ = try await Change.witnesses.run(directory.rotation())
            let interrupted = directory.rotation { (reached) throws(KeyRotationError) in
                if reached == .trusted { throw .interrupted }
            }
            await #expect(throws: KeyRotationError.self) { _ = try await Change.key.run(interrupted) }
            let rotation = directory.rotation()
            #expect(rotation.hasInterruptedKeyChange)
            #expect(try await Change.witnesses.run(rotation) == nil, "no witness was changed")
            #expect(!rotation.hasInterruptedKeyChange)
            try await directory.lead(isFilled: false)
            await #expect(throws: KeyRotationError.self) { _ = try await Change.witnesses.run(interrupted, 1) }
            #expect(!rotation.hasInterruptedKeyChange, "it is one of witnesses")
            #expect(try await Change.witnesses.run(rotation, 1) != nil)
        }
    }

    /// After each step, neither the machine itself nor one with the files of before leads, or serves once the change is published; the same
    /// again completes it, and a client follows all the way. Afterwards the old files still do nothing.
    @Test(arguments: Change.allCases)
    func anInterruptedChangeIsCompletedByTheSameAgain(change: Change) async throws {
        try await withInterruptions { directory, interruptions in
            let first = try profile(directory.data)
            for (number, step) in Stop.allCases.enumerated() {
                let (before, old) = (try profile(directory.data), try directory.copyOfMachine("old"))
                try await interruptions.interrupt(change, step, of: directory, number)
                #expect(isChanged(try await directory.leadingError()), "\(step): this machine leads")
                for data in [old, directory.data] {
                    let error = try await servingError(directory, at: data)
                    #expect(step == .committed ? error == nil : isChanged(error), "\(step): serves")
                }
                #expect(isChanged(try await directory.leadingError(at: old)), "\(step): the old files lead")
                let changed = try #require(try await change.run(directory.rotation(), number))
                let stored = try profile(directory.data)
                #expect(changed != before && changed == stored)
                #expect(throws: Never.self) { try changed.trust.policy.verify(note(directory)) }
                #expect(!exists(directory.data.formerProfile) && !exists(directory.data.keys + "/log.key.next"))
                #expect(isChanged(try await directory.leadingError(at: old)), "\(step): the old files lead later")
            }
            let succession = try followed(first, directory.data)
            #expect(succession.changes.count == Stop.allCases.count)
            #expect(succession.trust.policy == (try profile(directory.data)).trust.policy)
            try await directory.lead(isFilled: false)
            #expect(try await servingError(directory, at: directory.data) == nil)
        }
    }

    /// Each write of an object fails once before it took effect, and each of the second memory once after it, and so does everything after
    /// it. No note of the key of before is put after the first one of the next key.
    @Test(arguments: [false, true])
    func whicheverObjectCannotBePut_theSameAgainCompletesIt(isDone: Bool) async throws {
        let failing = FailingPuts()
        let objects = MemoryObjects { operation in failing.fault(operation, isDone) }
        try await withShared(objects) { directory in
            var hasFailed = true
            var number = 0
            while hasFailed {
                number += 1
                let (old, before) = (try profile(directory.data).trust.policy, objects.log.count)
                failing.begin(after: number)
                do { _ = try await directory.rotation().rotateLogKey() } catch {}
                hasFailed = failing.end()
                if hasFailed, (try profile(directory.data)).trust.policy == old || exists(directory.data.formerProfile)
                {
                    _ = try await directory.rotation().rotateLogKey()
                }
                let policy = try profile(directory.data).trust.policy
                #expect(policy != old, "\(number)")
                #expect(throws: Never.self) { try policy.verify(note(directory)) }
                expectOrder(objects.log.dropFirst(before), from: old, to: policy)
            }
            #expect(number > 3, "so few writes failed")
            try await directory.lead(isFilled: false)
        }
    }

    private func expectOrder(_ operations: ArraySlice<MemoryObjects.Operation>, from old: Policy, to new: Policy) {
        var isNew = false
        for case .put("signed", let bytes, _) in operations {
            guard let note = try? SignedNote(decoding: bytes) else { continue }
            let isSignedAnew = (try? new.verifyLogSignature(on: note)) != nil
            #expect(isSignedAnew || !isNew, "the old key signed after the new one")
            isNew = isNew || isSignedAnew
        }
        #expect(isNew)
    }

    /// The next key is on the machine where the change was begun, and only there: whoever moved the log to the files of another machine could
    /// go on with it nowhere else, and would not know.
    @Test(arguments: Change.allCases)
    func inAnInterruptedChangeTheLogDoesNotGoToTheFilesOfBefore(change: Change) async throws {
        try await withInterruptions { directory, interruptions in
            for (number, step) in Stop.allCases.enumerated() {
                let old = try directory.copyOfMachine("old")
                try await interruptions.interrupt(change, step, of: directory, number)
                await #expect {
                    try await directory.giveBack(to: old)
                } throws: { error in
                    if case MoveError.candidacy(.fault(.keysChanged)) = error { true } else { false }
                }
                #expect(!exists(old.path + "/return") && !exists(old.path + "/return.ready"), "\(step)")
                #expect(try directory.sql("SELECT count(*) FROM log.log") == "1")
                let signed = try #require(try await directory.objects.get("signed")).bytes
                #expect((try? SignedNote(decoding: signed)) != nil, "\(step): it is burnt")
                _ = try await change.run(directory.rotation(), number)
            }
            try await directory.giveBack()
        }
    }

    /// Whoever is told that nothing was changed starts the processes again, and nobody leads.
    @Test(arguments: [true, false])
    func whileOthersAreThereAnInterruptedChangeIsSaidToBeInTheLog(isConnected: Bool) async throws {
        try await withInterruptions { directory, interruptions in
            for (number, step) in Stop.allCases.enumerated() {
                try await interruptions.interrupt(.key, step, of: directory, number)
                let notes = isConnected ? try directory.openNotes() : nil
                if isConnected {
                    _ = try await notes?.usedByteCount(of: Handle(typed: Array("alice@example.org".utf8)))
                } else {
                    try directory.sql(
                        "UPDATE log.lease SET holder = 'another', expires = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 5000"
                    )
                }
                await #expect {
                    _ = try await Change.key.run(directory.rotation(looks: 12), number)
                } throws: { error in
                    guard case KeyRotationError.unfinishedBesideOthers(let count) = error else { return false }
                    return count == (isConnected ? 1 : nil)
                }
                notes?.close()
                try directory.sql("UPDATE log.lease SET expires = 0")
                _ = try await Change.key.run(directory.rotation(), number)
                #expect(!exists(directory.data.formerProfile), "\(step)")
            }
        }
    }

    /// The files are the newest: whoever is told to copy others, or to change the keys again, makes it worse.
    @Test(arguments: Change.allCases)
    func anOlderCopyOfTheDatabaseIsNotTakenForFilesOfBefore(change: Change) async throws {
        try await withShared { directory in
            try directory.sql(
                """
                CREATE TABLE log.old AS SELECT * FROM log.log;
                CREATE TABLE directory.old AS SELECT * FROM directory.meta;
                """)
            let signed = try #require(try await directory.objects.get("signed")).bytes
            _ = try await change.run(directory.rotation())
            try await directory.lead(isFilled: false)
            if change == .key {
                let now = try #require(try await directory.objects.get("signed")).bytes
                try await put(signed, "signed", directory)
                let error = try fault(try await directory.leadingError())
                guard case .objectsBeforeChange = error else {
                    Issue.record("\(error)")
                    return
                }
                let found = try await faults(directory)
                #expect(found.contains { $0.contains("objectsBeforeChange") }, "\(found)")
                #expect(!found.contains { $0.contains("keysChanged") }, "\(found)")
                try await put(now, "signed", directory)
            }
            try directory.sql(
                """
                DELETE FROM log.frames USING log.old WHERE first >= old.size;
                UPDATE log.log SET size = old.size, root = old.root, published_size = old.published_size,
                    published_root = old.published_root, note = old.note FROM log.old;
                UPDATE directory.meta SET checked_size = old.checked_size FROM directory.old;
                """)
            try FileManager.default.removeItem(atPath: directory.data.state)
            for error in [
                try await directory.leadingError(), try await servingError(directory, at: directory.data),
            ] {
                guard change == .key else {
                    // What was signed last is signed by the same key, so that it says more: any of several checks comes first.
                    #expect(error != nil && !isChanged(error), "\(String(describing: error))")
                    continue
                }
                let error = try fault(error)
                guard case .databaseBeforeChange = error else {
                    Issue.record("\(error)")
                    return
                }
            }
            let found = try await faults(directory)
            #expect(found.contains { $0.contains("databaseBeforeChange") } == (change == .key), "\(found)")
            #expect(!found.isEmpty && !found.contains { $0.contains("keysChanged") }, "\(found)")
            // What the sentence says does help.
            _ = try await SharedRepair(directory.data, try directory.engines(), logger: silent).run()
            try await directory.lead(isFilled: false)
        }
    }

    /// What `signetd check` says of this machine.
    private func faults(_ directory: MovingDirectory) async throws -> [String] {
        await DirectoryCheck(of: directory.data).run(in: try directory.engines()).faults.map { "\($0)" }
    }

    private func fault(_ error: (any Error)?) throws -> SharedLogFault {
        switch error as? StoredDirectoryError {
        case .shared(let setup):
            switch setup.cause {
            case .directory(.log(.fault(let fault))), .directory(.candidacy(.fault(let fault))): return fault
            default: break
            }
        default: break
        }
        throw try #require(error)
    }

    /// A leader with the former key is refused; so is a repair, which signs what the log has as a leader does.
    @Test(arguments: Change.allCases)
    func inAnInterruptedChangeNoObjectsAreMade(change: Change) async throws {
        try await withInterruptions { directory, interruptions in
            for (number, step) in Stop.allCases.enumerated() {
                let old = try directory.copyOfMachine("old")
                try await interruptions.interrupt(change, step, of: directory, number)
                let lost = ["signed", "checkpoint"]
                var bytes: [String: [UInt8]] = [:]
                for path in lost {
                    bytes[path] = try #require(try await directory.objects.get(path)).bytes
                    try await directory.objects.remove(path)
                }
                for data in [old, directory.data] {
                    #expect(isChanged(try await objectsError(directory, at: data)), "\(step)")
                }
                for path in lost {
                    #expect(try await directory.objects.get(path) == nil, "\(step): \(path) was made")
                    _ = try await directory.objects.put(try #require(bytes[path]), at: path, .ifAbsent)
                }
                _ = try await change.run(directory.rotation(), number)
                #expect(isChanged(try await objectsError(directory, at: old)), "\(step), later")
            }
            #expect(try await objectsError(directory, at: directory.data) == nil)
        }
    }

    /// What whoever makes the objects of the bucket again is told.
    private func objectsError(_ directory: MovingDirectory, at data: DataDirectory) async throws -> (any Error)? {
        var request = ObjectsRequest()
        request.acceptsUnconfirmed = true
        let repair = SharedObjectsRepair(data, try directory.engines(), request, logger: silent)
        do throws(ObjectsRepairError) {
            _ = try await repair.run()
            return nil
        } catch {
            switch error {
            case .stored(let error): return error
            case .end(.candidacy(let end)): return StoredDirectoryError.shared(SharedSetupError(.candidacy(end)))
            default: return error
            }
        }
    }

    // MARK: Attacks

    /// The thief of the old key has the bucket: the log stops until what was signed is put back, and nothing is forked.
    @Test func whoHasTheOldKeyAndTheBucketStopsTheLogAndNoMore() async throws {
        try await withShared { directory in
            let keys = try StoredDirectory.readKeys(directory.data, profile(directory.data))
            _ = try await directory.rotation().rotateLogKey()
            let size = try directory.sql("SELECT size FROM log.log")
            let signed = try #require(try await directory.objects.get("signed")).bytes
            let head = try Checkpoint(decoding: SignedNote(decoding: signed).text).head
            let configuration = LogConfiguration(signer: keys.log, cosigners: keys.cosigners, clock: { 1 })
            for stolen in [head, TreeHead(size: head.size + 9, root: .emptyTree)] {
                try await put(configuration.sign(stolen).bytes, "signed", directory)
                try await put(configuration.sign(stolen).bytes, "checkpoint", directory)
                #expect(isChanged(try await directory.leadingError()))
                #expect(try directory.sql("SELECT size FROM log.log") == size)
            }
            #expect(try await servingError(directory, at: directory.data) == nil, "front ends do not read it")
            try await put(signed, "signed", directory)
            try await directory.lead(isFilled: false)
        }
    }

    private func put(_ bytes: [UInt8], _ path: String, _ directory: MovingDirectory) async throws {
        let object = try #require(try await directory.objects.get(path))
        _ = try await directory.objects.put(bytes, at: path, .ifVersion(object.tag))
    }

    @Test func aFrontEndGetsNoKeyOfTheLog() async throws {
        try await withShared { directory in
            try FileManager.default.removeItem(atPath: directory.data.keys + "/log.key")
            #expect(throws: KeyRotationError.self) { try directory.rotation().announceLogKey() }
            #expect(!exists(directory.data.keys + "/log.key.next"))
        }
    }

    @Test func whileAnotherProcessIsConnectedNothingIsChanged() async throws {
        try await withShared { directory in
            let (stored, follower) = try await StoredDirectory.serve(
                directory.data, try directory.engines(), logger: silent
            ) {}
            let generation = try directory.sql("SELECT generation FROM log.log")
            await #expect {
                _ = try await Change.key.run(directory.rotation(looks: 1))
            } throws: { error in
                if case KeyRotationError.othersConnected = error { true } else { false }
            }
            #expect(try directory.sql("SELECT generation FROM log.log") == generation)
            await stored.directory.close()
            _ = try await Change.key.run(directory.rotation())
            withExtendedLifetime((stored, follower)) {}
        }
    }

    /// What cannot be cosigned is not logged: the log goes on as it was.
    @Test func whileAnotherProcessHasTheLeaseNothingIsLogged() async throws {
        try await withShared { directory in
            let size = try directory.sql("SELECT size FROM log.log")
            try directory.sql(
                "UPDATE log.lease SET holder = 'another', expires = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 5000"
            )
            await #expect(throws: KeyRotationError.self) { _ = try await Change.key.run(directory.rotation()) }
            #expect(try directory.sql("SELECT size FROM log.log") == size)
            try directory.sql("UPDATE log.lease SET expires = 0")
            try await directory.lead(isFilled: false)
        }
    }
}

private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
