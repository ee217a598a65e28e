// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import PinnedHTTP

/// Why a keystore could not be opened or sealed.
public enum KeystoreError: Error, Hashable, Sendable {
    /// The file does not begin like a keystore.
    case unknownFormat
    /// The file is truncated, or has a field of another length.
    case malformed(CanonicalCodingError)
    /// The header asks for less work than ``KeystoreCost/minimum``: guessing the passphrase would be cheap.
    case costTooLow(KeystoreCost)
    /// The header asks for more memory or work than ``KeystoreCost/maximum``.
    case costTooHigh(KeystoreCost)
    /// The passphrase is wrong or the file was changed. The two cannot be distinguished: the authentication fails in both
    /// cases.
    case wrongPassphraseOrDamaged
    /// The passphrase is empty.
    case emptyPassphrase
    /// The keystore opened, but the keys inside do not match the public keys in the header.
    case keysDoNotFit
    /// There is not enough memory for the work the header asks for.
    case notEnoughMemory
    /// This platform has no Argon2id.
    case unavailable
    /// The place that holds a part of the keystore did not return it.
    case place(KeystorePlaceKind, KeystorePlaceFault)

    /// The error family, which says who is at fault.
    public var family: ErrorFamily {
        switch self {
        case .notEnoughMemory: .environment
        case .unavailable, .keysDoNotFit: .bug
        case .place(_, let fault): fault.family
        default: .caller
        }
    }
}
