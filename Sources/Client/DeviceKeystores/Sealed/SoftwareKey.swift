// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import SecretMemory
import SignetClient

/// A private key in memory, for the time of one use.
enum SoftwareKey {
    case signing(P256.Signing.PrivateKey)
    case agreement(P256.KeyAgreement.PrivateKey)
    case edwards(Curve25519.Signing.PrivateKey)

    /// 32 new bytes that are a private key of this kind.
    static func make(_ kind: PrivateKeyKind) -> SecretBytes {
        switch kind {
        case .p256Signing: SecretBytes(copying: P256.Signing.PrivateKey().rawRepresentation)
        case .p256Agreement: SecretBytes(copying: P256.KeyAgreement.PrivateKey().rawRepresentation)
        case .ed25519Signing: SecretBytes(copying: Curve25519.Signing.PrivateKey().rawRepresentation)
        }
    }

    /// nil when the bytes are no such key.
    init?(_ kind: PrivateKeyKind, _ bytes: SecretBytes) {
        let key: SoftwareKey? = bytes.withBytes { bytes in
            switch kind {
            case .p256Signing: (try? P256.Signing.PrivateKey(rawRepresentation: bytes)).map { .signing($0) }
            case .p256Agreement:
                (try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes)).map { .agreement($0) }
            case .ed25519Signing:
                (try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)).map { .edwards($0) }
            }
        }
        guard let key else { return nil }
        self = key
    }

    var publicKey: [UInt8] {
        switch self {
        case .signing(let key): Array(key.publicKey.compressedRepresentation)
        case .agreement(let key): Array(key.publicKey.compressedRepresentation)
        case .edwards(let key): Array(key.publicKey.rawRepresentation)
        }
    }

    func sign(_ message: [UInt8]) throws(PrivateKeyStoreError) -> [UInt8] {
        switch self {
        case .signing(let key):
            guard let signature = try? key.signature(for: message) else { throw .unavailable }
            return Array(signature.rawRepresentation)
        case .edwards(let key):
            guard let signature = try? key.signature(for: message) else { throw .unavailable }
            return Array(signature)
        case .agreement: throw .unsupported
        }
    }

    func agree(with publicKey: [UInt8], context: [UInt8]) throws(PrivateKeyStoreError) -> SymmetricKey {
        guard case .agreement(let key) = self else { throw .unsupported }
        guard let peer = try? P256.KeyAgreement.PublicKey(compressedRepresentation: publicKey),
            let shared = try? key.sharedSecretFromKeyAgreement(with: peer)
        else { throw .invalidInput }
        return shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: [UInt8](), sharedInfo: context, outputByteCount: 32)
    }
}
