// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency

/// Decides whether the device at the other end is the one of the person that it names: the checks in their order, one line each.
///
/// Spec: Krawczyk, "SIGMA: the 'SIGn-and-MAc' approach to authenticated Diffie-Hellman" (2003), section 5.2 (SIGMA-I).
struct MeetingProofVerifier {
    let keys: MeetingKeys
    /// On which side this device is.
    let role: MeetingRole
    let own: MeetingPerson
    /// This device's day since 1970.
    let day: UInt64
    /// The identity keys that this device goes by, of people whom it accepted or met: 33 bytes each.
    let known: [Handle: [UInt8]]

    /// - Returns: what the other side proved.
    func verify(_ message: [UInt8]) throws(MeetingError) -> MeetingProof {
        let proof = try MeetingProof(plaintext: keys.open(message, .proof, from: role.peer))
        try checkDirectory(proof.person)
        try checkOther(proof.person)
        try checkDay(proof.day)
        try checkSignature(proof)
        try checkBinding(proof)
        try checkKnown(proof.person)
        return proof
    }

    private func checkDirectory(_ person: MeetingPerson) throws(MeetingError) {
        guard person.origin == own.origin else { throw .otherDirectory }
    }

    private func checkOther(_ person: MeetingPerson) throws(MeetingError) {
        guard person.handle != own.handle else { throw .yourself }
        guard person.identityKey != own.identityKey else { throw .yourself }
    }

    /// Days begin at different times on earth, and clocks differ: one day is no sign of anything.
    private func checkDay(_ theirs: UInt64) throws(MeetingError) {
        let apart = theirs > day ? theirs - day : day - theirs
        guard apart <= 1 else { throw .otherDay(theirs: theirs, own: day) }
    }

    private func checkSignature(_ proof: MeetingProof) throws(MeetingError) {
        guard
            IdentitySignature.isValid(
                proof.signature, over: keys.statement(of: role.peer), by: proof.person.identityKey)
        else { throw .invalidSignature }
    }

    private func checkBinding(_ proof: MeetingProof) throws(MeetingError) {
        // The library compares in constant time.
        guard keys.binding(of: proof.person, as: role.peer) == proof.binding else { throw .notBound }
    }

    private func checkKnown(_ person: MeetingPerson) throws(MeetingError) {
        guard let key = known[person.handle] else { return }
        guard key == person.identityKey else { throw .anotherIdentity(person.handle) }
    }
}

/// Signatures by identity keys: ECDSA on P-256 with SHA-256, r || s, 64 bytes.
enum IdentitySignature {
    static func isValid(_ signature: [UInt8], over message: [UInt8], by key: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: key),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }

    /// Has a statement signed, and checks what came back.
    static func make(
        over message: [UInt8], by key: [UInt8], with sign: ([UInt8]) throws -> [UInt8]
    ) throws(MeetingError) -> [UInt8] {
        guard let signature = try? sign(message), isValid(signature, over: message, by: key) else {
            throw .signingFailed
        }
        return signature
    }
}
