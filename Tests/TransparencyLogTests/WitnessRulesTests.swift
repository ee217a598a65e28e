// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing
import TransparencyLog

struct WitnessRulesTests {
    let log: SmallLog
    let rules: WitnessRules

    init() throws {
        log = try SmallLog()
        rules = WitnessRules(logs: try WitnessedLogs([.init(key: log.log.verifierKey)]), signer: log.witnesses[0])
    }

    private func head(_ size: Int) throws -> TreeHead { try log.tree.head(size: UInt64(size)) }

    private func request(from old: Int, to size: Int, note: SignedNote? = nil) throws -> AddCheckpointRequest {
        try AddCheckpointRequest(
            oldSize: UInt64(old), consistency: log.tree.consistencyProof(from: UInt64(old), to: UInt64(size)),
            note: note ?? log.note(size: size))
    }

    private func signed(_ head: TreeHead, by signers: [NoteSigner]? = nil, origin: String? = nil) throws -> SignedNote {
        let name = try origin.map(keyName) ?? log.log.verifierKey.name
        let text = try Checkpoint(origin: name, head: head).text
        return try SignedNote(text: text, signatures: (signers ?? [log.log]).map { try $0.sign(text) })
    }

    private func refusal(_ request: AddCheckpointRequest, latest: TreeHead?, at now: UInt64 = 5) -> WitnessRefusal? {
        do throws(WitnessRefusal) { _ = try rules.judge(request, latest: latest, at: now) } catch { return error }
        return nil
    }

    @Test func everyStepBetweenTwoSizesIsCosigned() throws {
        for old in 0...11 {
            for size in old...11 {
                let latest = old == 0 ? nil : try head(old)
                let cosigned = try rules.judge(request(from: old, to: size), latest: latest, at: 77)
                #expect(cosigned.head == (try head(size)))
                #expect(cosigned.predecessor == latest)
                #expect(cosigned.origin == Array("log.example/one".utf8))
                #expect(try log.policy("quorum w0\n").verify(cosigned.note).quorumTime == 77)
            }
        }
    }

    @Test func onlyLinesOfTheLogAndTheWitnessAreShownToMonitors() throws {
        let note = try log.note(size: 4, times: [1, 2, 3])
        let cosigned = try rules.judge(request(from: 0, to: 4, note: note), latest: nil, at: 9)
        #expect(cosigned.note.signatures == [try log.log.sign(note.text)] + cosigned.cosignatures)
    }

    @Test func anUnknownOriginIsNotFound() throws {
        let other = try request(from: 0, to: 3, note: signed(head(3), origin: "log.example/two"))
        #expect(refusal(other, latest: nil) == .unknownOrigin)
        #expect(WitnessRefusal.unknownOrigin.status == 404)
    }

    @Test func aNoteWithoutALineOfAKnownKeyIsForbidden() throws {
        let stranger = try signer("log.example/one", .ed25519, seed: 2)
        let other = try request(from: 0, to: 3, note: signed(head(3), by: [stranger]))
        #expect(refusal(other, latest: nil) == .logSignatureMissing)
        #expect(WitnessRefusal.logSignatureMissing.status == 403)
        #expect(WitnessRefusal.malformed(.note(.malformedSignatureLine(line: 0))).status == 403)
        #expect(WitnessRefusal.malformed(.note(.separatorMissing)).status == 400)
    }

    @Test func aLineOfAKnownKeyThatFailsIsForbiddenEvenBesideAGoodOne() throws {
        let good = try log.note(size: 3)
        var blob = good.signatures[0].blob
        blob[0] ^= 1
        let bad = NoteSignature(name: good.signatures[0].name, keyID: good.signatures[0].keyID, blob: blob)
        for lines in [[bad], [bad, good.signatures[0]], [good.signatures[0], bad]] {
            let note = try SignedNote(text: good.text, signatures: lines)
            let failure = refusal(try request(from: 0, to: 3, note: note), latest: nil)
            #expect(failure == .logSignatureInvalid(log.log.verifierKey))
            #expect(failure?.status == 403)
        }
    }

    @Test func aSecondKeyOfTheLogSufficesAndItsLineIsShownToo() throws {
        let successor = try signer("log.example/one", .ed25519, seed: 2)
        let logs = try WitnessedLogs([.init(key: log.log.verifierKey), .init(key: successor.verifierKey)])
        let rules = WitnessRules(logs: logs, signer: log.witnesses[0])
        for signers in [[successor], [log.log, successor]] {
            let request = try request(from: 0, to: 3, note: signed(head(3), by: signers))
            let cosigned = try rules.judge(request, latest: nil, at: 5)
            #expect(cosigned.note.signatures.count == signers.count + 1)
        }
    }

