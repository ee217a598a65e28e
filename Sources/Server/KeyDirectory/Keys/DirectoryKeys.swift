// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
public import TransparencyLog
public import VRF

/// The secret keys of a directory: what makes it this directory and no other.
///
/// Security: they live in files of mode 0600 and in memory, never in the database, a log message or a backup of either.
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
    /// - Parameter origin: the log's name.
    /// - Throws: ``KeyFileError``: the operator has to act; no retry helps.
    public static func read(from folder: String, origin: KeyName) throws(KeyFileError) -> DirectoryKeys {
        let folder = KeyFolder(path: folder)
        return DirectoryKeys(
            log: try signer(.log, name: origin, .ed25519, in: folder),
            cosigners: [try signer(.clock, name: clockName(of: origin), .cosignatureV1, in: folder)],
            vrf: try vrfKey(in: folder))
    }

    /// Makes three new keys and their files in an existing folder, and reads them back.
    ///
    /// - Throws: ``KeyFileError``. After ``KeyFileError/exists(_:)`` nothing has changed.
    public static func create(in folder: String, origin: KeyName) throws(KeyFileError) -> DirectoryKeys {
        let files = KeyFolder(path: folder)
        for file in KeyFile.allCases where access("\(folder)/\(file.name)", F_OK) == 0 { throw .exists(file) }
        for file in [KeyFile.log, .clock] {
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
    /// - Throws: ``KeyFileError``.
    public static func nextLogKey(in folder: String, origin: KeyName) throws(KeyFileError) -> NoteSigner {
        let files = KeyFolder(path: folder)
        if access("\(folder)/\(KeyFile.nextLog.name)", F_OK) != 0 {
            var seed = randomSeed()
            defer { seed.wipe() }
            try files.create(.nextLog, secret: seed.span)
        }
        return try signer(.nextLog, name: origin, .ed25519, in: files)
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
