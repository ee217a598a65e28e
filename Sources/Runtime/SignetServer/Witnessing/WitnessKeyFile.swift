import CanonicalCoding
import Foundation
import KeyDirectory
import TransparencyLog

/// The file of a witness's secret key, mode 0600. Three lines: `signet-witness-key/v1`, the key's name, and the base64
/// of the 32 bytes of an Ed25519 seed.
enum WitnessKeyFile {
    private static let format = Array("signet-witness-key/v1".utf8)

    /// Makes a new key in a new file.
    static func create(_ name: KeyName, at path: String) throws(FileFailure) {
        var generator = SystemRandomNumberGenerator()
        var seed = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        defer { wipe(&seed) }
        var text = format + [0x0A] + name.bytes + [0x0A] + Base64.encode(seed) + [0x0A]
        defer { wipe(&text) }
        try PrivateFile.write(text, to: path)
    }

    /// Reads a key that its owner alone can read.
    static func read(_ path: String) throws(StoredWitnessError) -> NoteSigner {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let mode = (attributes?[.posixPermissions] as? NSNumber)?.uint16Value ?? 0
        guard mode & 0o177 == 0 else { throw .keyNotPrivate }
        var text: [UInt8]
        do { text = try PrivateFile.read(path) } catch { throw .file(error) }
        defer { wipe(&text) }
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0].elementsEqual(format), lines[3].isEmpty,
            let name = try? KeyName(lines[1]), var seed = try? Base64.decode(lines[2])
        else { throw .keyDamaged }
        defer { wipe(&seed) }
        do { return try NoteSigner(name: name, algorithm: .cosignatureV1, seed: seed) } catch { throw .keyDamaged }
    }
}
