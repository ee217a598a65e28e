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
    /// - Parameter disregarded: those whose word does not count.
    func seen(
        by policy: Policy, roots: [UInt8], disregarding disregarded: Set<Policy.Name> = []
    ) async -> [SeenHead] {
        guard policy.witnesses.contains(where: { $0.url != nil }), let before = await remembered() else { return [] }
        let answers = await Self.witnesses(of: policy, on: before.note, before.head, roots: roots)
        // A leader that was not told yet may have put down and shown more meanwhile: that is no more than the memory has by now.
        let now = await remembered()?.head.size ?? before.head.size
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

    /// The note that was signed last, and its head. Nothing of it is verified.
    func remembered() async -> (note: SignedNote, head: TreeHead)? {
        guard let object = (try? await objects.get(SharedLogEngines.signedPath)).flatMap({ $0 }),
            let note = try? SignedNote(decoding: object.bytes), let checkpoint = try? Checkpoint(decoding: note.text)
        else { return nil }
        return (note, checkpoint.head)
    }
}
