// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Logging
import SecretMemory
public import TransparencyLog
public import VRF

/// The secret keys of a directory: what makes it this directory and no other.
///
/// Security: they live in files of mode 0600 and in memory, never in the database, a log message or a backup of either. The log's key may
/// instead live in a token, and never leave it.
public struct DirectoryKeys: Sendable {
    /// Signs checkpoints as the log.
    public let log: NoteSigner
    /// Cosign each checkpoint with the time: the server's own clock.
    public let cosigners: [NoteSigner]
    /// Turns handles into labels.
    public let vrf: VRFPrivateKey

    /// Keys from anywhere.
    ///
    /// - Parameters:
    ///   - log: of algorithm `ed25519`; its name is the log's origin.
    ///   - cosigners: of algorithm `cosignatureV1`.
    public init(log: NoteSigner, cosigners: [NoteSigner], vrf: VRFPrivateKey) {
        self.log = log
        self.cosigners = cosigners
        self.vrf = vrf
    }

    /// The name of the cosigner of the log `origin`: the origin, `/clock`.
    ///
    /// - Throws: ``KeyFileError/invalidName``.
    public static func clockName(of origin: KeyName) throws(KeyFileError) -> KeyName {
        do { return try KeyName(origin.bytes + Array("/clock".utf8)) } catch { throw .invalidName }
    }

    /// Reads the three key files of a folder.
    ///
    /// - Parameters:
    ///   - origin: the log's name.
    ///   - signing: whether they are to sign. Otherwise a token is left alone, and the log's key signs nothing.
    ///   - logger: is told when a token fails.
    /// - Throws: ``KeyFileError``: the operator has to act; no retry helps.
    public static func read(
        from folder: String, origin: KeyName, signing: Bool = true, logger: Logger? = nil
    ) throws(KeyFileError) -> DirectoryKeys {
        let folder = KeyFolder(path: folder)
        return DirectoryKeys(
            log: try logSigner(.log, name: origin, in: folder, signing: signing, logger),
            cosigners: [try signer(.clock, name: clockName(of: origin), .cosignatureV1, in: folder)],
            vrf: try vrfKey(in: folder))
    }

    /// Makes three new keys and their files in an existing folder, and reads them back.
    ///
    /// - Parameter token: where a token keeps the log's key, which is not made then.
    /// - Throws: ``KeyFileError``. After ``KeyFileError/exists(_:)`` nothing has changed.
    public static func create(
        in folder: String, origin: KeyName, token: TokenAddress? = nil
    ) throws(KeyFileError) -> DirectoryKeys {
        let files = KeyFolder(path: folder)
        for file in KeyFile.allCases where access("\(folder)/\(file.name)", F_OK) == 0 { throw .exists(file) }
        if let token { try register(.log, token, name: origin, in: files) }
        for file in token == nil ? [KeyFile.log, .clock] : [.clock] {
            var seed = randomSeed()
            defer { seed.wipe() }
            try files.create(file, secret: seed.span)
        }
        let key: VRFPrivateKey
        do { key = try VRFPrivateKey.generate() } catch { throw .refused(.vrf) }
        try key.withScalar { (scalar) throws(KeyFileError) in try files.create(.vrf, secret: scalar) }
        return try read(from: folder, origin: origin)
    }

    /// The key that the log is to have after a rotation: the one that was made before, or a new one in a file of its own.
    ///
    /// - Parameter token: where a token keeps it, which then makes none.
    /// - Throws: ``KeyFileError``; ``KeyFileError/exists(_:)``: the one that was made before is not there in the token.
    public static func nextLogKey(
        in folder: String, origin: KeyName, token: TokenAddress? = nil
    ) throws(KeyFileError) -> NoteSigner {
        let files = KeyFolder(path: folder)
        if !files.isMade(.nextLog) {
            try makeNextLogKey(in: files, origin, token)
        } else if let token {
            guard try files.token(of: .nextLog)?.address == token else { throw .exists(.nextLog) }
        }
        return try logSigner(.nextLog, name: origin, in: files)
    }

