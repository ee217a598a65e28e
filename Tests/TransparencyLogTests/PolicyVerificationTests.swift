// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

struct PolicyVerificationTests {
    let log: SmallLog

    init() throws { log = try SmallLog() }

    private func note(_ text: [UInt8], _ signatures: [NoteSignature]) throws -> SignedNote {
        try SignedNote(text: text, signatures: signatures)
    }

    private func flipped(_ signature: NoteSignature) -> NoteSignature {
        var blob = signature.blob
        blob[blob.count - 1] ^= 1
        return NoteSignature(name: signature.name, keyID: signature.keyID, blob: blob)
    }

    @Test func aCheckpointOfAListedLogIsAccepted() throws {
        let verified = try log.policy("quorum none\n").verify(log.note(size: 7, times: [5]))
        #expect(verified.checkpoint.head == (try log.tree.head(size: 7)))
        #expect(verified.log == log.log.verifierKey)
        #expect(verified.cosignatures.map(\.time) == [5])
        #expect(verified.cosignatures.map(\.verifierKey) == [log.witnesses[0].verifierKey])
        #expect(verified.quorumTime == nil)
    }

    @Test func aTextThatIsNoCheckpointIsRefused() throws {
        let text = Array("no checkpoint\n".utf8)
        let note = try note(text, [log.log.sign(text)])
        #expect(throws: CheckpointVerificationError.checkpoint(.lineMissing)) {
            try log.policy("quorum none\n").verify(note)
        }
    }

    @Test func anOriginThatNoListedKeyHasIsRefused() throws {
        let text = try Checkpoint(origin: keyName("log.example/two"), head: .empty).text
        let note = try note(text, [log.log.sign(text)])
        #expect(throws: CheckpointVerificationError.originNotListed) {
            try log.policy("quorum none\n").verify(note)
        }
    }

    @Test func aNoteWithoutTheLogsLineIsRefused() throws {
        let text = try log.text(size: 7)
        let note = try note(text, [log.witnesses[0].cosign(text, time: 5)])
        #expect(throws: CheckpointVerificationError.logSignatureMissing) {
            try log.policy("quorum none\n").verify(note)
        }
    }

    @Test func aLogLineThatFailsIsRefusedEvenBesideAGoodOne() throws {
        let text = try log.text(size: 7)
        let good = try log.log.sign(text)
        let failure = CheckpointVerificationError.logSignatureInvalid(log.log.verifierKey)
        for signatures in [[flipped(good)], [good, flipped(good)], [flipped(good), good]] {
            #expect(throws: failure) { try log.policy("quorum none\n").verify(note(text, signatures)) }
        }
    }

    @Test func aLineOfAnotherListedLogThatFailsIsRefused() throws {
        let other = try signer("log.example/two", .ed25519, seed: 2)
        let policy = try Policy(
            logs: [.init(key: log.log.verifierKey), .init(key: other.verifierKey)], quorum: .none)
        let text = try log.text(size: 7)
        let good = try log.log.sign(text), bad = flipped(try other.sign(text))
        #expect(throws: CheckpointVerificationError.logSignatureInvalid(other.verifierKey)) {
            try policy.verify(note(text, [good, bad]))
        }
        let borrowed = try note(text, [other.sign(text)])
        #expect(throws: CheckpointVerificationError.logSignatureMissing) { try policy.verify(borrowed) }
    }

    @Test func anyOneOfTwoKeysOfALogSuffices() throws {
        let successor = try signer("log.example/one", .ed25519, seed: 2)
        let policy = try Policy(
            logs: [.init(key: log.log.verifierKey), .init(key: successor.verifierKey)], quorum: .none)
        let text = try log.text(size: 7)
        for signer in [log.log, successor] {
            #expect(try policy.verify(note(text, [signer.sign(text)])).log == signer.verifierKey)
        }
    }

    @Test func aCosignatureThatFailsIsRefusedEvenWhereTheQuorumIsMetWithoutIt() throws {
        let text = try log.text(size: 7)
        let good = try log.witnesses[0].cosign(text, time: 5),
            bad = flipped(try log.witnesses[1].cosign(text, time: 5))
        let signed = try note(text, [log.log.sign(text), good, bad])
        for quorum in ["quorum none\n", "quorum w0\n"] {
            #expect(throws: CheckpointVerificationError.cosignatureInvalid(log.witnesses[1].verifierKey)) {
                try log.policy(quorum).verify(signed)
            }
        }
    }

    @Test func linesOfUnknownKeysAreIgnored() throws {
        let text = try log.text(size: 7)
        let key = log.log.verifierKey, witness = log.witnesses[0].verifierKey
        let noise = [
            NoteSignature(name: key.name, keyID: KeyID(rawValue: 1), blob: [1]),
            NoteSignature(name: try keyName("other"), keyID: key.keyID, blob: [1]),
            NoteSignature(name: witness.name, keyID: KeyID(rawValue: 1), blob: [1]),
            NoteSignature(
                name: try keyName("pq"), keyID: KeyID(rawValue: 6), blob: [UInt8](repeating: 6, count: 2428)),
        ]
        let signatures = noise + [try log.log.sign(text), try log.witnesses[0].cosign(text, time: 9)]
        let verified = try log.policy("quorum w0\n").verify(note(text, signatures))
        #expect(verified.quorumTime == 9)
        #expect(verified.note.signatures == signatures)
    }

    @Test func aWitnessThatCosignsTwiceCountsOnceWithItsLatestTime() throws {
        let text = try log.text(size: 7)
        let twice = [try log.witnesses[0].cosign(text, time: 9), try log.witnesses[0].cosign(text, time: 3)]
        let signed = try note(text, [log.log.sign(text)] + twice)
        #expect(throws: CheckpointVerificationError.quorumNotMet) {
            try log.policy("group g 2 w0 w1\nquorum g\n").verify(signed)
        }
        #expect(try log.policy("quorum w0\n").verify(signed).cosignatures.map(\.time) == [9])
    }

    @Test(
        arguments: [
            ("quorum w0\n", [7, 8], 7), ("quorum w1\n", [7, 8], 8), ("quorum w2\n", [7, 8], nil),
            ("group g any w0 w1 w2\nquorum g\n", [7, 8], 8), ("group g 2 w0 w1 w2\nquorum g\n", [7, 8], 7),
            ("group g 2 w0 w1 w2\nquorum g\n", [7, 9, 8], 8),
            ("group g 3 w0 w1 w2\nquorum g\n", [7, 8], nil),
            ("group g all w0 w1 w2\nquorum g\n", [7, 9, 8], 7), ("group g all w0\nquorum g\n", [7], 7),
            ("group a any w0 w1\ngroup b all a w2\nquorum b\n", [7, 9, 8], 8),
            ("group a any w0 w1\ngroup b all a w2\nquorum b\n", [7, 9], nil),
            ("group a all w0 w1\ngroup b any a w2\nquorum b\n", [7, 9, 2], 7),
            ("group a all w0 w1\ngroup b any w2\nquorum w2\n", [7, 9, 2], 2),
        ] as [(String, [UInt64], UInt64?)])
    func theQuorumHasTheLatestTimeThatStillMeetsIt(rule: String, times: [UInt64], expected: UInt64?) throws {
        let policy = try log.policy(rule)
        let note = try log.note(size: 7, times: times)
        if let expected {
            #expect(try policy.verify(note).quorumTime == expected)
        } else {
            #expect(throws: CheckpointVerificationError.quorumNotMet) { try policy.verify(note) }
        }
    }

    @Test(
        arguments: [
            ("quorum none\n", "", true), ("quorum w0\n", "w1 w2", false), ("quorum w0\n", "w0", true),
            ("group g 2 w0 w1 w2\nquorum g\n", "w0 g", false), ("group g 2 w0 w1 w2\nquorum g\n", "w0 w2", true),
            ("group a all w0 w1\ngroup b any a w2\nquorum b\n", "w0", false),
            ("group a all w0 w1\ngroup b any a w2\nquorum b\n", "w2", true), ("quorum w0\n", "", false),
        ])
    func aQuorumIsMetByNames(rule: String, names: String, isMet: Bool) throws {
        let names = Set(names.split(separator: " ").compactMap { Policy.Name($0.utf8) })
        #expect(try log.policy(rule).isQuorumMet(by: names) == isMet)
    }

    @Test func theStepsOfTwoPoliciesDoNotMix() throws {
        let other = try signer("log.example/one", .ed25519, seed: 2)
        let lenient = try Policy(logs: [.init(key: other.verifierKey)], quorum: .none)
        let text = try log.text(size: 7)
        let signed = try lenient.verifyLogSignature(on: note(text, [other.sign(text)]))
        #expect(throws: CheckpointVerificationError.originNotListed) {
            try log.policy("quorum none\n").verifyCosignatures(on: signed)
        }
    }
}
