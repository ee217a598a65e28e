// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency

/// The host's device after somebody has come who saw the invitation. It says whose it is to nobody who has not proved who they are.
public struct AgreedHost: ~Copyable, Sendable {
    /// The answer to the guest's first message, to be sent now.
    public let opening: [UInt8]
    let keys: MeetingKeys

    init(_ keys: MeetingKeys, opening: [UInt8]) { (self.keys, self.opening) = (keys, opening) }

    /// Judges what the guest says of themselves, and introduces the host.
    ///
    /// - Parameters:
    ///   - message: ``IntroducedGuest/message``.
    ///   - own: who this device's owner is.
    ///   - day: this device's day since 1970.
    ///   - known: the identity keys, 33 bytes each, that this device goes by.
    ///   - sign: gives the identity key's signature, 64 bytes. What is signed names neither the guest nor the day.
    /// - Returns: what to show, with the answer to the guest.
    /// - Throws: ``MeetingError``, the first check that fails.
    public consuming func receive(
        _ message: [UInt8], as own: MeetingPerson, day: UInt64, knowing known: [Handle: [UInt8]],
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(MeetingError) -> ProvedMeeting {
        let verifier = MeetingProofVerifier(keys: keys, role: .host, own: own, day: day, known: known)
        let peer = try verifier.verify(message).person
        let answer = try keys.proof(of: own, as: .host, day: day, with: sign)
        return ProvedMeeting(as: .host, keys, own: own, day: day, peer: peer, hostDay: day, answer: answer)
    }
}

extension MeetingKeys {
    /// The message in which a side says who it is.
    func proof(
        of own: MeetingPerson, as role: MeetingRole, day: UInt64, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(MeetingError) -> [UInt8] {
        let signature = try IdentitySignature.make(over: statement(of: role), by: own.identityKey, with: sign)
        let proof = MeetingProof(own, day: day, signature: signature, binding: Array(binding(of: own, as: role)))
        return try seal(proof.plaintext, .proof, by: role)
    }
}
