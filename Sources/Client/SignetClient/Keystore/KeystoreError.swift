public import CanonicalCoding
public import PinnedHTTP

/// Why a keystore could not be opened or sealed.
public enum KeystoreError: Error, Hashable, Sendable {
    /// The file does not start as a keystore does.
    case unknownFormat
    /// It is cut short, or has a field of another length.
    case malformed(CanonicalCodingError)
    /// Its header asks for less work than ``KeystoreCost/minimum``: guessing the passphrase would be cheap.
    case costTooLow(KeystoreCost)
    /// Its header asks for more memory or work than ``KeystoreCost/maximum``.
    case costTooHigh(KeystoreCost)
    /// The passphrase is wrong or the file was changed. The two cannot be told apart: either way the
    /// authentication fails.
    case wrongPassphraseOrDamaged
    /// The passphrase is empty.
    case emptyPassphrase
    /// It opened, and the keys inside do not fit the public keys in the header.
    case keysDoNotFit
    /// There is not enough memory for the work the header asks for.
    case notEnoughMemory
    /// This platform has no Argon2id.
    case unavailable
    /// The place that holds a part of the keystore did not give it.
    case place(KeystorePlaceKind, KeystorePlaceFault)

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .notEnoughMemory: .environment
        case .unavailable, .keysDoNotFit: .bug
        case .place(_, let fault): fault.family
        default: .caller
        }
    }
}
