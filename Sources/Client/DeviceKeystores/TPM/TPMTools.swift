// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import Foundation
import SecretMemory
import SignetClient

/// What tpm2-tools do for a ``TPMKeystore``, each in a folder of its own in memory that is gone afterwards.
struct TPMTools: Sendable {
    /// What the chip asks for before it uses a key: a short text, of the same length for every PIN; the chip limits
    /// guesses, not its length.
    static func authorization(of pin: SecretBytes) -> SecretBytes {
        let digest = pin.withBytes { SHA256.hash(data: $0) }
        return SecretBytes(copying: Hex.encode(Array(digest.prefix(16))))
    }

    private static let fixed = "fixedtpm|fixedparent|userwithauth"
    private let tools: ToolRunner

    init(_ tools: ToolRunner) { self.tools = tools }

    /// Makes a key in the chip.
    func create(_ kind: PrivateKeyKind, _ pin: SecretBytes) throws(PrivateKeyStoreError) -> TPMBlob {
        let (scheme, use) = kind == .p256Signing ? ("ecc:ecdsa-sha256", "sign") : ("ecc:ecdh", "decrypt")
        return try blob(
            kind, ["-G", scheme, "-a", "\(Self.fixed)|sensitivedataorigin|\(use)", "-p", "file:-"], pin)
    }

    /// Has the chip seal a secret.
    func seal(_ secret: SecretBytes, _ pin: SecretBytes) throws(PrivateKeyStoreError) -> TPMBlob {
        let scratch = try TPMScratchFolder()
        try scratch.write(pin, to: "pin")
        return try blob(nil, ["-a", Self.fixed, "-i", "-", "-p", "file:\(scratch["pin"])"], secret)
    }

    private func blob(
        _ kind: PrivateKeyKind?, _ options: [String], _ input: SecretBytes
    ) throws(PrivateKeyStoreError) -> TPMBlob {
        let scratch = try TPMScratchFolder()
        try primary(scratch)
        let parts = ["-C", scratch["primary"], "-u", scratch["public"], "-r", scratch["private"]]
        try tool("tpm2_create", parts + options, input)
        return TPMBlob(kind: kind, publicPart: try scratch.read("public"), privatePart: try scratch.read("private"))
    }

