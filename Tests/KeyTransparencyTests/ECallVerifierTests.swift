// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VRF

/// The threat table of the eCall guide, row by row, and what its algorithm leaves open.
@Suite struct ECallVerifierTests {
    var directory: PaperDirectory
    let alice: PaperPerson
    let bob: PaperPerson

    init() throws {
        directory = try PaperDirectory()
        alice = try PaperPerson("alice@example.org", seed: 10)
        bob = try PaperPerson("bob@example.org", seed: 20)
        try directory.publish(alice)
        try directory.publish(bob)
    }

    struct Answer {
        var publicKey: [UInt8]
        var proof: [UInt8]
        var vrfHash: [UInt8]
    }

    func answer(about person: PaperPerson) throws -> Answer {
        let label = try directory.label(person.handle).hash
        let leaf = DeviceLeaf(label: label, device: person.devices[0].keys)
        let proof = try TlogProof(
            extra: nil, inclusion: directory.proof(of: leaf.entry), note: directory.note(cosigners: []))
        return Answer(
            publicKey: Base64.encode(leaf.publicKey), proof: proof.encoded,
            vrfHash: Base64.encode(label.bytes))
    }

    func verify(_ answer: Answer) throws(ECallError) -> ECallVerifiedKey {
        let verifier: ECallVerifier
        do {
            verifier = try ECallVerifier(
                origin: directory.log.verifierKey.name, logKey: directory.log.verifierKey.publicKey)
        } catch { throw .invalidNoteFormat }
        return try verifier.verifyPeerKey(
            publicKey: answer.publicKey, proof: answer.proof, vrfHash: answer.vrfHash)
    }

    @Test func honestAnswerPassesAndSaysWhatItLeavesOpen() throws {
        let verified = try verify(answer(about: alice))
        #expect(verified.publicKey == alice.devices[0].keys.signing)
        #expect(verified.unproven == ECallVerifiedKey.Unproven.allCases)
    }

    // MARK: The guide's threat table

    @Test func manInTheMiddle_anotherPublicKey() throws {
        var answer = try answer(about: alice)
        answer.publicKey = Base64.encode([UInt8](repeating: 6, count: 32))
        #expect(throws: ECallError.invalidInclusionProof) { try verify(answer) }
    }

    @Test func identitySpoofing_anotherUsersHash() throws {
        var answer = try answer(about: alice)
        answer.vrfHash = try self.answer(about: bob).vrfHash
        #expect(throws: ECallError.invalidInclusionProof) { try verify(answer) }
    }

    @Test(arguments: [true, false]) func logRewriting_editedSizeOrRoot(editsSize: Bool) throws {
        let honest = try directory.note()
        let head = try Checkpoint(decoding: honest.text).head
        let text = try Checkpoint(
            origin: directory.log.verifierKey.name,
            head: TreeHead(
                size: editsSize ? head.size + 1 : head.size, root: editsSize ? head.root : .emptyTree)
        ).text
        let parsed = try TlogProof(decoding: answer(about: alice).proof)
        var answer = try answer(about: alice)
        answer.proof = try TlogProof(
            extra: nil, inclusion: parsed.inclusion,
            note: SignedNote(text: text, signatures: honest.signatures)
        ).encoded
        #expect(throws: ECallError.signatureVerificationFailed) { try verify(answer) }
    }

    @Test func spoofedProvider_anotherLogKey() throws {
        var fake = self
        fake.directory.log = try PaperDirectory.signer(PaperDirectory.origin, .ed25519, seed: 9)
        let answer = try fake.answer(about: alice)
        #expect(throws: ECallError.signatureVerificationFailed) { try verify(answer) }
    }

    @Test func malformed_everyTruncationOfTheProof() throws {
        let honest = try answer(about: alice)
        for count in 0..<honest.proof.count {
            var answer = honest
            answer.proof = Array(honest.proof.prefix(count))
            #expect(throws: ECallError.invalidNoteFormat, "cut to \(count) bytes") { try verify(answer) }
        }
    }

    @Test func malformed_garbageAndOversize() throws {
        for proof in [[], Array("garbage".utf8), [UInt8](repeating: 0xFF, count: 3_000_000)] {
            var answer = try answer(about: alice)
            answer.proof = proof
            #expect(throws: ECallError.invalidNoteFormat) { try verify(answer) }
        }
    }

    @Test func malformed_base64OfHashLineKeyAndLabel() throws {
        let honest = try answer(about: alice)
        var key = honest
        key.publicKey[3] = UInt8(ascii: "*")
        #expect(throws: ECallError.invalidBase64) { try verify(key) }
        var short = honest
        short.publicKey = Base64.encode([UInt8](repeating: 1, count: 31))
        #expect(throws: ECallError.invalidBase64) { try verify(short) }
        var label = honest
        label.vrfHash.removeLast()
        #expect(throws: ECallError.invalidBase64) { try verify(label) }
        var path = honest
        let line = try #require(path.proof.firstIndex(of: UInt8(ascii: "=")))
        path.proof[line - 3] = UInt8(ascii: "*")
        #expect(throws: ECallError.invalidBase64) { try verify(path) }
    }

    @Test func aRawKeyOfTheWrongLengthIsNoPin() throws {
        #expect(throws: ECallSetupError.invalidLogKey) {
            try ECallVerifier(origin: directory.log.verifierKey.name, logKey: [1, 2, 3])
        }
    }

    // MARK: What the native lookup refuses and this one cannot

    @Test func aWhollySwappedPairPassesHereAndNotInANativeLookup() throws {
        // The server answers for alice with bob's logged pair: key and label agree, the person does not.
        _ = try verify(answer(about: bob))
        #expect(throws: LookupError.vrf(.challengeMismatch)) {
            try directory.verifier().verify(
                directory.answer(about: bob).response.encoded, for: alice.handle, knowing: nil,
                at: PaperDirectory.now)
        }
    }
}
