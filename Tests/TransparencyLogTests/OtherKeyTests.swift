// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import Testing
import TransparencyLog

/// Keys that are none, keys of a kind that we do not verify, and ML-DSA-44.
struct OtherKeyTests {
    /// The neutral element, a point of order 8, and another spelling of the first.
    private static let none: [(key: [UInt8], reason: Ed25519KeyError)] = [
        ([1] + [UInt8](repeating: 0, count: 31), .smallOrder),
        (
            Array(Base64Bytes("JuiVj8KyJ7BFw/SJ8u+Y8NXfrAXTxjM5sTgCiG1T/IU=").bytes), .smallOrder
        ),
        ([0xEE] + [UInt8](repeating: 0xFF, count: 30) + [0x7F], .notCanonical),
    ]

    private static func text(_ name: String, _ material: [UInt8]) throws -> String {
        let id = KeyID(name: try keyName(name), keyMaterial: material)
        return name + "+" + String(decoding: Hex.encode(id.bytes) + [0x2B] + Base64.encode(material), as: UTF8.self)
    }

    @Test(arguments: none.indices) func verifierKey_refusesAPointOfSmallOrder(_ number: Int) throws {
        let (key, reason) = Self.none[number]
        for (type, algorithm) in [(UInt8(1), VerifierKey.Algorithm.ed25519), (4, .cosignatureV1)] {
            let text = try Self.text("log.example", [type] + key)
            #expect(throws: VerifierKeyError.ed25519(reason)) { try VerifierKey(decoding: Array(text.utf8)) }
            #expect(throws: VerifierKeyError.ed25519(reason)) {
                try VerifierKey(name: keyName("log.example"), algorithm: algorithm, publicKey: key)
            }
        }
        let log = try Self.text("log.example", [1] + key), witness = try Self.text("w.example", [4] + key)
        #expect(throws: PolicyError.line(1, .key(.ed25519(reason)))) {
            try Policy(decoding: Array("log \(log)\nquorum none\n".utf8))
        }
        #expect(throws: PolicyError.line(1, .key(.ed25519(reason)))) {
            try Policy(decoding: Array("witness w \(witness)\nquorum w\n".utf8))
        }
        #expect(throws: WitnessedLogsError.line(2, .key(.ed25519(reason)))) {
            try WitnessedLogs(decoding: Array("logs/v0\nvkey \(log)\n".utf8))
        }
    }

    /// Types 2 and 5 of signed-note, and one that nobody has.
    @Test(arguments: [UInt8(2), 5, 0x7F]) func aMemberOfAKindThatWeDoNotVerifyNeverCosigns(_ type: UInt8) throws {
        let log = try SmallLog()
        let other = "other.example+0badf00d+" + String(decoding: Base64.encode([type, 1, 2, 3]), as: UTF8.self)
        let rules = "witness other \(other)\nlog \(other)\ngroup g 2 w0 w1 other\nquorum g\n"
        let policy = try log.policy(rules)
        #expect(try Policy(decoding: policy.encoded) == policy)
        #expect(policy.logs.count == 1 && policy.listedLogs.count == 2)
        #expect(policy.witnesses.count == 4 && policy.verifiableWitnesses.count == 3)
        #expect(try policy.verify(log.note(size: 5, times: [7, 8])).quorumTime == 7)

        let line = NoteSignature(
            name: try keyName("other.example"), keyID: KeyID(rawValue: 0x0BAD_F00D),
            blob: [UInt8](repeating: 0, count: 72))
        let note = try log.note(size: 5, times: [7])
        let claimed = try SignedNote(text: note.text, signatures: note.signatures + [line])
        #expect(throws: CheckpointVerificationError.quorumNotMet) { try policy.verify(claimed) }
        let names = Set(policy.witnesses.map(\.name).filter { $0.bytes != Array("w1".utf8) })
        #expect(!policy.isQuorumMet(by: names))
    }

    @Test func aQuorumOutOfReachIsRefusedByName() throws {
        let log = try SmallLog()
        let other = "other.example+0badf00d+" + String(decoding: Base64.encode([5, 1]), as: UTF8.self)
        for rules in ["quorum other\n", "group g all w0 other\nquorum g\n", "group g any other\nquorum g\n"] {
            #expect(throws: PolicyError.quorumOutOfReach, "\(rules)") {
                try log.policy("witness other \(other)\n\(rules)")
            }
        }
        #expect(
            try log.policy("witness other \(other)\ngroup g any w0 other\nquorum g\n").quorumStrength.fewestToStop == 1)
        #expect(throws: VerifierKeyError.unsupportedAlgorithm(5)) { try VerifierKey(decoding: Array(other.utf8)) }
    }

    @Test func twoQuorumsAreNotEqualForAMemberThatNeverCosigns() throws {
        let log = try SmallLog()
        let other = "other.example+0badf00d+" + String(decoding: Base64.encode([5, 1]), as: UTF8.self)
        let one = try log.policy("quorum w0\n")
        let any = try log.policy("witness other \(other)\ngroup g any w0 other\nquorum g\n")
        #expect(any.quorumImplies(one) && one.quorumImplies(any))
    }
}

