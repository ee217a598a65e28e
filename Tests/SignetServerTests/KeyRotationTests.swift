// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
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
