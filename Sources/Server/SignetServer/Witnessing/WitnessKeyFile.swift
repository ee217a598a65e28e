// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyDirectory
import SecretMemory
import TransparencyLog

/// The file of the secret key of a witness, or of a directory's recovery, mode 0600. Three lines: `signet-witness-key/v1` or
/// `signet-recovery-key/v1`, the key's name, and the base64 of the 32 bytes of an Ed25519 seed.
enum WitnessKeyFile {
    /// The first line of a key's file, by the key's type.
    private static func format(_ algorithm: VerifierKey.Algorithm) -> [UInt8] {
        switch algorithm {
        case .mlDSA44: Array("signet-witness-key-ml-dsa-44/v1".utf8)
        case .ed25519: Array("signet-recovery-key/v1".utf8)
        default: Array("signet-witness-key/v1".utf8)
        }
    }

    /// Makes a new key in a new file.
    static func create(
        _ name: KeyName, _ algorithm: VerifierKey.Algorithm = .cosignatureV1, at path: String
    ) throws(FileFailure) {
        var generator = SystemRandomNumberGenerator()
        var seed = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        defer { seed.wipe() }
        var text = format(algorithm) + [0x0A] + name.bytes + [0x0A] + Base64.encode(seed) + [0x0A]
        defer { text.wipe() }
        try PrivateFile.write(text, to: path)
    }

    /// Reads a key that its owner alone can read.
    static func read(
        _ path: String, _ algorithm: VerifierKey.Algorithm = .cosignatureV1
    ) throws(StoredWitnessError) -> NoteSigner {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let mode = (attributes?[.posixPermissions] as? NSNumber)?.uint16Value ?? 0
        guard mode & 0o177 == 0 else { throw .keyNotPrivate }
        var text: [UInt8]
        do { text = try PrivateFile.read(path) } catch { throw .file(error) }
        defer { text.wipe() }
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0].elementsEqual(format(algorithm)), lines[3].isEmpty,
            let name = try? KeyName(lines[1]), var seed = try? Base64.decode(lines[2])
        else { throw .keyDamaged }
        defer { seed.wipe() }
        do { return try NoteSigner(name: name, algorithm: algorithm, seed: seed) } catch { throw .keyDamaged }
    }
}
