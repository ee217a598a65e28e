// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import CryptographicMessages
import X509

/// How the key of a certificate signs cards.
enum CardSignatureKind {
    case p256
    case rsa

    /// The kind of a key; nil if it signs no cards: it is of another curve, or RSA with less than 2048 bits.
    init?(_ key: Certificate.PublicKey) {
        if P256.Signing.PublicKey(key) != nil {
            self = .p256
        } else if let key = _RSA.Signing.PublicKey(key), (2048...4096).contains(key.keySizeInBits) {
            self = .rsa
        } else {
            return nil
        }
    }

    var certificateAlgorithm: Certificate.SignatureAlgorithm {
        switch self {
        case .p256: .ecdsaWithSHA256
        case .rsa: .sha256WithRSAEncryption
        }
    }

    var messageAlgorithm: DetachedSignature.Algorithm {
        switch self {
        case .p256: .ecdsaSHA256
        case .rsa: .rsaSHA256
        }
    }
}
