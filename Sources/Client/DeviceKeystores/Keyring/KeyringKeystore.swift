import CanonicalCoding
public import Crypto
public import DeviceIdentity
import SignetClient

/// Keys in the desktop's keyring (the freedesktop Secret Service: GNOME Keyring, KWallet), through libsecret's
/// `secret-tool`.
///
/// Each private key or secret is one item, as hex with its kind in front, labelled `Signet`, with the attributes `service`
/// (`signet`), `store` and `name`.
///
/// Security: while the person is logged in, every program of theirs can read the keyring. Names and times are visible in
/// it. Private keys are in memory while they are used.
public actor KeyringKeystore: DeviceIdentity.Keystore {
    /// The keyring's file can be carried away with its password.
    public nonisolated let capabilities = KeystoreCapabilities(
        isHardware: false, isExportable: true, isSynced: false, asksForPresence: false)

    private let store: String
    private let lockPath: String
    private let tools: ToolRunner

    /// A store in the keyring.
    ///
    /// - Parameters:
    ///   - store: which of the person's stores; the same name is the same store.
    ///   - lockPath: a file in a folder of the person's, so that two programs do not take one name.
    public init(named store: String, lockingAt lockPath: String) {
        self.init(named: store, lockingAt: lockPath, through: .system())
    }

    package init(named store: String, lockingAt lockPath: String, through tools: ToolRunner) {
        self.store = store
        self.lockPath = lockPath
        self.tools = tools
    }

    /// Makes a key under a name that is free.
    public func makeKey(
        _ kind: KeyKind, named name: DeviceIdentity.KeyName
    ) async throws(DeviceIdentityKeystoreError) -> [UInt8] {
        let made = SoftwareKey.make(kind)
        try await add(kind.rawValue, made, named: name)
        guard let key = SoftwareKey(kind, made) else { throw .unavailable }
        return key.publicKey
    }

    /// Kind and public key.
    public func key(
        named name: DeviceIdentity.KeyName
    ) async throws(DeviceIdentityKeystoreError) -> StoredKey? {
        guard let (kind, bytes) = try await item(name), let kind else { return nil }
        guard let key = SoftwareKey(kind, bytes) else { throw .damaged }
        return StoredKey(kind: kind, publicKey: key.publicKey)
    }

    /// All names, in order.
    public func names() async throws(DeviceIdentityKeystoreError) -> [DeviceIdentity.KeyName] {
        // `secret-tool` cannot list without the secrets.
        var outcome = try await tool(["search", "--all", "service", "signet", "store", store])
        defer { outcome.output.wipe() }
        let prefix = Array("attribute.name = ".utf8)
        // Where the attributes are written differs between versions.
        let names = [outcome.output, Array(outcome.complaints.utf8)].flatMap { text in
            text.split(separator: UInt8(ascii: "\n")).compactMap { line -> DeviceIdentity.KeyName? in
                guard line.starts(with: prefix) else { return nil }
                return DeviceIdentity.KeyName(stored: Array(line.dropFirst(prefix.count)))
            }
        }
        return Set(names).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// Signs.
    public func sign(
        _ message: [UInt8], with name: DeviceIdentity.KeyName, _ grant: consuming PresenceGrant
    ) async throws(DeviceIdentityKeystoreError) -> [UInt8] {
        try await softwareKey(name).sign(message)
    }

    /// Agrees on a key.
    public func agree(
        with publicKey: [UInt8], context: [UInt8], using name: DeviceIdentity.KeyName, _ grant: consuming PresenceGrant
    ) async throws(DeviceIdentityKeystoreError) -> SymmetricKey {
        try await softwareKey(name).agree(with: publicKey, context: context)
    }

    /// Keeps a secret.
    public func keep(
        _ secret: SymmetricKey, named name: DeviceIdentity.KeyName
    ) async throws(DeviceIdentityKeystoreError) {
        guard (16...64).contains(secret.bitCount / 8) else { throw .invalidInput }
        try await add(0, secret.withUnsafeBytes { SecretBytes(copying: $0) }, named: name)
    }

    /// Gives a secret back.
    public func secret(
        named name: DeviceIdentity.KeyName, _ grant: consuming PresenceGrant
    ) async throws(DeviceIdentityKeystoreError) -> SymmetricKey {
        guard let (kind, bytes) = try await item(name) else { throw .noSuchKey }
        guard kind == nil else { throw .unsupported }
        return bytes.withBytes { SymmetricKey(data: $0) }
    }

    /// Erases.
    public func erase(_ name: DeviceIdentity.KeyName) async throws(DeviceIdentityKeystoreError) {
        _ = try await tool(["clear"] + attributes(name), missing: true)
    }
}

extension KeyringKeystore {
    private func attributes(_ name: DeviceIdentity.KeyName) -> [String] {
        ["service", "signet", "store", store, "name", String(decoding: name.bytes, as: UTF8.self)]
    }

    private func softwareKey(
        _ name: DeviceIdentity.KeyName
    ) async throws(DeviceIdentityKeystoreError) -> SoftwareKey {
        guard let (kind, bytes) = try await item(name) else { throw .noSuchKey }
        guard let kind else { throw .unsupported }
        guard let key = SoftwareKey(kind, bytes) else { throw .damaged }
        return key
    }

    private func add(
        _ kind: UInt8, _ bytes: SecretBytes, named name: DeviceIdentity.KeyName
    ) async throws(DeviceIdentityKeystoreError) {
        let lock: FileLock?
        do { lock = try FileLock(lockPath) } catch { throw .unavailable }
        guard let lock else { throw .busy }
        defer { withExtendedLifetime(lock) {} }
        guard try await item(name) == nil else { throw .nameTaken }
        var text = bytes.withBytes { Hex.encode([kind] + Array($0)) }
        defer { text.wipe() }
        let input = SecretBytes(copying: text)
        _ = try await tool(["store", "--label=Signet"] + attributes(name), input)
        // `secret-tool` says nothing about items that it did not get to store.
        guard try await item(name) != nil else { throw .unavailable }
    }

    private func item(
        _ name: DeviceIdentity.KeyName
    ) async throws(DeviceIdentityKeystoreError) -> (KeyKind?, SecretBytes)? {
        var output = try await tool(["lookup"] + attributes(name), missing: true).output
        defer { output.wipe() }
        guard !output.isEmpty else { return nil }
        guard var bytes = try? Hex.decode(output), let first = bytes.first else { throw .damaged }
        defer { bytes.wipe() }
        let kind = KeyKind(rawValue: first)
        guard first == 0 || kind != nil else { throw .damaged }
        return (kind, SecretBytes(copying: bytes.dropFirst()))
    }

    /// - Parameter missing: whether an unsuccessful end without a complaint means that there is no such item.
    private func tool(
        _ arguments: [String], _ input: SecretBytes? = nil, missing: Bool = false
    ) async throws(DeviceIdentityKeystoreError) -> ToolRunner.Outcome {
        guard let outcome = await tools.run("secret-tool", arguments, input) else { throw .absent }
        if outcome.status == 0 || (missing && outcome.complaints.isEmpty) { return outcome }
        let complaints = outcome.complaints.lowercased()
        if ["autolaunch", "could not connect", "not provided", "serviceunknown", "no such file"].contains(
            where: complaints.contains)
        {
            throw .absent
        }
        if ["locked", "prompt", "dismissed"].contains(where: complaints.contains) { throw .locked }
        throw .unavailable
    }
}
