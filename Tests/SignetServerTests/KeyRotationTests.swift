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