    /// Makes the next log key anew, and discards the one that was made before: it was stolen, or somebody else has put it there.
    ///
    /// The caller has looked whether the log names that one already; then nothing else could ever sign for the log.
    ///
    /// - Parameter token: where a token keeps it, which then makes none.
    /// - Returns: the new one, and the one that was discarded; nil: there was none that could be read.
    /// - Throws: ``KeyFileError``: the one of before is still there.
    public static func replaceNextLogKey(
        in folder: String, origin: KeyName, token: TokenAddress? = nil
    ) throws(KeyFileError) -> (key: VerifierKey, discarded: VerifierKey?) {
        let files = KeyFolder(path: folder)
        let former =
            if let token = try? files.token(of: .nextLog) { token.key } else {
                try? signer(.nextLog, name: origin, .ed25519, in: files).verifierKey
            }
        try makeNextLogKey(in: files, origin, token, isReplaced: true)
        return (try logSigner(.nextLog, name: origin, in: files).verifierKey, former)
    }

    private static func makeNextLogKey(
        in files: KeyFolder, _ origin: KeyName, _ token: TokenAddress?, isReplaced: Bool = false
    ) throws(KeyFileError) {
        if let token { return try register(.nextLog, token, name: origin, in: files, isReplaced: isReplaced) }
        var seed = randomSeed()
        defer { seed.wipe() }
        try files.create(.nextLog, secret: seed.span, isReplaced: isReplaced)
    }

    /// Asks a token which key it has, and writes that down.
    private static func register(
        _ file: KeyFile, _ address: TokenAddress, name: KeyName, in folder: KeyFolder, isReplaced: Bool = false
    ) throws(KeyFileError) {
        let publicKey: [UInt8]
        do { publicKey = try TokenSigningKey(address).publicKey } catch { throw .token(file, error) }
        guard let key = try? VerifierKey(name: name, algorithm: .ed25519, publicKey: publicKey) else {
            throw .token(file, .notEd25519)
        }
        try folder.create(file, key, at: address, isReplaced: isReplaced)
    }

    /// The signer of a log's key, in the file or in a token, which must have the key that the file names.
    private static func logSigner(
        _ file: KeyFile, name: KeyName, in folder: KeyFolder, signing: Bool = true, _ logger: Logger? = nil
    ) throws(KeyFileError) -> NoteSigner {
        guard let (key, address) = try folder.token(of: file) else {
            return try signer(file, name: name, .ed25519, in: folder)
        }
        guard key.name == name else { throw .refused(file) }
        let token: TokenSigningKey?
        do { token = signing ? try TokenSigningKey(address) : nil } catch { throw .token(file, error) }
        if let token, token.publicKey != key.publicKey { throw .token(file, .otherKey) }
        do {
            return try NoteSigner(verifierKey: key) { message in
                do throws(TokenError) { return try token?.sign(message) } catch {
                    let reason =
                        if case .failed(let code) = error { "CKR 0x\(String(code, radix: 16))" } else { "\(error)" }
                    logger?.critical("the token does not sign for the log, which stops", metadata: ["why": "\(reason)"])
                    return nil
                }
            }
        } catch { throw .refused(file) }
    }

    /// Makes the next log key the log's key, durably. The old one is gone.
    ///
    /// - Throws: ``KeyFileError``.
    public static func takeNextLogKey(in folder: String) throws(KeyFileError) {
        guard rename("\(folder)/\(KeyFile.nextLog.name)", "\(folder)/\(KeyFile.log.name)") == 0 else {
            throw .system(.nextLog, code: errno)
        }
        try KeyFolder(path: folder).synchronize(.log)
    }

    private static func signer(
        _ file: KeyFile, name: KeyName, _ algorithm: VerifierKey.Algorithm, in folder: KeyFolder
    ) throws(KeyFileError) -> NoteSigner {
        try folder.withSecret(of: file) { (seed) throws(KeyFileError) in
            do { return try NoteSigner(name: name, algorithm: algorithm, seed: seed) } catch { throw .refused(file) }
        }
    }

    /// Reads the VRF key alone: all that a process needs which does not write the log.
    ///
    /// - Throws: ``KeyFileError``.
    package static func readVRFKey(from folder: String) throws(KeyFileError) -> VRFPrivateKey {
        try vrfKey(in: KeyFolder(path: folder))
    }

    private static func vrfKey(in folder: KeyFolder) throws(KeyFileError) -> VRFPrivateKey {
        try folder.withSecret(of: .vrf) { (scalar) throws(KeyFileError) in
            do { return try VRFPrivateKey(scalar) } catch { throw .refused(.vrf) }
        }
    }

    private static func randomSeed() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<KeyFile.secretByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
