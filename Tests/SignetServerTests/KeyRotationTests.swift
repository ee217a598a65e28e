// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// A change of keys or witnesses that is in the log cannot be taken back, and no server starts until it is done.
@Suite("Changes of the log's key on one machine") struct KeyRotationTests {
    private func rotation(_ data: DataDirectory) -> DirectoryKeyRotation {
        var rotation = DirectoryKeyRotation(data, logger: silent)
        rotation.patience = 1
        return rotation
    }

    /// A witness that does not answer is demanded.
    private func demandSilentWitness(_ data: DataDirectory) async throws {
        let signer = try NoteSigner(
            name: KeyName(Array("witness.example/w".utf8)), algorithm: .cosignatureV1,
            seed: [UInt8](repeating: 7, count: 32))
        let key = String(decoding: signer.verifierKey.encoded, as: UTF8.self)
        _ = try await rotation(data).changeWitnesses(
            to: Array("witness w \(key) http://127.0.0.1:1\nquorum w\n".utf8), untried: true)
    }

    @Test func nothingIsLoggedWhileTooFewWitnessesCosign() async throws {
        try await withDataDirectory { data in
            try await demandSilentWitness(data)
            let profile = try StoredDirectory.readProfile(data)
            for _ in 0..<2 {
                await #expect { _ = try await rotation(data).rotateLogKey(untried: true) } throws: { error in
                    if case KeyRotationError.directory(.refused(.unwitnessed)) = error { true } else { false }
                }
            }
            #expect(try StoredDirectory.readProfile(data) == profile)
            let stored = try await StoredDirectory.open(data, logger: silent)
            #expect(try stored.directory.succession()?.links.count == 1, "the change of witnesses alone")
            await stored.directory.close()
        }
    }

    /// No witness knows the log's next key, so the log could not go on with it.
    @Test func theWitnessesAreAskedWhetherTheyKnowTheNextKey() async throws {
        try await withDataDirectory { data in
            await (try await StoredDirectory.open(data, logger: silent)).directory.close()
            try await demandSilentWitness(data)
            await #expect { _ = try await rotation(data).rotateLogKey() } throws: { error in
                if case KeyRotationError.witnessesSilent(let silent) = error { silent.count == 1 } else { false }
            }
            let stored = try await StoredDirectory.open(data, logger: silent)
            #expect(try stored.directory.succession()?.links.count == 1, "the change of witnesses alone")
            await stored.directory.close()
        }
    }

    // MARK: A change that was interrupted

    private static let first = Array("group first any clock\nquorum first\n".utf8)

    /// Puts the change into the log, as who is killed then.
    private func interrupt(
        _ data: DataDirectory, _ changed: DirectoryProfile, isProven: Bool = false
    ) async throws {
        let stored = try await StoredDirectory.open(data, changingTo: changed.trust.policy, logger: silent)
        _ = try await stored.directory.succeed(
            Directory.successionRecord(.keys, changed.trust, after: stored.directory.succession()))
        await stored.directory.close()
        if !isProven { try FileManager.default.removeItem(atPath: "\(data.records)/succession") }
    }

    private func expect(
        _ pending: PendingChange, _ comment: Comment? = nil, _ body: () async throws -> Void
    ) async {
        await #expect(comment) {
            try await body()
        } throws: { error in
            if case KeyRotationError.otherChange(pending) = error { true } else { false }
        }
    }

    /// A start and a check name the change.
    private func expectNamed(_ pending: PendingChange, _ data: DataDirectory) async {
        await #expect {
            await (try await StoredDirectory.open(data, logger: silent)).directory.close()
        } throws: { error in
            if case StoredDirectoryError.changePending(pending) = error { true } else { false }
        }
        let faults = await DirectoryCheck(of: data).run().faults
        #expect(
            faults.contains { if case .stored(.changePending(pending)) = $0 { true } else { false } }, "\(faults)")
    }

    /// The list may have been edited since, and nothing else than the log has the one of then.
    @Test(arguments: [false, true]) func theWitnessesOfAnInterruptedChangeAreNamed(isProven: Bool) async throws {
        try await withDataDirectory { data in
            let (rotation, profile) = (rotation(data), try StoredDirectory.readProfile(data))
            let keys = try StoredDirectory.readKeys(data, profile)
            let log = try #require(profile.trust.policy.listedLogs.first)
            let policy = try DirectorySetup.policy(log: log, cosigners: keys.cosigners, witnesses: Self.first)
            try await interrupt(data, profile.requiring(policy), isProven: isProven)

            await expectNamed(.witnesses(Self.first), data)
            let edited = Array("group second any clock\nquorum second\n".utf8)
            for (lines, name) in [(edited, "edited"), ([], "of before")] {
                await expect(.witnesses(Self.first), "the list is \(name)") {
                    _ = try await rotation.changeWitnesses(to: lines)
                }
            }
            await expect(.witnesses(Self.first)) { _ = try await rotation.rotateLogKey() }
            #expect(contents(.nextLog, data) == nil, "no key was made")
            _ = try rotation.announceLogKey()
            await expect(.witnesses(Self.first), "with a next key") { _ = try await rotation.rotateLogKey() }
            let next = DataDirectory(path: data.path + ".next")
            await expect(.witnesses(Self.first)) {
                _ = try await rotation.handOver(
                    to: next, origin: try KeyName(Array("example.org/next".utf8)), witnesses: nil, at: TestPerson.now)
            }
            #expect(!FileManager.default.fileExists(atPath: next.path + ".draft"))
            #expect(try StoredDirectory.readProfile(data) == profile)

            #expect(try await rotation.changeWitnesses(to: Self.first)?.trust.policy == policy)
            let stored = try await StoredDirectory.open(data, logger: silent)
            #expect(try stored.directory.succession()?.links.count == 1)
            await stored.directory.close()
        }
    }

    @Test func theKeyOfAnInterruptedChangeIsNamed() async throws {
        try await withDataDirectory { data in
            let (rotation, profile) = (rotation(data), try StoredDirectory.readProfile(data))
            let next = try rotation.announceLogKey()
            let policy = try rotation.policy(log: Policy.Log(key: next), of: profile.trust.policy)
            try await interrupt(data, profile.requiring(policy))

            await expectNamed(.logKey(next), data)
            await expect(.logKey(next)) { _ = try await rotation.changeWitnesses(to: Self.first) }
            let path = "\(data.keys)/\(KeyFile.nextLog.name)"
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            await expect(.logKey(next), "the next key is gone") { _ = try await rotation.rotateLogKey() }
            #expect(contents(.nextLog, data) == nil, "no other one was made")
            _ = try rotation.announceLogKey()
            await expect(.logKey(next), "it is another one") { _ = try await rotation.rotateLogKey() }
            #expect(try StoredDirectory.readProfile(data) == profile)

            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
            #expect(try await rotation.rotateLogKey().trust.policy.logs == [next])
        }
    }

    // MARK: The proofs of changes are lost

    private func path(_ data: DataDirectory) -> String { "\(data.records)/succession" }

    private func links(_ data: DataDirectory) throws -> [SuccessionLink] {
        try SuccessionChain(decoding: Array(Data(contentsOf: URL(filePath: path(data))))).links
    }

    /// Each change of keys or witnesses is refused, and leaves everything as it is.
    private func expectRefusals(
        _ data: DataDirectory, _ isExpected: (StoredDirectoryError) -> Bool
    ) async throws {
        let (profile, signed) = (try StoredDirectory.readProfile(data), try LogCopy(of: data.log).signedHead())
        let proofs = FileManager.default.contents(atPath: path(data))
        let (rotation, next) = (rotation(data), DataDirectory(path: data.path + ".other"))
        let other = Array("group second any clock\nquorum second\n".utf8)
        let changes =
            [
                { _ = try await rotation.changeWitnesses(to: []) },
                { _ = try await rotation.changeWitnesses(to: Self.first) },
                { _ = try await rotation.changeWitnesses(to: other) },
                { _ = try await rotation.rotateLogKey() },
                {
                    _ = try await rotation.handOver(
                        to: next, origin: try KeyName(Array("example.org/other".utf8)), witnesses: nil,
                        at: TestPerson.now)
                },
            ] as [() async throws -> Void]
        for (number, change) in changes.enumerated() {
            await #expect("\(number)") {
                try await change()
            } throws: { error in
                if case KeyRotationError.stored(let error) = error { isExpected(error) } else { false }
            }
        }
        #expect(try StoredDirectory.readProfile(data) == profile)
        #expect(try LogCopy(of: data.log).signedHead() == signed)
        #expect(FileManager.default.contents(atPath: path(data)) == proofs)
        #expect(contents(.nextLog, data) == nil && !FileManager.default.fileExists(atPath: next.path + ".draft"))
    }

    private func isOutdated(_ error: StoredDirectoryError) -> Bool {
        if case .successionOutdated = error { true } else { false }
    }

    /// What could be put in its place is signed by the next key or for other witnesses: nobody would follow who trusts what was before.
    @Test(arguments: [false, true]) func aProofThatIsLostIsNotMadeAnew(isOfKey: Bool) async throws {
        try await withDataDirectory { data in
            let (rotation, old) = (rotation(data), try StoredDirectory.readProfile(data))
            if isOfKey {
                _ = try await rotation.rotateLogKey()
            } else {
                _ = try await rotation.changeWitnesses(to: Self.first)
            }
            let kept = path(data) + ".kept"
            try FileManager.default.moveItem(atPath: path(data), toPath: kept)
            try await expectRefusals(data, isOutdated)
            try FileManager.default.moveItem(atPath: kept, toPath: path(data))
            _ = try await rotation.changeWitnesses(to: Array("group second any clock\nquorum second\n".utf8))
            let followed = try SuccessionVerifier(trust: old.trust).follow(SuccessionChain(links: try links(data)))
            #expect(followed?.trust.policy == (try StoredDirectory.readProfile(data)).trust.policy)
        }
    }

    /// An older program put a proof in the place of the lost one. It can still be in a backup, which would lack every change that is made now.
    @Test func proofsThatLeadNobodyOnAreNotAddedTo() async throws {
        try await withDataDirectory { data in
            for _ in 0..<2 { _ = try await rotation(data).rotateLogKey() }
            let stored = try await StoredDirectory.open(data, logger: silent)
            try await stored.directory.republish()
            let note = stored.directory.log.published.note
            await stored.directory.close()
            var links = try links(data)
            let last = try #require(links.last)
            links[links.count - 1] = SuccessionLink(record: last.record, inclusion: last.inclusion, note: note)
            try Data(SuccessionChain(links: links).encoded).write(to: URL(filePath: path(data)))
            try await expectRefusals(data) { if case .successionUnreadable = $0 { true } else { false } }
        }
    }

    /// It has no change of its own, so that only its first entry says that there is one from before.
    @Test func aSuccessorThatHasLostItsProofsIsNotChanged() async throws {
        try await withDataDirectory { data in
            let next = DataDirectory(path: data.path + ".next")
            _ = try await rotation(data).handOver(
                to: next, origin: try KeyName(Array("example.org/next".utf8)), witnesses: nil, at: TestPerson.now)
            await (try await StoredDirectory.open(next, logger: silent)).directory.close()
            try FileManager.default.removeItem(atPath: path(next))
            try await expectRefusals(next, isOutdated)
        }
    }

    /// Whoever is told to run `rotate witnesses`, or to put back another `directory.signet`, harms what is whole.
    @Test func whereOnlyTheFileOfTheChangesIsLost_itIsNamed() async throws {
        try await withDataDirectory { data in
            _ = try await rotation(data).rotateLogKey()
            try FileManager.default.removeItem(atPath: "\(data.records)/succession")
            await #expect {
                await (try await StoredDirectory.open(data, logger: silent)).directory.close()
            } throws: { error in
                if case StoredDirectoryError.successionOutdated = error { true } else { false }
            }
            let faults = await DirectoryCheck(of: data).run().faults
            #expect(
                faults.contains { if case .stored(.successionOutdated) = $0 { true } else { false } }, "\(faults)")
            await #expect {
                _ = try await rotation(data).rotateLogKey()
            } throws: { error in
                if case KeyRotationError.stored(.successionOutdated) = error { true } else { false }
            }
        }
    }

    // MARK: The next key

    private func contents(_ file: KeyFile, _ data: DataDirectory) -> Data? {
        FileManager.default.contents(atPath: "\(data.keys)/\(file.name)")
    }

    /// A thief has the key that was announced before the break-in, or has put one of theirs there.
    @Test func aNextKeyThatWasAnnouncedBeforeIsDiscarded() async throws {
        try await withDataDirectory { data in
            let rotation = rotation(data)
            #expect(try await rotation.announceAnotherLogKey().discarded == nil)
            let stolen = try rotation.announceLogKey()
            let other = try await rotation.announceAnotherLogKey()
            #expect(other.discarded == stolen && other.key != stolen)
            #expect(try rotation.announceLogKey() == other.key)
            try Data("planted".utf8).write(to: URL(filePath: "\(data.keys)/\(KeyFile.nextLog.name)"))
            let last = try await rotation.announceAnotherLogKey()
            #expect(last.discarded == nil)
            #expect(try await rotation.rotateLogKey(untried: true).trust.policy.logs == [last.key])
        }
    }

    /// Whoever discards the key that another process is about to log leaves the log without one.
    @Test func theNextKeyIsNotDiscardedAndTakenAtOnce() async throws {
        try await withDataDirectory { data in
            let rotation = rotation(data)
            let next = try rotation.announceLogKey()
            let (before, profile) = (try #require(contents(.nextLog, data)), try StoredDirectory.readProfile(data))
            var hold = try rotation.holdKeys()
            try #require(hold != nil)
            for change in [
                { _ = try await rotation.announceAnotherLogKey() }, { _ = try await rotation.rotateLogKey() },
            ] as [() async throws -> Void] {
                await #expect {
                    try await change()
                } throws: { error in
                    if case KeyRotationError.underWay = error { true } else { false }
                }
                #expect(contents(.nextLog, data) == before)
                #expect(try StoredDirectory.readProfile(data) == profile)
            }
            hold = nil
            let other = try await rotation.announceAnotherLogKey()
            #expect(other.discarded == next)
            #expect(try await rotation.rotateLogKey(untried: true).trust.policy.logs == [other.key])
        }
    }

    /// From the moment the change is in the log nothing else can sign for it, at whichever step the change was interrupted.
    @Test func theNextKeyIsNotDiscardedOnceTheLogNamesIt() async throws {
        try await withDataDirectory { data in
            let rotation = rotation(data)
            let next = try rotation.announceLogKey()
            let profile = try StoredDirectory.readProfile(data)
            let changed = profile.requiring(try rotation.policy(log: Policy.Log(key: next), of: profile.trust.policy))
            let stored = try await StoredDirectory.open(data, changingTo: changed.trust.policy, logger: silent)
            _ = try await stored.directory.succeed(Directory.successionRecord(.keys, changed.trust, after: nil))
            await stored.directory.close()
            let before = try #require(contents(.nextLog, data))

            func expectRefusal(_ comment: Comment) async {
                await #expect(throws: KeyRotationError.self, comment) { _ = try await rotation.announceAnotherLogKey() }
                #expect(contents(.nextLog, data) == before, comment)
            }
            let proof = "\(data.records)/succession"
            try FileManager.default.moveItem(atPath: proof, toPath: proof + ".away")
            await expectRefusal("the proof is not kept yet")
            try FileManager.default.moveItem(atPath: proof + ".away", toPath: proof)
            await expectRefusal("the file for clients has the key of before")
            try PrivateFile.replace(data.profile, with: changed.encoded, mode: 0o644)
            await expectRefusal("the key has not taken its place")
            #expect(try await rotation.rotateLogKey(untried: true).trust.policy.logs == [next])
            #expect(try await rotation.announceAnotherLogKey().discarded == nil)
        }
    }

    @Test func aLogDoesNotEndWhileTooFewWitnessesCosign() async throws {
        try await withDataDirectory { data in
            try await demandSilentWitness(data)
            let next = DataDirectory(path: data.path + ".next")
            await #expect {
                _ = try await rotation(data).handOver(
                    to: next, origin: try KeyName(Array("example.org/next".utf8)), witnesses: nil, at: TestPerson.now)
            } throws: { error in
                if case KeyRotationError.directory(.refused(.unwitnessed)) = error { true } else { false }
            }
            let stored = try await StoredDirectory.open(data, logger: silent)
            try stored.requireGoingOn()
            await stored.directory.close()
        }
    }
}
