import Crypto

/// Why a signer could not be made or could not sign.
public enum NoteSignerError: Error, Hashable, Sendable {
    /// A seed has 32 bytes, not this many. The caller's mistake.
    case wrongSeedLength(Int)
    /// The key is of the other algorithm. The caller's mistake.
    case wrongAlgorithm
    /// A time above 2^63 - 1. The caller's mistake.
    case timeOutOfRange
    /// The cryptographic library failed. The environment's fault.
    case signingFailed
}

/// An Ed25519 private key with a name: a log's, which signs notes, or a witness's, which cosigns them.
///
/// Security: the key cannot be read back, and neither function looks at the text: a log must sign, and a
/// witness cosign, only what extends everything it signed before.
///
/// Spec: C2SP signed-note, "Ed25519 signatures"; tlog-cosignature, "Ed25519 signed message".
public struct NoteSigner: Sendable {
    /// The public half.
    public let verifierKey: VerifierKey
    private let key: Curve25519.Signing.PrivateKey

    /// The signer with this RFC 8032 private key of 32 bytes.
    ///
    /// - Throws: ``NoteSignerError/wrongSeedLength(_:)``.
    public init(
        name: KeyName, algorithm: VerifierKey.Algorithm, seed: [UInt8]
    ) throws(NoteSignerError) {
        guard seed.count == 32, let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed),
            let verifierKey = try? VerifierKey(
                name: name, algorithm: algorithm, publicKey: Array(key.publicKey.rawRepresentation))
        else { throw .wrongSeedLength(seed.count) }
        self.key = key
        self.verifierKey = verifierKey
    }

    /// Signs a note's text with a key of algorithm ``VerifierKey/Algorithm/ed25519``.
    ///
    /// - Throws: ``NoteSignerError``.
    public func sign(_ text: [UInt8]) throws(NoteSignerError) -> NoteSignature {
        guard verifierKey.algorithm == .ed25519 else { throw .wrongAlgorithm }
        return line(try signature(over: text))
    }

    /// Cosigns a checkpoint's whole text with a key of algorithm ``VerifierKey/Algorithm/cosignatureV1``.
    ///
    /// `time` is in seconds since 1970, at most 2^63 - 1.
    ///
    /// - Throws: ``NoteSignerError``.
    public func cosign(_ text: [UInt8], time: UInt64) throws(NoteSignerError) -> NoteSignature {
        guard verifierKey.algorithm == .cosignatureV1 else { throw .wrongAlgorithm }
        guard time <= Cosignature.maximumTime else { throw .timeOutOfRange }
        let signature = try signature(over: Cosignature.message(text: text, time: time))
        return line(Cosignature(time: time, signature: signature).encoded)
    }

    private func signature(over message: [UInt8]) throws(NoteSignerError) -> [UInt8] {
        guard let signature = try? key.signature(for: message) else { throw .signingFailed }
        return Array(signature)
    }

    private func line(_ blob: [UInt8]) -> NoteSignature {
        NoteSignature(name: verifierKey.name, keyID: verifierKey.keyID, blob: blob)
    }
}
