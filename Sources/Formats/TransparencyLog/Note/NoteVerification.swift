import Crypto

/// Why a signature line does not verify under a key. None is worth a retry.
public enum NoteSignatureError: Error, Hashable, Sendable {
    /// The line names another key.
    case otherKey
    /// The key is of the other algorithm.
    case wrongAlgorithm
    /// A signature of this kind has another length.
    case wrongLength(Int)
    /// A cosignature's time is above 2^63 - 1.
    case timeOutOfRange
    /// The signature is not one of this key on this text.
    case invalid
}

extension VerifierKey {
    /// Checks a plain Ed25519 signature line over a note's text.
    ///
    /// - Throws: ``NoteSignatureError``. A retry cannot help.
    public func verify(_ signature: NoteSignature, of text: [UInt8]) throws(NoteSignatureError) {
        guard signature.isClaimed(by: self) else { throw .otherKey }
        guard algorithm == .ed25519 else { throw .wrongAlgorithm }
        guard signature.blob.count == 64 else { throw .wrongLength(signature.blob.count) }
        try verify(signature.blob[...], over: text)
    }

    /// Checks a timestamped cosignature line over a checkpoint's whole text.
    ///
    /// - Returns: the time it was made, in seconds since 1970.
    /// - Throws: ``NoteSignatureError``. A retry cannot help.
    public func verifyCosignature(
        _ signature: NoteSignature, of text: [UInt8]
    ) throws(NoteSignatureError) -> UInt64 {
        guard signature.isClaimed(by: self) else { throw .otherKey }
        guard algorithm == .cosignatureV1 else { throw .wrongAlgorithm }
        let cosignature = try Cosignature(decoding: signature.blob)
        try verify(cosignature.signature[...], over: Cosignature.message(text: text, time: cosignature.time))
        return cosignature.time
    }

    private func verify(
        _ signature: ArraySlice<UInt8>, over message: [UInt8]
    ) throws(NoteSignatureError) {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey),
            key.isValidSignature(signature, for: message)
        else { throw .invalid }
    }
}
