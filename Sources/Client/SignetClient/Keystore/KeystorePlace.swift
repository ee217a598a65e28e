// SPDX-License-Identifier: Apache-2.0

public import PinnedHTTP
public import SecretMemory

/// A place outside the keystore's file that holds a part of what opens it: an attacker who copies the file and knows the
/// passphrase has nothing without the place.
///
/// Calls block while the place works, as deriving a key from a passphrase does.
public protocol KeystorePlace: Sendable {
    /// The kind of the place, which the keystore's header names.
    var kind: KeystorePlaceKind { get }

    /// Makes a new part under a name that no other part has. A part without a keystore, from an interrupted attempt, is harmless.
    ///
    /// - Parameters:
    ///   - name: 16 bytes, the keystore's salt.
    ///   - pin: 32 bytes that only the passphrase yields, for a place that has its own lock.
    ///   - withIdentity: whether the account's identity key is made too, if the place signs by itself.
    /// - Throws: ``KeystoreError/place(_:_:)``: no keystore refers to what was made.
    func make(named name: [UInt8], pin: SecretBytes, withIdentity: Bool) throws(KeystoreError) -> KeystorePart

    /// Returns the part.
    ///
    /// - Throws: ``KeystoreError/wrongPassphraseOrDamaged`` for another PIN, and ``KeystoreError/place(_:_:)``.
    func part(named name: [UInt8], pin: SecretBytes) throws(KeystoreError) -> KeystorePart
}

/// What a place holds for one keystore.
public struct KeystorePart: Sendable {
    /// 32 random bytes, which are part of the input to the key that opens the keystore.
    public let secret: SecretBytes
    /// Signs with the identity key, which never leaves the place; nil if the place does not sign, or if the device does not
    /// hold the identity.
    public let identity: (any IdentitySigner)?

    /// Makes a part of a keystore.
    public init(secret: SecretBytes, identity: (any IdentitySigner)?) {
        self.secret = secret
        self.identity = identity
    }
}

/// An account's identity key in a place that allows its use but never reveals it.
public protocol IdentitySigner: Sendable {
    /// The public half: P-256, 33 bytes, compressed.
    var publicKey: [UInt8] { get }

    /// Signs with ECDSA and SHA-256; r || s, 64 bytes. Blocks while the place works.
    ///
    /// - Throws: ``KeystoreError/place(_:_:)``.
    func sign(_ message: [UInt8]) throws(KeystoreError) -> [UInt8]
}

/// The kinds of places.
public enum KeystorePlaceKind: UInt8, CaseIterable, Hashable, Sendable {
    /// The desktop's keyring. It holds a secret; the identity key and the device keys are in the file.
    case keyring = 1
    /// A TPM 2.0. It holds a secret, makes the identity key and signs with it.
    case tpm = 2
}

/// Why a place could not do its part.
public enum KeystorePlaceFault: Hashable, Sendable {
    /// The keystore needs the place, and the caller gave none or one of another kind.
    case notGiven
    /// This machine has no such place, or no program to reach it.
    case absent
    /// The place is locked. Unlock it and try again.
    case locked
    /// After too many wrong passphrases the place refuses even the right one for a while.
    case lockedOut
    /// The place has no part of this keystore: the file comes from another machine, or the place was cleared.
    case nothingThere
    /// The part that the place holds was changed or is damaged.
    case damaged
    /// The place did not answer as it should. This is the environment's fault and worth a retry.
    case failed

    var family: ErrorFamily {
        switch self {
        case .notGiven: .bug
        case .nothingThere, .damaged: .caller
        case .absent, .locked, .lockedOut, .failed: .environment
        }
    }
}
