// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import DeviceIdentity
public import SecretMemory
public import SignetClient

/// Keys in a file that a passphrase seals: for devices without a chip for them.
///
/// Every change reads the file, replaces it whole under a lock, and is durable when the call returns. While it is open,
/// the key that the passphrase made is in memory, and ``lock()`` forgets it.
///
/// Security: an attacker who copies the file and guesses the passphrase has the keys. Private keys are in memory while
/// they are used. An old copy of the file put back is not noticed.
public actor SealedFileKeystore: PrivateKeyStore {
    /// Keys can be carried away in the file.
    public nonisolated let capabilities = PrivateKeyStoreCapabilities(
        isHardware: false, isExportable: true, isSynced: false, asksForPresence: false)

    private let file: DurableFile
    private let lockPath: String
    private let newCost: KeystoreCost
    private var opened: (derivation: SealedFile.Derivation, key: SymmetricKey)?

    /// A store in a file, locked.
    ///
    /// - Parameter cost: of a file that is made.
    public init(in file: DurableFile, cost: KeystoreCost = .standard) {
        self.file = file
        lockPath = file.path + ".lock"
        newCost = cost
    }

    /// Whether there is a file.
    public nonisolated var exists: Bool { file.exists }

    /// Whether ``unlock(with:)`` is needed.
    public var isLocked: Bool { opened == nil }

    /// Makes the file, under a passphrase, and leaves it open.
    ///
    /// - Throws: ``SealedFileFault``: there is one already, or it cannot be written.
    public func create(under passphrase: SecretBytes) throws(SealedFileFault) {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let derivation = SealedFile.Derivation(cost: newCost, salt: salt)
        let key: SymmetricKey
        do { key = try derivation.key(passphrase) } catch { throw .keystore(error) }
        guard let bytes = try? SealedFile.seal(SealedContents(), derivation, key) else {
            throw .keystore(.notEnoughMemory)
        }
        do { try file.create(bytes) } catch { throw .file(error) }
        opened = (derivation, key)
    }

    /// Opens the file. Takes as long as a guess at the passphrase is meant to.
    ///
    /// - Throws: ``SealedFileFault``.
    public func unlock(with passphrase: SecretBytes) throws(SealedFileFault) {
        let sealed = try read()
        let key: SymmetricKey
        do { key = try sealed.derivation.key(passphrase) } catch { throw .keystore(error) }
        let contents: SealedContents?
        do { contents = try sealed.open(key) } catch { throw .keystore(.keysDoNotFit) }
        guard contents != nil else { throw .keystore(.wrongPassphraseOrDamaged) }
        opened = (sealed.derivation, key)
    }

    /// Forgets the key of the passphrase.
    public func lock() { opened = nil }

    private func read() throws(SealedFileFault) -> SealedFile {
        let bytes: [UInt8]
        do { bytes = try file.read(maximumByteCount: SealedFile.maximumByteCount, isSecret: true) } catch {
            throw .file(error)
        }
        do { return try SealedFile(decoding: bytes) } catch { throw .keystore(error) }
    }
}

extension SealedFileKeystore {
    // MARK: PrivateKeyStore

    /// Makes a key under a name that is free.
    public func makeKey(
        _ kind: PrivateKeyKind, named name: PrivateKeyName
    ) throws(PrivateKeyStoreError) -> [UInt8] {
        let made = SoftwareKey.make(kind)
        try change { contents throws(PrivateKeyStoreError) in
            try contents.add(.init(kind: kind, bytes: made), named: name)
        }
        guard let key = SoftwareKey(kind, made) else { throw .unavailable }
        return key.publicKey
    }

    /// Kind and public key.
    public func key(named name: PrivateKeyName) throws(PrivateKeyStoreError) -> StoredKey? {
        guard let entry = try contents().entries[name], let kind = entry.kind else { return nil }
        guard let key = SoftwareKey(kind, entry.bytes) else { throw .damaged }
        return StoredKey(kind: kind, publicKey: key.publicKey)
    }

    /// All names, in order.
    public func names() throws(PrivateKeyStoreError) -> [PrivateKeyName] { try contents().names }

    /// Signs.
    public func sign(
        _ message: [UInt8], with name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) throws(PrivateKeyStoreError) -> [UInt8] {
        try softwareKey(name).sign(message)
    }

    /// Agrees on a key.
    public func agree(
        with publicKey: [UInt8], context: [UInt8], using name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) throws(PrivateKeyStoreError) -> SymmetricKey {
        try softwareKey(name).agree(with: publicKey, context: context)
    }

    /// Keeps a secret.
    public func keep(
        _ secret: SymmetricKey, named name: PrivateKeyName
    ) throws(PrivateKeyStoreError) {
        guard (16...64).contains(secret.bitCount / 8) else { throw .invalidInput }
        let bytes = secret.withUnsafeBytes { SecretBytes(copying: $0) }
        try change { contents throws(PrivateKeyStoreError) in
            try contents.add(.init(kind: nil, bytes: bytes), named: name)
        }
    }

    /// Gives a secret back.
    public func secret(
        named name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) throws(PrivateKeyStoreError) -> SymmetricKey {
        guard let entry = try contents().entries[name] else { throw .noSuchKey }
        guard entry.kind == nil else { throw .unsupported }
        return entry.bytes.withBytes { SymmetricKey(data: $0) }
    }

    /// Erases.
    public func erase(_ name: PrivateKeyName) throws(PrivateKeyStoreError) {
        try change { contents throws(PrivateKeyStoreError) in contents.remove(name) }
    }

    private func softwareKey(
        _ name: PrivateKeyName
    ) throws(PrivateKeyStoreError) -> SoftwareKey {
        guard let entry = try contents().entries[name] else { throw .noSuchKey }
        guard let kind = entry.kind else { throw .unsupported }
        guard let key = SoftwareKey(kind, entry.bytes) else { throw .damaged }
        return key
    }

    /// What is in the file now; another program may have written it.
    private func contents() throws(PrivateKeyStoreError) -> SealedContents {
        guard let opened else { throw .locked }
        let sealed: SealedFile
        do { sealed = try read() } catch { throw error.plain }
        // Another passphrase since, or a changed file: either way this key does not open it.
        guard sealed.derivation == opened.derivation else { throw .locked }
        guard let contents = try sealed.open(opened.key) else { throw .damaged }
        return contents
    }

    private func change(
        _ body: (inout SealedContents) throws(PrivateKeyStoreError) -> Void
    ) throws(PrivateKeyStoreError) {
        guard let opened else { throw .locked }
        let lock: FileLock?
        do { lock = try FileLock(lockPath) } catch { throw .unavailable }
        guard let lock else { throw .busy }
        defer { withExtendedLifetime(lock) {} }
        var contents = try contents()
        try body(&contents)
        let bytes = try SealedFile.seal(contents, opened.derivation, opened.key)
        do { try file.replace(with: bytes) } catch { throw .unavailable }
    }
}

/// Why a sealed file did not open.
public enum SealedFileFault: Error, Hashable, Sendable {
    /// Reading or writing failed.
    case file(FileFault)
    /// The file or the passphrase is not right.
    case keystore(KeystoreError)

    /// What it means once the store is in use.
    var plain: PrivateKeyStoreError {
        switch self {
        case .file(.notFound), .file(.openToOthers), .file(.tooLong): .damaged
        case .file: .unavailable
        case .keystore(.notEnoughMemory): .unavailable
        case .keystore: .damaged
        }
    }
}
