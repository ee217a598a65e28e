// SPDX-License-Identifier: Apache-2.0

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

    /// Checks a log's line over a checkpoint's text: plain Ed25519, or ML-DSA-44 in the form of a cosignature, whose time
    /// says nothing about a log.
    ///
    /// Spec: C2SP tlog-checkpoint, "Signatures".
    ///
    /// - Throws: ``NoteSignatureError``. A retry cannot help.
    public func verifyLogSignature(_ signature: NoteSignature, of text: [UInt8]) throws(NoteSignatureError) {
        guard algorithm == .mlDSA44 else { return try verify(signature, of: text) }
        _ = try verifyCosignature(signature, of: text)
    }

    /// Checks a timestamped cosignature line over a checkpoint's whole text.
    ///
    /// Security: ML-DSA-44 covers the first three lines of the checkpoint and the cosigner's name, Ed25519 all lines and
    /// no name.
    ///
    /// - Returns: the time it was made, in seconds since 1970. Zero from a cosigner with an ML-DSA-44 key that does not say
    ///   that the tree is the largest it has seen.
    /// - Throws: ``NoteSignatureError``. A retry cannot help.
    public func verifyCosignature(
        _ signature: NoteSignature, of text: [UInt8]
    ) throws(NoteSignatureError) -> UInt64 {
        guard signature.isClaimed(by: self) else { throw .otherKey }
        let cosignature = try Cosignature(decoding: signature.blob, algorithm)
        guard let message = Cosignature.message(text: text, time: cosignature.time, name, algorithm) else {
            throw .invalid
        }
        guard algorithm == .mlDSA44 else {
            try verify(cosignature.signature[...], over: message)
            return cosignature.time
        }
        guard MLDSA44.isValid(cosignature.signature, for: message, under: publicKey) else { throw .invalid }
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