    @Test func anOldSizeAboveTheCheckpointsIsABadRequest() throws {
        let backwards = try AddCheckpointRequest(
            oldSize: 5, consistency: ConsistencyProof(hashes: []), note: log.note(size: 4))
        #expect(refusal(backwards, latest: try head(5)) == .oldSizeAboveCheckpoint(oldSize: 5, size: 4))
        #expect(refusal(backwards, latest: try head(5))?.status == 400)
    }

    @Test func anotherOldSizeIsAConflictThatNamesTheRightOne() throws {
        #expect(refusal(try request(from: 3, to: 6), latest: try head(5)) == .otherSize(latest: 5))
        #expect(refusal(try request(from: 3, to: 6), latest: nil) == .otherSize(latest: 0))
        #expect(refusal(try request(from: 0, to: 6), latest: try head(5)) == .otherSize(latest: 5))
        let conflict = WitnessRefusal.otherSize(latest: 5)
        #expect(conflict.status == 409)
        #expect(conflict.mediaType == "text/x.tlog.size")
        #expect(conflict.body == Array("5\n".utf8))
    }

    @Test func anEmptyTreeHasOneRoot() throws {
        let wrong = TreeHead(size: 0, root: .leaf([]))
        let proof = ConsistencyProof(hashes: [])
        let request = try AddCheckpointRequest(oldSize: 0, consistency: proof, note: signed(wrong))
        #expect(refusal(request, latest: nil) == .emptyTreeRoot)
        #expect(WitnessRefusal.emptyTreeRoot.status == 422)
        let right = try AddCheckpointRequest(oldSize: 0, consistency: proof, note: signed(.empty))
        #expect(refusal(right, latest: nil) == nil)
        #expect(refusal(right, latest: .empty) == nil)
    }

    @Test func fromTheEmptyTreeNoProofMayBeSent() throws {
        let request = try AddCheckpointRequest(
            oldSize: 0, consistency: ConsistencyProof(hashes: [.emptyTree]), note: log.note(size: 4))
        #expect(refusal(request, latest: nil) == .proofFromEmptyTree)
        #expect(WitnessRefusal.proofFromEmptyTree.status == 422)
    }

    @Test func aForkIsNotCosigned() throws {
        let fork = TreeHead(size: 5, root: .leaf([1]))
        #expect(refusal(try request(from: 5, to: 9), latest: fork) == .inconsistent(.oldRootMismatch))
        let bent = try request(from: 5, to: 9, note: signed(TreeHead(size: 9, root: .leaf([1]))))
        #expect(refusal(bent, latest: try head(5)) == .inconsistent(.newRootMismatch))
        let same = try request(from: 5, to: 5, note: signed(fork))
        #expect(refusal(same, latest: try head(5)) == .inconsistent(.newRootMismatch))
        let short = try AddCheckpointRequest(
            oldSize: 5, consistency: ConsistencyProof(hashes: []), note: log.note(size: 9))
        #expect(refusal(short, latest: try head(5)) == .inconsistent(.wrongHashCount(expected: 5, actual: 0)))
        #expect(WitnessRefusal.inconsistent(.oldRootMismatch).status == 422)
    }

    @Test func withoutAClockNothingIsCosigned() throws {
        #expect(refusal(try request(from: 0, to: 3), latest: nil, at: 0) == .cannotSign(.timeOutOfRange))
        #expect(refusal(try request(from: 0, to: 3), latest: nil, at: .max) == .cannotSign(.timeOutOfRange))
        #expect(WitnessRefusal.cannotSign(.signingFailed).status == 500)
    }

    /// Requests of a log with a fork, in any order: the heads that are cosigned always form one history.
    @Test(arguments: [1, 2, 3] as [UInt64]) func noOrderOfRequestsYieldsTwoHistories(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var trees = [MerkleTree(), MerkleTree()]
        for index in 0..<40 {
            for branch in 0..<2 { trees[branch].append(.leaf([UInt8(index), index < 7 ? 0 : UInt8(branch)])) }
        }
        var latest: TreeHead?
        var seen: [TreeHead] = []
        for _ in 0..<3000 {
            let tree = trees[Int.random(in: 0..<2, using: &generator)]
            let size = UInt64.random(in: 0...40, using: &generator)
            let known = Bool.random(using: &generator) ? latest?.size ?? 0 : .random(in: 0...40, using: &generator)
            let old = min(known, size)
            let proof = try tree.consistencyProof(from: old, to: size)
            let request = try AddCheckpointRequest(
                oldSize: old, consistency: proof, note: signed(tree.head(size: size)))
            guard let cosigned = try? rules.judge(request, latest: latest, at: 1) else { continue }
            latest = cosigned.head
            seen.append(cosigned.head)
        }
        #expect(seen.count > 5)
        let branch = try #require(trees.first { (try? $0.head(size: latest?.size ?? 0)) == latest })
        for head in seen { #expect(try branch.head(size: head.size) == head) }
        #expect(seen.map(\.size) == seen.map(\.size).sorted())
    }
}
