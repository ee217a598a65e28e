// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency

/// The guest's device after the host's has answered as only the device with the invitation can.
public struct AgreedGuest: ~Copyable, Sendable {
    let keys: MeetingKeys

    init(_ keys: MeetingKeys) { self.keys = keys }

    /// Introduces the guest. The guest speaks first: by the invitation it knows with whose screen it talks, while the host only knows
    /// that somebody has seen its screen.
    ///
    /// - Parameters:
    ///   - own: who this device's owner is.
    ///   - day: this device's day since 1970.
    ///   - sign: gives the identity key's signature, 64 bytes. What is signed names neither the host nor the day.
    /// - Throws: ``MeetingError/signingFailed``.
    public consuming func introduce(
        _ own: MeetingPerson, day: UInt64, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(MeetingError) -> IntroducedGuest {
        let message = try keys.proof(of: own, as: .guest, day: day, with: sign)
        return IntroducedGuest(keys, own, day, message)
    }
}

/// The guest's device until the host has said who they are.
public struct IntroducedGuest: ~Copyable, Sendable {
    /// The message to the host.
    public let message: [UInt8]
    let keys: MeetingKeys
    private let own: MeetingPerson
    private let day: UInt64

    init(_ keys: MeetingKeys, _ own: MeetingPerson, _ day: UInt64, _ message: [UInt8]) {
        (self.keys, self.own, self.day, self.message) = (keys, own, day, message)
    }

    /// Judges what the host says of themselves.
    ///
    /// - Parameters:
    ///   - message: ``ProvedMeeting/answer``.
    ///   - known: the identity keys, 33 bytes each, that this device goes by.
    /// - Throws: ``MeetingError``, the first check that fails.
    public consuming func receive(
        _ message: [UInt8], knowing known: [Handle: [UInt8]]
    ) throws(MeetingError) -> ProvedMeeting {
        let verifier = MeetingProofVerifier(keys: keys, role: .guest, own: own, day: day, known: known)
        let proof = try verifier.verify(message)
        return ProvedMeeting(
            as: .guest, keys, own: own, day: day, peer: proof.person, hostDay: proof.day, answer: nil)
    }
}
