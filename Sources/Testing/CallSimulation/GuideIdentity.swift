// SPDX-License-Identifier: Apache-2.0

import CallKeys
import Crypto
import CryptoExtras

/// The key to which the guide's host wraps: P-256, and for every fifth device, an old one, RSA.
enum GuideIdentity {
    case p256(P256.KeyAgreement.PrivateKey)
    case rsa(_RSA.Encryption.PrivateKey)

    /// The same for one number in every call; nil if there is no such key.
    init?(_ number: Int) {
        if number % 5 == 4 {
            guard let der = Self.oldKey, let key = try? _RSA.Encryption.PrivateKey(derRepresentation: der) else {
                return nil
            }
            self = .rsa(key)
        } else {
            let ending = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            let scalar = [UInt8](repeating: 1, count: 28) + ending
            guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: scalar) else { return nil }
            self = .p256(key)
        }
    }

    private static let oldKey = try? Array(_RSA.Encryption.PrivateKey(keySize: .bits2048).derRepresentation)

    func wrap(_ key: SymmetricKey) -> [UInt8]? {
        switch self {
        case .p256(let own): try? LegacyWrap.wrapP256(key, to: own.publicKey)
        case .rsa(let own): try? LegacyWrap.wrapRSA(key, to: own.publicKey)
        }
    }

    func open(_ wrap: [UInt8]) -> SymmetricKey? {
        switch self {
        case .p256(let own): try? LegacyWrap.openP256(wrap, with: own)
        case .rsa(let own): try? LegacyWrap.openRSA(wrap, with: own)
        }
    }
}
