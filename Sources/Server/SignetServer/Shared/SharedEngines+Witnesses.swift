// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import LogWitness
import Logging
import ObjectStores
import SharedLog
import TransparencyLog

// What others hold of the log that these engines have.
extension SharedEngines {
    /// What the witnesses cosigned that a checkpoint does not have. They are asked by its note, as a server of one machine asks by its lock
    /// record.
    ///
    /// - Parameter disregarded: those whose word does not count.
    static func seen(
        by policy: Policy, beyond asked: PublishedCheckpoint, roots: [UInt8],
        disregarding disregarded: Set<Policy.Name> = [], logger: Logger
    ) async -> [SeenHead] {
        let answers = await witnesses(of: policy, on: asked.note, asked.head, roots: roots, logger: logger)
        return heads(of: answers, disregarding: disregarded, asked: asked.head.size)
    }

    /// - Parameter asked: the size of the checkpoint by which the witnesses were asked.
    static func heads(
        of answers: [Policy.Name: WitnessMemory], disregarding disregarded: Set<Policy.Name>, asked: UInt64
    ) -> [SeenHead] {
        answers.compactMap { name, answer in
            switch answer {
            case _ where disregarded.contains(name): nil
            case .ahead(let size): SeenHead(TreeHead(size: size, root: .emptyTree), in: .witness(name))
            case .otherTree: SeenHead(TreeHead(size: asked, root: .emptyTree), in: .witness(name))
            case .notAhead, .unknown: nil
            }
        }
    }

    /// What the witnesses hold, asked by a checkpoint of the log. Who does not answer is logged.
    ///
    /// Security: with roots that cannot be used nobody is asked, which looks as if nobody had seen more. So whoever asks has refused
    /// such roots before, as ``StoredDirectory/check(witnessRoots:for:)`` does.
    static func witnesses(
        of policy: Policy, on note: SignedNote, _ head: TreeHead, roots: [UInt8], logger: Logger
    ) async -> [Policy.Name: WitnessMemory] {
        do throws(WitnessRootsError) {
            return try await RollbackGuard.answers(of: policy, on: note, head, roots: roots, logger)
        } catch {
            logger.error(
                "no witness was asked: the root certificates cannot be used", metadata: ["why": "\(error)"])
            return [:]
        }
    }

    /// The note that was signed last, and its head; nil if there is none that the log's key has signed. By it witnesses are tried before a
    /// change; whoever would lead asks them by what it has read itself.
    ///
    /// - Parameter policies: with the log's key, each.
    func remembered(by policies: [Policy]) async -> (note: SignedNote, head: TreeHead)? {
        await Self.remembered(in: objects, by: policies)
    }

    static func remembered(
        in objects: any ObjectStore, by policies: [Policy]
    ) async -> (note: SignedNote, head: TreeHead)? {
        guard let object = (try? await objects.get(SharedLogEngines.signedPath)).flatMap({ $0 }),
            let note = try? SignedNote(decoding: object.bytes),
            let signed = policies.lazy.compactMap({ try? $0.verifyLogSignature(on: note) }).first
        else { return nil }
        return (note, signed.checkpoint.head)
    }
}
