// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import LogWitness
import ObjectStores
import ObjectTesting
import SharedLog
import Testing
import TransparencyLog

@testable import SignetServer

/// What a process that would lead makes of what the witnesses say.
struct WitnessHeadsTests {
    private func head(_ size: UInt64, _ name: Policy.Name) -> SeenHead {
        SeenHead(TreeHead(size: size, root: .emptyTree), in: .witness(name))
    }

    @Test func whatAWitnessHasCosignedBeyondTheMemoryIsSeenUnderItsName() throws {
        let names = try (1...4).map { try #require(Policy.Name(Array("w\($0)".utf8))) }
        let answers: [Policy.Name: WitnessMemory] = [
            names[0]: .ahead(size: 9), names[1]: .notAhead(size: 4, at: nil), names[2]: .notAhead(size: 5, at: 1),
            names[3]: .otherTree,
        ]
        func heads(disregarding disregarded: Set<Policy.Name>) -> Set<SeenHead> {
            Set(SharedEngines.heads(of: answers, disregarding: disregarded, asked: 5))
        }
        #expect(heads(disregarding: []) == [head(9, names[0]), head(5, names[3])])
        // One that lies is left out, and the others are not.
        #expect(heads(disregarding: [names[0]]) == [head(5, names[3])])
        #expect(heads(disregarding: [names[3]]) == [head(9, names[0])])
    }

    /// Nobody listens at port 1.
    @Test func aWitnessThatDoesNotAnswerIsNamed() async throws {
        let (asked, policy) = try question(to: "http://127.0.0.1:1")
        let log = LogLines()
        let seen = await SharedEngines.seen(by: policy, beyond: asked, roots: [], logger: log.logger)
        #expect(seen.isEmpty)
        #expect(log.lines.count == 1)
        let line = try #require(log.lines.first)
        #expect(line.hasPrefix("a witness did not say what it cosigned last why="))
        #expect(line.hasSuffix(" witness=w1"))
    }

    @Test func thatNobodyWasAskedIsNotKeptQuiet() async throws {
        let (asked, policy) = try question(to: "http://127.0.0.1:1")
        let log = LogLines()
        let roots = Array("no certificate".utf8)
        _ = await SharedEngines.seen(by: policy, beyond: asked, roots: roots, logger: log.logger)
        #expect(log.lines == ["no witness was asked: the root certificates cannot be used why=malformed"])
    }

    private func question(to address: String) throws -> (PublishedCheckpoint, Policy) {
        let origin = try KeyName(Array("log.example/shared".utf8))
        let signer = try NoteSigner(name: origin, algorithm: .ed25519, seed: [UInt8](repeating: 1, count: 32))
        let witness = try NoteSigner(
            name: KeyName(Array("witness.example".utf8)), algorithm: .cosignatureV1,
            seed: [UInt8](repeating: 2, count: 32))
        let name = try #require(Policy.Name(Array("w1".utf8)))
        let policy = try Policy(
            logs: [.init(key: signer.verifierKey)],
            witnesses: [.init(name: name, key: witness.verifierKey, url: Array(address.utf8))], quorum: .none)
        let head = TreeHead(size: 9, root: .emptyTree)
        let note = try LogConfiguration(signer: signer, clock: { 1_700_000_000 }).sign(head).note
        return (PublishedCheckpoint(head: head, note: note), policy)
    }

    /// Whoever can write to the bucket could name a size beyond which no witness has seen anything.
    @Test func whatTheLogsKeyHasNotSignedIsNotComparedWith() async throws {
        let origin = try KeyName(Array("log.example/shared".utf8))
        func configuration(_ seed: UInt8) throws -> LogConfiguration {
            let signer = try NoteSigner(
                name: origin, algorithm: .ed25519, seed: [UInt8](repeating: seed, count: 32))
            return LogConfiguration(signer: signer, clock: { 1_700_000_000 })
        }
        let (own, former, thief) = (try configuration(1), try configuration(2), try configuration(3))
        func policy(_ configuration: LogConfiguration) throws -> Policy {
            try Policy(logs: [.init(key: configuration.signer.verifierKey)], quorum: .none)
        }
        func remembered(_ signer: LogConfiguration, by policies: [Policy]) async throws -> TreeHead? {
            let objects = MemoryObjects()
            let note = try signer.sign(TreeHead(size: 9, root: .emptyTree))
            _ = try await objects.put(note.bytes, at: SharedLogEngines.signedPath, .ifAbsent)
            return await SharedEngines.remembered(in: objects, by: policies)?.head
        }
        let policies = [try policy(own), try policy(former)]
        #expect(try await remembered(own, by: policies)?.size == 9)
        #expect(try await remembered(former, by: policies)?.size == 9)
        #expect(try await remembered(thief, by: policies) == nil)
    }
}
