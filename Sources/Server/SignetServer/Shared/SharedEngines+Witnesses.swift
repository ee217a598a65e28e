// SPDX-License-Identifier: Apache-2.0

import LogFencing
import LogWitness
import ObjectStores
import SharedLog
import TransparencyLog

// What others hold of the log that these engines have.
extension SharedEngines {
    /// What the witnesses cosigned that the second memory does not have. They are asked by its note, as a server of one machine asks by its
    /// lock record.
    ///
    /// - Parameters:
    ///   - former: what was demanded before a change of keys that is being completed.
    ///   - disregarded: those whose word does not count.
    func seen(
        by policy: Policy, former: Policy? = nil, roots: [UInt8], disregarding disregarded: Set<Policy.Name> = []
    ) async -> [SeenHead] {
        let trusted = [policy] + (former.map { [$0] } ?? [])
        guard policy.witnesses.contains(where: { $0.url != nil }), let before = await remembered(by: trusted)
        else { return [] }
        let answers = await Self.witnesses(of: policy, on: before.note, before.head, roots: roots)
        // A leader that was not told yet may have put down and shown more meanwhile: that is no more than the memory has by now.
        let now = await remembered(by: trusted)?.head.size ?? before.head.size
        return Self.heads(of: answers, disregarding: disregarded, asked: before.head.size, now: now)
    }

    /// - Parameters:
    ///   - asked: the size of the checkpoint by which the witnesses were asked.
    ///   - now: the size that is known to have been signed by now.
    static func heads(
        of answers: [Policy.Name: WitnessMemory], disregarding disregarded: Set<Policy.Name>, asked: UInt64, now: UInt64
    ) -> [SeenHead] {
        answers.compactMap { name, answer in
            switch answer {
            case _ where disregarded.contains(name): nil
            case .ahead(let size) where size > now: SeenHead(TreeHead(size: size, root: .emptyTree), in: .witness(name))
            case .otherTree: SeenHead(TreeHead(size: asked, root: .emptyTree), in: .witness(name))
            case .ahead, .notAhead, .unknown: nil
            }
        }
    }

    /// What the witnesses hold who answer, asked by a checkpoint of the log.
    static func witnesses(
        of policy: Policy, on note: SignedNote, _ head: TreeHead, roots: [UInt8]
    ) async -> [Policy.Name: WitnessMemory] {
        var configuration = WitnessQuorum.Configuration()
        configuration.additionalRoots = roots
        return (try? await WitnessMemory.all(of: policy, on: note, head: head, configuration: configuration)) ?? [:]
    }

    /// The note that was signed last, and its head; nil if there is none that the log's key has signed: whoever can write to the bucket could
    /// name a size beyond which no witness has seen anything.
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
