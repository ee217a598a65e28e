public import PinnedHTTP

/// A place outside the keystore's file that holds a part of what opens it: whoever copies the file and knows the passphrase has
/// nothing without the place.
///
/// Calls block while the place works, as making a key of a passphrase does.
public protocol KeystorePlace: Sendable {
    /// Which kind it is; the keystore's header says it.
    var kind: KeystorePlaceKind { get }

    /// Makes a new part under a name. One that an interrupted attempt left there is replaced.
    ///
    /// - Parameters:
    ///   - name: 16 bytes, the keystore's salt.
    ///   - pin: 32 bytes that only the passphrase makes, for a place that has a lock of its own.
    ///   - withIdentity: whether the account's identity key is made too, if the place signs by itself.
    func make(named name: [UInt8], pin: SecretBytes, withIdentity: Bool) throws(KeystoreError) -> KeystorePart

    /// Gives the part back.
    ///
    /// - Throws: ``KeystoreError/wrongPassphraseOrDamaged`` for another PIN, and ``KeystoreError/place(_:_:)``.
    func part(named name: [UInt8], pin: SecretBytes) throws(KeystoreError) -> KeystorePart
}

/// What a place holds of one keystore.
public struct KeystorePart: Sendable {
    /// 32 random bytes, which go into the key that opens the keystore.
    public let secret: SecretBytes
    /// Signs with the identity key, which never leaves the place; nil where the place does not sign, or the device does not hold the
    /// identity.
    public let identity: (any IdentitySigner)?

    /// A part of a keystore.
    public init(secret: SecretBytes, identity: (any IdentitySigner)?) {
        self.secret = secret
        self.identity = identity
    }
}

/// An account's identity key in a place that lets it be used and never read.
public protocol IdentitySigner: Sendable {
    /// The public half: P-256, 33 bytes, compressed.
    var publicKey: [UInt8] { get }

    /// ECDSA with SHA-256, r || s, 64 bytes. Blocks while the place works.
    ///
    /// - Throws: ``KeystoreError/place(_:_:)``.
    func sign(_ message: [UInt8]) throws(KeystoreError) -> [UInt8]
}

/// The kinds of places.
public enum KeystorePlaceKind: UInt8, CaseIterable, Hashable, Sendable {
    /// The desktop's keyring. It holds a secret; identity and device keys are in the file.
    case keyring = 1
    /// A TPM 2.0. It holds a secret, and makes the identity key and signs with it.
    case tpm = 2
}

/// Why a place did not do its part.
public enum KeystorePlaceFault: Hashable, Sendable {
    /// The keystore needs the place, and the caller gave none, or one of another kind.
    case notGiven
    /// This machine has no such place, or no program to reach it.
    case absent
    /// It is locked. Unlock it and try again.
    case locked
    /// After too many wrong passphrases it refuses even the right one for a while.
    case lockedOut
    /// It has no part of this keystore: the file comes from another machine, or the place was cleared.
    case nothingThere
    /// What it holds was changed or is damaged.
    case damaged
    /// It did not answer as it should: the environment's fault, worth a retry.
    case failed

    var family: ErrorFamily {
        switch self {
        case .notGiven: .bug
        case .nothingThere, .damaged: .caller
        case .absent, .locked, .lockedOut, .failed: .environment
        }
    }
}
