// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import TransparencyLog
package import VRF
package import VerifiableMap

/// An answer of which every part can be replaced.
package struct PaperAnswer: Sendable {
    /// Proof that the label is the handle's.
    package var vrfProof: VRFProof
    /// The last epoch record.
    package var epoch: EpochRecord
    /// Its path in the log.
    package var epochPath: [TreeHash]
    /// Absence in the index; nil when the label is said to be there, and then the next six count.
    package var absence: MapProof?
    /// The label's path in the index.
    package var indexPath: MapPath
    /// The label's history.
    package var head: LabelHead
    /// The path of its last entry.
    package var lastPath: [TreeHash]
    /// Its growth since what the client knows.
    package var historyConsistency: ConsistencyProof
    /// The state record in the log.
    package var inclusion: InclusionProof
    /// The last step.
    package var step: LabelAnswer.Step
    /// The log's growth since what the client knows.
    package var consistency: ConsistencyProof
    /// The checkpoint.
    package var note: [UInt8]

    /// The answer as it is sent.
    package var response: LookupResponse {
        let label = LabelAnswer(
            indexPath: indexPath, head: head, lastPath: lastPath, historyConsistency: historyConsistency,
            inclusion: inclusion, step: step)
        return LookupResponse(
            vrfProof: vrfProof, epoch: epoch, epochPath: epochPath,
            answer: absence.map { .absent($0) } ?? .present(label), consistency: consistency, note: note)
    }
}

extension PaperDirectory {
    /// What a client knows that asks: sizes of the log and of the label's history; 0 for nothing.
    package typealias Known = (size: UInt64, count: UInt64)

    /// The honest answer about a logged person.
    ///
    /// - Parameters:
    ///   - handle: whose label it is, if not the person's own.
    ///   - history: the label's history to show, if not the honest one.
    package func answer(
        about person: PaperPerson, under handle: Handle? = nil, knowing known: Known = (0, 0),
        history: MerkleTree? = nil
    ) throws -> PaperAnswer {
        let label = try label(handle ?? person.handle)
        let key = LabelIndex(label.hash).key
        let history = history ?? histories.tree(of: key, size: histories.size)
        guard history.size > 0 else { throw PaperFault.notThere }
        var answer = try emptyAnswer(label.proof, knowing: known.size)
        if case .present(_, let path) = try map().proof(of: key) { answer.indexPath = path }
        answer.head = LabelHead(try history.head(size: history.size))
        answer.lastPath = try history.inclusionProof(index: history.size - 1, size: history.size).hashes
        answer.historyConsistency = try history.consistencyProof(from: known.count, to: history.size)
        answer.inclusion = (try? proof(of: person.record(label.hash).entry)) ?? answer.inclusion
        answer.step = person.step
        return answer
    }

    /// The honest answer about a person who is not logged.
    package func answer(aboutAbsent handle: Handle, knowing known: UInt64 = 0) throws -> PaperAnswer {
        let label = try label(handle)
        var answer = try emptyAnswer(label.proof, knowing: known)
        answer.absence = try map().proof(of: LabelIndex(label.hash).key)
        return answer
    }

    /// Everything that does not speak of the label.
    private func emptyAnswer(_ proof: VRFProof, knowing known: UInt64) throws -> PaperAnswer {
        guard let epoch = lastRecord else { throw PaperFault.notThere }
        return PaperAnswer(
            vrfProof: proof, epoch: epoch, epochPath: try self.proof(of: epoch.entry).hashes, absence: nil,
            indexPath: try MapPath([]), head: LabelHead(.empty), lastPath: [],
            historyConsistency: ConsistencyProof(hashes: []), inclusion: InclusionProof(index: 0, hashes: []),
            step: .closed(version: 0),
            consistency: try tree.consistencyProof(from: known, to: tree.size), note: try note().encoded)
    }

    /// The position of an entry in the log; its last place if it is there twice.
    package func proof(of entry: [UInt8], size: UInt64? = nil) throws -> InclusionProof {
        guard let index = entries.lastIndex(of: entry) else { throw PaperFault.notThere }
        return try tree.inclusionProof(index: UInt64(index), size: size ?? tree.size)
    }

    /// The head of a handle's honest history.
    package func history(_ handle: Handle) throws -> LabelHead {
        let tree = histories.tree(of: try key(handle), size: histories.size)
        return LabelHead(try tree.head(size: tree.size))
    }
}

// MARK: Signing

extension PaperDirectory {
    /// What a client pins.
    package func trust(
        quorum: Policy.Quorum? = nil, freshness: FreshnessRule = .standard
    ) throws -> DirectoryTrust {
        let lines =
            [Array("log ".utf8) + log.verifierKey.encoded]
            + zip(["one", "two"], witnesses).map { Array("witness \($0) ".utf8) + $1.verifierKey.encoded }
            + [Array("group both all one two".utf8), Array("quorum both".utf8)]
        let both = try Policy(decoding: lines.flatMap { $0 + [0x0A] })
        let policy =
            try quorum.map {
                try Policy(logs: both.listedLogs, witnesses: both.witnesses, groups: both.groups, quorum: $0)
            } ?? both
        return DirectoryTrust(policy: policy, vrfKey: vrf.publicKey, freshness: freshness)
    }

    /// Who judges its answers.
    package func verifier(quorum: Policy.Quorum? = nil) throws -> LookupVerifier {
        LookupVerifier(trust: try trust(quorum: quorum))
    }

    /// A checkpoint of the log.
    package func note(
        size: UInt64? = nil, at time: UInt64 = now, by signer: NoteSigner? = nil,
        cosigners: [NoteSigner]? = nil
    ) throws -> SignedNote {
        let head = try tree.head(size: size ?? tree.size)
        let text = try Checkpoint(origin: (signer ?? log).verifierKey.name, head: head).text
        return try sign(text, at: time, by: signer, cosigners: cosigners)
    }

    /// Any text, signed and cosigned.
    package func sign(
        _ text: [UInt8], at time: UInt64 = now, by signer: NoteSigner? = nil,
        cosigners: [NoteSigner]? = nil
    ) throws -> SignedNote {
        let signatures =
            [try (signer ?? log).sign(text)]
            + (try (cosigners ?? witnesses).map { try $0.cosign(text, time: time) })
        return try SignedNote(text: text, signatures: signatures)
    }

    /// What a client knows that has seen the log at this size, now unless given.
    package func view(size: UInt64? = nil, epoch: EpochMark? = nil) throws -> LogView {
        LogView(
            uncheckedOrigin: log.verifierKey.name, head: try tree.head(size: size ?? tree.size),
            note: try note(size: size).encoded, epoch: epoch)
    }
}
