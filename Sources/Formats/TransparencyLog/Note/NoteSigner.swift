// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Why a signer could not be made or could not sign.
public enum NoteSignerError: Error, Hashable, Sendable {
    /// A seed has 32 bytes, not this many. The caller's mistake.
    case wrongSeedLength(Int)
    /// The key is of another algorithm. The caller's mistake.
    case wrongAlgorithm
    /// ML-DSA-44 cosigns checkpoints only, whose origin and whose cosigner's name have at most 255 bytes. The caller's mistake.
    case cannotCosign
    /// A time above 2^63 - 1. The caller's mistake.
    case timeOutOfRange
    /// The cryptographic library failed, or the token that keeps the key. The environment's fault.
    case signingFailed
}

/// A private key with a name: a log's, which signs notes, or a witness's, which cosigns them.
///
/// Security: the key cannot be read back, and neither function looks at the text: a log must sign, and a
/// witness cosign, only what extends everything it signed before.
///
/// Spec: C2SP signed-note, "Ed25519 signatures"; tlog-cosignature, "Ed25519 signed message", "ML-DSA-44 signed message".
public struct NoteSigner: Sendable {
    /// The public half.
    public let verifierKey: VerifierKey
    private let key: Key

    private enum Key: Sendable {
        case ed25519(Curve25519.Signing.PrivateKey)
        /// The seed, 32 bytes.
        case mlDSA44(SymmetricKey)
        /// A private key that is kept elsewhere: what signs with it, or nil, and its public half.
        case elsewhere(Curve25519.Signing.PublicKey, @Sendable ([UInt8]) -> [UInt8]?)

        /// Nil for a seed of another length and for a type that we do not sign with.
        init?(_ algorithm: VerifierKey.Algorithm, seed: [UInt8]) {
            guard seed.count == 32 else { return nil }
            switch algorithm {
            case .ed25519, .cosignatureV1:
                guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else { return nil }
                self = .ed25519(key)
            case .mlDSA44: self = .mlDSA44(SymmetricKey(data: seed))
            case .other: return nil
            }
        }

        var publicKey: [UInt8]? {
            switch self {
            case .ed25519(let key): Array(key.publicKey.rawRepresentation)
            case .mlDSA44(let seed): MLDSA44.publicKey(of: seed)
            case .elsewhere(let key, _): Array(key.rawRepresentation)
            }
        }
    }

    /// The signer with this private key of 32 bytes: of RFC 8032, or the seed xi of FIPS 204.
    ///
    /// - Throws: ``NoteSignerError/wrongSeedLength(_:)``, ``NoteSignerError/wrongAlgorithm``: a type that this build does
    ///   not sign with.
    public init(
        name: KeyName, algorithm: VerifierKey.Algorithm, seed: [UInt8]
    ) throws(NoteSignerError) {
        guard seed.count == 32 else { throw .wrongSeedLength(seed.count) }
        guard let key = Key(algorithm, seed: seed), let publicKey = key.publicKey,
            let verifierKey = try? VerifierKey(name: name, algorithm: algorithm, publicKey: publicKey)
        else { throw .wrongAlgorithm }
        self.key = key
        self.verifierKey = verifierKey
    }

    /// The signer whose private key is kept elsewhere, such as in a token.
    ///
    /// - Parameters:
    ///   - verifierKey: of algorithm `ed25519`: a log's.
    ///   - signing: signs a message, 64 bytes; nil if it cannot. Each signature is verified before it is used.
    /// - Throws: ``NoteSignerError/wrongAlgorithm``.
    package init(
        verifierKey: VerifierKey, signing: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) throws(NoteSignerError) {
        guard verifierKey.algorithm == .ed25519,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: verifierKey.publicKey)
        else { throw .wrongAlgorithm }
        self.key = .elsewhere(key, signing)
        self.verifierKey = verifierKey
    }

    /// Signs a note's text with a key of algorithm ``VerifierKey/Algorithm/ed25519``.
    ///
    /// - Throws: ``NoteSignerError``.
    public func sign(_ text: [UInt8]) throws(NoteSignerError) -> NoteSignature {
        guard verifierKey.algorithm == .ed25519 else { throw .wrongAlgorithm }
        return line(try signature(over: text))
    }

    /// Cosigns a checkpoint's whole text with a key of algorithm ``VerifierKey/Algorithm/cosignatureV1`` or
    /// ``VerifierKey/Algorithm/mlDSA44``.
    ///
    /// `time` is in seconds since 1970, at most 2^63 - 1.
    ///
    /// - Throws: ``NoteSignerError``.
    public func cosign(_ text: [UInt8], time: UInt64) throws(NoteSignerError) -> NoteSignature {
        guard verifierKey.algorithm != .ed25519 else { throw .wrongAlgorithm }
        guard time <= Cosignature.maximumTime else { throw .timeOutOfRange }
        let message = Cosignature.message(text: text, time: time, verifierKey.name, verifierKey.algorithm)
        guard let message else { throw .cannotCosign }
        let signature = try signature(over: message)
        return line(Cosignature(time: time, signature: signature).encoded)
    }

    private func signature(over message: [UInt8]) throws(NoteSignerError) -> [UInt8] {
        let signature: [UInt8]? =
            switch key {
            case .ed25519(let key): (try? key.signature(for: message)).map(Array.init)
            case .mlDSA44(let seed): MLDSA44.sign(message, with: seed)
            case .elsewhere(let key, let sign):
                sign(message).flatMap { key.isValidSignature($0, for: message) ? $0 : nil }
            }
        guard let signature else { throw .signingFailed }
        return signature
    }

    private func line(_ blob: [UInt8]) -> NoteSignature {
        NoteSignature(name: verifierKey.name, keyID: verifierKey.keyID, blob: blob)
    }
}