/// Cosignatures made by OpenSSL, with messages put together in Python: `Scripts/interop/ml-dsa-44.py`.
@Suite(.enabled(if: VerifierKey.Algorithm.mlDSA44.isVerified, "swift-crypto has no BoringSSL here"))
struct MLDSA44Tests {
    struct Case: Decodable {
        let why: String
        let valid: Bool
        let time: UInt64
        let seed: String
        let vkey: String
        let text: String
        let line: String

        var note: SignedNote {
            get throws { try SignedNote(decoding: Array((text + "\n" + line).utf8)) }
        }
    }

    static let cases: [Case] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Vectors/ml-dsa-44/cosignatures.json")
        return (try? JSONDecoder().decode([Case].self, from: Data(contentsOf: file))) ?? []
    }()

    @Test func cosignaturesOfOpenSSLVerifyOrAreRefused() throws {
        #expect(Self.cases.count == 18)
        for test in Self.cases {
            let key = try VerifierKey(decoding: Array(test.vkey.utf8))
            #expect(key.encoded == Array(test.vkey.utf8))
            let note = try test.note
            let time = try? key.verifyCosignature(note.signatures[0], of: note.text)
            #expect(time == (test.valid ? test.time : nil), "\(test.why)")
        }
    }

    @Test func theSeedGivesOpenSSLsKeyAndSignsWhatItVerifies() throws {
        let test = try #require(Self.cases.first)
        let key = try VerifierKey(decoding: Array(test.vkey.utf8))
        let signer = try NoteSigner(name: key.name, algorithm: .mlDSA44, seed: Hex.decode(Array(test.seed.utf8)))
        #expect(signer.verifierKey == key)
        let line = try signer.cosign(Array(test.text.utf8), time: 77)
        #expect(line.blob.count == 2428)
        #expect(try key.verifyCosignature(line, of: Array(test.text.utf8)) == 77)
        #expect(throws: NoteSignerError.cannotCosign) { try signer.cosign(Array("text\n".utf8), time: 1) }
        #expect(throws: NoteSignerError.wrongAlgorithm) { try signer.sign(Array(test.text.utf8)) }
        #expect(throws: NoteSignerError.wrongSeedLength(31)) {
            try NoteSigner(name: key.name, algorithm: .mlDSA44, seed: [UInt8](repeating: 1, count: 31))
        }
        #expect(throws: NoteSignerError.wrongAlgorithm) {
            try NoteSigner(name: key.name, algorithm: .other(5), seed: [UInt8](repeating: 1, count: 32))
        }
    }

    @Test func aQuorumOfBothKindsIsMetByEach() throws {
        let log = try SmallLog()
        let pq = try signer("witness.example/pq", .mlDSA44, seed: 40)
        let line = "witness pq \(String(decoding: pq.verifierKey.encoded, as: UTF8.self))\n"
        let all = try log.policy(line + "group g all w0 pq\nquorum g\n")
        let note = try log.note(size: 5, times: [7])
        #expect(throws: CheckpointVerificationError.quorumNotMet) { try all.verify(note) }
        let both = try SignedNote(
            text: note.text, signatures: note.signatures + [try pq.cosign(note.text, time: 6)])
        #expect(try all.verify(both).quorumTime == 6)
        #expect(try all.verify(both).cosignatures.count == 2)

        // The line of another tree is no line of this one.
        let other = try pq.cosign(log.text(size: 6), time: 6)
        let mixed = try SignedNote(text: note.text, signatures: note.signatures + [other])
        #expect(throws: CheckpointVerificationError.cosignatureInvalid(pq.verifierKey)) { try all.verify(mixed) }
    }

    /// A witness with two keys: neither kind of policy has to wait for the other.
    @Test func aWitnessWithASecondKeyCosignsWithBothAtOneTime() throws {
        let log = try SmallLog()
        let pq = try signer("witness.example/w0", .mlDSA44, seed: 42)
        let rules = WitnessRules(
            logs: try WitnessedLogs([.init(key: log.log.verifierKey)]), signer: log.witnesses[0], postQuantumSigner: pq)
        let note = try log.note(size: 5, times: [])
        let request = try AddCheckpointRequest(oldSize: 0, consistency: ConsistencyProof(hashes: []), note: note)
        let cosigned = try rules.judge(request, latest: nil, at: 77)
        #expect(cosigned.cosignatures.map(\.keyID) == [log.witnesses[0].verifierKey.keyID, pq.verifierKey.keyID])
        #expect(Array(cosigned.note.signatures.dropFirst()) == cosigned.cosignatures)
        #expect(
            WitnessAnswer(status: 200, body: WitnessAnswer.body(of: cosigned.cosignatures))
                == .cosignatures(cosigned.cosignatures))
        let line = "witness pq \(String(decoding: pq.verifierKey.encoded, as: UTF8.self))\n"
        for quorum in ["quorum w0\n", "quorum pq\n", "group g all w0 pq\nquorum g\n"] {
            #expect(try log.policy(line + quorum).verify(cosigned.note).quorumTime == 77)
        }
    }

    /// ML-DSA-44 cannot speak of it; the log is not to suffer for that.
    @Test func aLogWithTooLongANameIsCosignedByTheFirstKeyAlone() throws {
        let name = "log.example/" + String(repeating: "a", count: 250)
        let log = try signer(name, .ed25519, seed: 43)
        let rules = WitnessRules(
            logs: try WitnessedLogs([.init(key: log.verifierKey)]),
            signer: try signer("witness.example/w0", .cosignatureV1, seed: 44),
            postQuantumSigner: try signer("witness.example/w0", .mlDSA44, seed: 45))
        let text = try Checkpoint(origin: log.verifierKey.name, head: SmallLog().tree.head(size: 5)).text
        let note = try SignedNote(text: text, signatures: [try log.sign(text)])
        let request = try AddCheckpointRequest(oldSize: 0, consistency: ConsistencyProof(hashes: []), note: note)
        #expect(try rules.judge(request, latest: nil, at: 77).cosignatures.count == 1)
    }

    @Test func aLogMaySignWithMLDSA44() throws {
        let small = try SmallLog()
        let pq = try signer("log.example/one", .mlDSA44, seed: 41)
        let policy = try Policy(
            decoding: Array("log ".utf8) + pq.verifierKey.encoded + Array("\nquorum none\n".utf8))
        let text = try small.text(size: 5)
        let note = try SignedNote(text: text, signatures: [try pq.cosign(text, time: 0)])
        #expect(try policy.verify(note).log == pq.verifierKey)
        let wrong = try SignedNote(text: text, signatures: [try pq.cosign(small.text(size: 6), time: 0)])
        #expect(throws: CheckpointVerificationError.logSignatureInvalid(pq.verifierKey)) { try policy.verify(wrong) }

        let logs = try WitnessedLogs([.init(key: pq.verifierKey)])
        let rules = WitnessRules(logs: logs, signer: try signer("w.example", .cosignatureV1, seed: 2))
        func request(_ note: SignedNote) throws -> AddCheckpointRequest {
            try AddCheckpointRequest(oldSize: 0, consistency: ConsistencyProof(hashes: []), note: note)
        }
        #expect(try rules.judge(request(note), latest: nil, at: 9).head.size == 5)
        #expect(throws: WitnessRefusal.logSignatureInvalid(pq.verifierKey)) {
            try rules.judge(request(wrong), latest: nil, at: 9)
        }
    }
}

/// Canonical base64 in a literal.
private struct Base64Bytes {
    let bytes: [UInt8]

    init(_ text: StaticString) { bytes = (try? Base64.decode(Array("\(text)".utf8))) ?? [] }
}
