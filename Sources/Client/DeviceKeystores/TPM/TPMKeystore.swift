// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import DeviceIdentity
import Foundation
public import SecretMemory
public import SignetClient

/// Keys in the machine's TPM 2.0, through tpm2-tools: P-256 keys that are made in the chip and leave it never, and secrets
/// that only the chip opens. A PIN guards each; after a few wrong ones the chip itself refuses for a while.
///
/// Each key is a file in a folder, wrapped by the chip's own primary key: useless on another machine.
///
/// Security: the chip signs for anyone who has the PIN and this machine. Names of keys are names of files. tpm2-tools
/// talk to the chip in the clear: an attacker who reads that bus sees secrets on their way out, but never keys.
public actor TPMKeystore: PrivateKeyStore {
    /// The chip lets no key out.
    public nonisolated let capabilities = PrivateKeyStoreCapabilities(
        isHardware: true, isExportable: false, isSynced: false, asksForPresence: false)

    private let folder: String
    private let chip: TPMTools
    private var pin: SecretBytes?

    /// A store in a folder, locked.
    ///
    /// - Parameter folder: must be there, and the person's alone.
    public init(in folder: String) { self.init(in: folder, through: .system()) }

    package init(in folder: String, through tools: ToolRunner) {
        self.folder = folder
        chip = TPMTools(tools)
    }

    /// Takes the PIN for the next uses. Whether it is right shows when the chip is asked.
    public func unlock(pin: SecretBytes) { self.pin = TPMTools.authorization(of: pin) }

    /// Forgets the PIN.
    public func lock() { pin = nil }

    /// Makes a key under a name that is free; Ed25519 is not to be had.
    public func makeKey(
        _ kind: PrivateKeyKind, named name: PrivateKeyName
    ) async throws(PrivateKeyStoreError) -> [UInt8] {
        guard kind != .ed25519Signing else { throw .unsupported }
        guard let pin else { throw .locked }
        guard !file(name).exists else { throw .nameTaken }
        let blob = try await using { chip throws(PrivateKeyStoreError) in try chip.create(kind, pin) }
        guard let publicKey = blob.publicKey else { throw .damaged }
        try write(blob, name)
        return publicKey
    }

    /// Kind and public key.
    public func key(named name: PrivateKeyName) throws(PrivateKeyStoreError) -> StoredKey? {
        guard let blob = try read(name), let kind = blob.kind else { return nil }
        guard let publicKey = blob.publicKey else { throw .damaged }
        return StoredKey(kind: kind, publicKey: publicKey)
    }

    /// All names, in order.
    public func names() throws(PrivateKeyStoreError) -> [PrivateKeyName] {
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else { throw .unavailable }
        return files.filter { $0.hasSuffix(TPMBlob.suffix) }
            .compactMap { PrivateKeyName(stored: Array($0.dropLast(TPMBlob.suffix.count).utf8)) }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// Signs.
    public func sign(
        _ message: [UInt8], with name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> [UInt8] {
        guard let pin else { throw .locked }
        guard let blob = try read(name) else { throw .noSuchKey }
        guard blob.kind == .p256Signing else { throw .unsupported }
        return try await using { chip throws(PrivateKeyStoreError) in try chip.sign(message, with: blob, pin) }
    }

    /// Agrees on a key.
    public func agree(
        with publicKey: [UInt8], context: [UInt8], using name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey {
        guard let pin else { throw .locked }
        guard let blob = try read(name) else { throw .noSuchKey }
        guard blob.kind == .p256Agreement else { throw .unsupported }
        guard let peer = try? P256.KeyAgreement.PublicKey(compressedRepresentation: publicKey) else {
            throw .invalidInput
        }
        let point = Array(peer.x963Representation.dropFirst())
        let shared = try await using { chip throws(PrivateKeyStoreError) in
            try chip.sharedX(with: point, blob, pin)
        }
        return shared.withBytes { bytes in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes), salt: [UInt8](), info: context, outputByteCount: 32)
        }
    }

    /// Keeps a secret.
    public func keep(
        _ secret: SymmetricKey, named name: PrivateKeyName
    ) async throws(PrivateKeyStoreError) {
        guard (16...64).contains(secret.bitCount / 8) else { throw .invalidInput }
        guard let pin else { throw .locked }
        guard !file(name).exists else { throw .nameTaken }
        let bytes = secret.withUnsafeBytes { SecretBytes(copying: $0) }
        let blob = try await using { chip throws(PrivateKeyStoreError) in try chip.seal(bytes, pin) }
        try write(blob, name)
    }

    /// Gives a secret back.
    public func secret(
        named name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey {
        guard let pin else { throw .locked }
        guard let blob = try read(name) else { throw .noSuchKey }
        guard blob.kind == nil else { throw .unsupported }
        let secret = try await using { chip throws(PrivateKeyStoreError) in try chip.unseal(blob, pin) }
        return secret.withBytes { SymmetricKey(data: $0) }
    }

    /// Erases.
    public func erase(_ name: PrivateKeyName) throws(PrivateKeyStoreError) {
        guard unlink(file(name).path) == 0 || errno == ENOENT else { throw .unavailable }
    }

    private func using<Value: Sendable>(
        _ body: @escaping @Sendable (TPMTools) throws(PrivateKeyStoreError) -> Value
    ) async throws(PrivateKeyStoreError) -> Value {
        let chip = chip
        return try await ToolRunner.awaiting { () throws(PrivateKeyStoreError) in try body(chip) }
    }

    private func file(_ name: PrivateKeyName) -> DurableFile {
        TPMBlob.file(in: folder, named: String(decoding: name.bytes, as: UTF8.self))
    }

    private func read(_ name: PrivateKeyName) throws(PrivateKeyStoreError) -> TPMBlob? {
        try TPMBlob(in: file(name))
    }

    private func write(
        _ blob: TPMBlob, _ name: PrivateKeyName
    ) throws(PrivateKeyStoreError) {
        try blob.create(in: file(name))
    }
}
