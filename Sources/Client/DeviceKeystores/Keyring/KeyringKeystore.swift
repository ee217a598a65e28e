// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import DeviceIdentity
import SecretMemory
import SignetClient

/// Keys in the desktop's keyring (the freedesktop Secret Service: GNOME Keyring, KWallet), through libsecret's
/// `secret-tool`.
///
/// Each private key or secret is one item, labelled `Signet`, with the attributes `service` (`signet`), `store` and `name`.
///
/// Security: while the person is logged in, every program of theirs can read the keyring. Names and times are visible in
/// it. Private keys are in memory while they are used.
public actor KeyringKeystore: PrivateKeyStore {
    /// The keyring's file can be carried away with its password.
    public nonisolated let capabilities = PrivateKeyStoreCapabilities(
        isHardware: false, isExportable: true, isSynced: false, asksForPresence: false)

    private let items: KeyringItems
    private let lockPath: String

    /// A store in the keyring.
    ///
    /// - Parameters:
    ///   - store: which of the person's stores; the same name is the same store.
    ///   - lockPath: a file in a folder of the person's, so that two programs do not take one name.
    public init(named store: String, lockingAt lockPath: String) {
        self.init(named: store, lockingAt: lockPath, through: .system())
    }

    package init(named store: String, lockingAt lockPath: String, through tools: ToolRunner) {
        items = KeyringItems(store: store, tools: tools)
        self.lockPath = lockPath
    }

    /// Makes a key under a name that is free.
    public func makeKey(
        _ kind: PrivateKeyKind, named name: PrivateKeyName
    ) async throws(PrivateKeyStoreError) -> [UInt8] {
        let made = SoftwareKey.make(kind)
        try await add(kind.rawValue, made, named: name)
        guard let key = SoftwareKey(kind, made) else { throw .unavailable }
        return key.publicKey
    }

    /// Kind and public key.
    public func key(
        named name: PrivateKeyName
    ) async throws(PrivateKeyStoreError) -> StoredKey? {
        guard let (kind, bytes) = try await item(name), let kind else { return nil }
        guard let key = SoftwareKey(kind, bytes) else { throw .damaged }
        return StoredKey(kind: kind, publicKey: key.publicKey)
    }

    /// All names, in order.
    public func names() async throws(PrivateKeyStoreError) -> [PrivateKeyName] {
        let names = try await using { items throws(PrivateKeyStoreError) in try items.names() }
            .compactMap { PrivateKeyName(stored: Array($0.utf8)) }
        return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// Signs.
    public func sign(
        _ message: [UInt8], with name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> [UInt8] {
        try await softwareKey(name).sign(message)
    }

    /// Agrees on a key.
    public func agree(
        with publicKey: [UInt8], context: [UInt8], using name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey {
        try await softwareKey(name).agree(with: publicKey, context: context)
    }

    /// Keeps a secret.
    public func keep(
        _ secret: SymmetricKey, named name: PrivateKeyName
    ) async throws(PrivateKeyStoreError) {
        guard (16...64).contains(secret.bitCount / 8) else { throw .invalidInput }
        try await add(0, secret.withUnsafeBytes { SecretBytes(copying: $0) }, named: name)
    }

    /// Gives a secret back.
    public func secret(
        named name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey {
        guard let (kind, bytes) = try await item(name) else { throw .noSuchKey }
        guard kind == nil else { throw .unsupported }
        return bytes.withBytes { SymmetricKey(data: $0) }
    }

    /// Erases.
    public func erase(_ name: PrivateKeyName) async throws(PrivateKeyStoreError) {
        let name = Self.text(name)
        try await using { items throws(PrivateKeyStoreError) in try items.erase(name) }
    }
}

extension KeyringKeystore {
    private static func text(_ name: PrivateKeyName) -> String { String(decoding: name.bytes, as: UTF8.self) }

    private func using<Value: Sendable>(
        _ body: @escaping @Sendable (KeyringItems) throws(PrivateKeyStoreError) -> Value
    ) async throws(PrivateKeyStoreError) -> Value {
        let items = items
        return try await ToolRunner.awaiting { () throws(PrivateKeyStoreError) in try body(items) }
    }

    private func softwareKey(
        _ name: PrivateKeyName
    ) async throws(PrivateKeyStoreError) -> SoftwareKey {
        guard let (kind, bytes) = try await item(name) else { throw .noSuchKey }
        guard let kind else { throw .unsupported }
        guard let key = SoftwareKey(kind, bytes) else { throw .damaged }
        return key
    }

    private func item(
        _ name: PrivateKeyName
    ) async throws(PrivateKeyStoreError) -> (PrivateKeyKind?, SecretBytes)? {
        let name = Self.text(name)
        return try await using { items throws(PrivateKeyStoreError) in try items.item(named: name) }
    }

    private func add(
        _ kind: UInt8, _ bytes: SecretBytes, named name: PrivateKeyName
    ) async throws(PrivateKeyStoreError) {
        let lock: FileLock?
        do { lock = try FileLock(lockPath) } catch { throw .unavailable }
        guard let lock else { throw .busy }
        defer { withExtendedLifetime(lock) {} }
        let name = Self.text(name)
        try await using { items throws(PrivateKeyStoreError) in try items.add(kind, bytes, named: name) }
    }
}
