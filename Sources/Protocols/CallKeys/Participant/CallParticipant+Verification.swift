import CallSignalling

extension CallParticipant {
    /// Thirty digits that everybody sees who has the same secret and the same roster in the same epoch, and nobody else; nil while
    /// this device cannot send. Two people who read the same digits to each other have nobody between them.
    ///
    /// Spec: HKDF-SHA256(secret, "signet-call-code/v1" ‖ call ‖ term ‖ generation ‖ step ‖ hash of the roster), 30 bytes; each
    /// five of them, as a big-endian number, modulo 100,000.
    public var verificationCode: [UInt8]? {
        guard isMember, let sending, let roster else { return nil }
        return ring.verificationCode(sending, roster)
    }
}