    /// r || s, 64 bytes.
    func sign(
        _ message: [UInt8], with blob: TPMBlob, _ pin: SecretBytes
    ) throws(PrivateKeyStoreError) -> [UInt8] {
        let scratch = try loaded(blob)
        try scratch.write(SecretBytes(copying: Array(SHA256.hash(data: message))), to: "digest")
        let options = ["-c", scratch["key"], "-g", "sha256", "-f", "plain", "-p", "file:-", "-o", scratch["signature"]]
        try tool("tpm2_sign", options + ["-d", scratch["digest"]], pin)
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: scratch.read("signature")) else {
            throw .damaged
        }
        return Array(signature.rawRepresentation)
    }

    /// The x coordinate of the shared point, 32 bytes; `peer` is x || y.
    func sharedX(
        with peer: [UInt8], _ blob: TPMBlob, _ pin: SecretBytes
    ) throws(PrivateKeyStoreError) -> SecretBytes {
        let scratch = try loaded(blob)
        let point = [0, 68, 0, 32] + peer.prefix(32) + [0, 32] + peer.suffix(32)
        try scratch.write(SecretBytes(copying: point), to: "peer")
        let options = ["-c", scratch["key"], "-u", scratch["peer"], "-p", "file:-", "-o", scratch["shared"]]
        try tool("tpm2_ecdhzgen", options, pin)
        var shared = try scratch.read("shared")
        defer { shared.wipe() }
        guard shared.count >= 4, shared.count >= 4 + Int(shared[3]), shared[3] <= 32, shared[2] == 0 else {
            throw .damaged
        }
        let x = shared[4..<4 + Int(shared[3])]
        return SecretBytes(count: 32) { buffer in
            UnsafeMutableRawBufferPointer(rebasing: buffer[(32 - x.count)...]).copyBytes(from: x)
        }
    }

    /// What ``seal(_:_:)`` sealed.
    func unseal(_ blob: TPMBlob, _ pin: SecretBytes) throws(PrivateKeyStoreError) -> SecretBytes {
        let scratch = try loaded(blob)
        var secret = try tool("tpm2_unseal", ["-c", scratch["key"], "-p", "file:-"], pin)
        defer { secret.wipe() }
        return SecretBytes(copying: secret)
    }

    private func loaded(_ blob: TPMBlob) throws(PrivateKeyStoreError) -> TPMScratchFolder {
        let scratch = try TPMScratchFolder()
        try scratch.write(SecretBytes(copying: blob.publicPart), to: "public")
        try scratch.write(SecretBytes(copying: blob.privatePart), to: "private")
        try primary(scratch)
        let parts = ["-C", scratch["primary"], "-u", scratch["public"], "-r", scratch["private"], "-c", scratch["key"]]
        try tool("tpm2_load", ["-Q"] + parts, nil)
        return scratch
    }

    /// The key under which the others are wrapped: the chip makes the same one each time.
    private func primary(_ scratch: TPMScratchFolder) throws(PrivateKeyStoreError) {
        try tool("tpm2_createprimary", ["-Q", "-C", "o", "-G", "ecc", "-c", scratch["primary"]], nil)
    }

    /// Runs one, and frees the chip's memory behind it, which a chip without a resource broker does not do itself.
    @discardableResult
    private func tool(
        _ name: String, _ arguments: [String], _ input: SecretBytes?
    ) throws(PrivateKeyStoreError) -> [UInt8] {
        guard let outcome = tools.run(name, arguments, input) else { throw .absent }
        _ = tools.run("tpm2_flushcontext", ["-t"], nil)
        guard outcome.status != 0 else { return outcome.output }
        let complaints = outcome.complaints.lowercased()
        // TPM_RC_LOCKOUT, TPM_RC_AUTH_FAIL, TPM_RC_INTEGRITY and kin of the wrapped part, in tpm2-tools' words.
        if complaints.contains("0x921") || complaints.contains("lockout") { throw .lockedOut }
        if complaints.contains("0x98e") || complaints.contains("authorization hmac check failed") { throw .locked }
        if complaints.contains("load tcti") { throw .absent }
        if complaints.contains("integrity check") || complaints.contains("0x1df") { throw .damaged }
        throw .unavailable
    }
}

/// A folder for one call, in memory where the system has such a place. It is locked for as long as it is in use; an
/// unlocked one was left behind by a killed program, with a PIN or a secret in it, and the next call removes it.
final class TPMScratchFolder: Sendable {
    private static let prefix = "signet-tpm-"
    private let path: String
    private let hold: Int32

    /// - Parameter place: where the folder is made; nil for memory.
    init(in place: String? = nil) throws(PrivateKeyStoreError) {
        let memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : FileManager.default.temporaryDirectory.path()
        let place = place ?? memory
        Self.clear(place)
        let name = UUID().uuidString
        // It gets the name under which others look for it when it is locked.
        let fresh = "\(place)/signet-new-\(name)"
        path = "\(place)/\(Self.prefix)\(name)"
        guard mkdir(fresh, 0o700) == 0 else { throw .unavailable }
        hold = open(fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard hold >= 0, flock(hold, LOCK_EX | LOCK_NB) == 0, rename(fresh, path) == 0 else {
            if hold >= 0 { close(hold) }
            rmdir(fresh)
            throw .unavailable
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        close(hold)
    }

    private static func clear(_ place: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        for name in names where name.hasPrefix(prefix) { removeIfLeft("\(place)/\(name)") }
    }

    private static func removeIfLeft(_ path: String) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return }
        defer { close(number) }
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    subscript(name: String) -> String { "\(path)/\(name)" }

    func write(_ bytes: SecretBytes, to name: String) throws(PrivateKeyStoreError) {
        let isWritten = bytes.withBytes { FileManager.default.createFile(atPath: self[name], contents: Data($0)) }
        guard isWritten else { throw .unavailable }
    }

    func read(_ name: String) throws(PrivateKeyStoreError) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: self[name]) else { throw .unavailable }
        return Array(data)
    }
}
