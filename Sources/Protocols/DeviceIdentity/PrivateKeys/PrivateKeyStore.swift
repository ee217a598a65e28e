// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// Where private keys live and are used: a sealed file, a system service, a TPM, a Secure Enclave.
///
/// A private key is made here and never comes out. Each use takes a ``PresenceGrant``, which exists once and is used
/// up by the call. Every change is durable when the call returns, and happens wholly or not at all.
public protocol PrivateKeyStore: Sendable {
    /// What this kind of store can promise.
    var capabilities: PrivateKeyStoreCapabilities { get }

    /// Makes a key under a name that is free.
    ///
    /// - Returns: the public key, as long as ``PrivateKeyKind`` says.
    func makeKey(_ kind: PrivateKeyKind, named name: PrivateKeyName) async throws(PrivateKeyStoreError) -> [UInt8]

    /// Kind and public key of the key with this name, or nil when there is none.
    func key(named name: PrivateKeyName) async throws(PrivateKeyStoreError) -> StoredKey?

    /// All names, in order of their bytes.
    func names() async throws(PrivateKeyStoreError) -> [PrivateKeyName]

    /// Signs, in the form that ``PrivateKeyKind`` says.
    func sign(
        _ message: [UInt8], with name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> [UInt8]

    /// HKDF-SHA-256, without salt, of the shared point's x coordinate and `context`: 32 bytes.
    ///
    /// - Parameter publicKey: the peer's, P-256, 33 bytes, compressed.
    func agree(
        with publicKey: [UInt8], context: [UInt8], using name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey

    /// Keeps a secret of 16 to 64 bytes under a name that is free.
    func keep(_ secret: SymmetricKey, named name: PrivateKeyName) async throws(PrivateKeyStoreError)

    /// Gives back a secret that was kept.
    func secret(
        named name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey

    /// Erases a key or secret for good. Succeeds when there is none.
    func erase(_ name: PrivateKeyName) async throws(PrivateKeyStoreError)
}

/// A key in a ``PrivateKeyStore``.
public struct StoredKey: Hashable, Sendable {
    /// What it can do.
    public let kind: PrivateKeyKind
    /// As long as ``PrivateKeyKind`` says.
    public let publicKey: [UInt8]

    /// A key of a store.
    public init(kind: PrivateKeyKind, publicKey: [UInt8]) {
        self.kind = kind
        self.publicKey = publicKey
    }
}

/// What a kind of keystore can promise.
public struct PrivateKeyStoreCapabilities: Hashable, Sendable {
    /// Keys are in a chip of their own and cannot be copied out even by this device's operating system.
    public let isHardware: Bool
    /// The owner can take the keys to another device.
    public let isExportable: Bool
    /// The system carries the keys to the owner's other devices by itself.
    public let isSynced: Bool
    /// The store itself asks for the person's presence, beyond what the program does.
    public let asksForPresence: Bool

    /// The promises of a kind of keystore.
    public init(isHardware: Bool, isExportable: Bool, isSynced: Bool, asksForPresence: Bool) {
        self.isHardware = isHardware
        self.isExportable = isExportable
        self.isSynced = isSynced
        self.asksForPresence = asksForPresence
    }
}

/// Why a keystore did not do something.
public enum PrivateKeyStoreError: Error, Hashable, Sendable {
    /// This device has no such store. Take another kind.
    case absent
    /// The store is locked. Unlock it and try again.
    case locked
    /// Too many wrong answers; the store refuses even right ones until it lets go.
    case lockedOut
    /// No key or secret has this name.
    case noSuchKey
    /// The name is taken.
    case nameTaken
    /// The key cannot do this, or the store cannot make such keys.
    case unsupported
    /// The caller's bytes are not a public key, or no secret of 16 to 64 bytes.
    case invalidInput
    /// The person's fingerprints or face changed since: the key is gone for good, as if the device were lost.
    case invalidated
    /// Another program changed the store's contents, or they are damaged.
    case damaged
    /// Another program holds the store. Worth a retry.
    case busy
    /// Reading or writing failed: the environment's fault, worth a retry.
    case unavailable
}

/// How an identity key is kept, which decides what losing the device means.
public enum Custody: Hashable, Sendable {
    /// The key can never leave this device. Losing the device loses the key; recovery makes a new one that succeeds it.
    case bound
    /// The key can be carried to another device, and recovery can bring it back. An attacker who copies the store and
    /// knows the passphrase has it too.
    case portable

    /// The custody that a keystore gives.
    public init(_ capabilities: PrivateKeyStoreCapabilities) {
        self = capabilities.isExportable || capabilities.isSynced ? .portable : .bound
    }
}
