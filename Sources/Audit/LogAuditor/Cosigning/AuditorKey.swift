// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import SignetClient
public import TransparencyLog

/// An auditor's cosigning key, and beside it what the key cosigned last.
///
/// | file | what |
/// |---|---|
/// | `FILE` | the key, mode 0600: `signet-witness-key/v1`, the key's name, the base64 of the 32-byte seed; a line each |
/// | `FILE.memory` | empty at first, then the signed note that was cosigned last, with the key's own line |
///
/// One key audits one log.
///
/// Security: with an older copy of the memory the key can be made to cosign a second history. Neither may ever be
/// brought back from a backup; without its memory a key is not used.
public struct AuditorKey: Sendable {
    private static let format = Array("signet-witness-key/v1".utf8)

    /// The key.
    public let signer: NoteSigner
    let memory: DurableFile

    /// Makes a new key and its empty memory.
    ///
    /// - Throws: ``AuditorKeyError/file(_:path:)``: also when one of the two files is there already.
    public static func create(_ name: KeyName, at path: String) throws(AuditorKeyError) -> VerifierKey {
        let seed = Surroundings.system.randomBytes(32)
        let text = format + [0x0A] + name.bytes + [0x0A] + Base64.encode(seed) + [0x0A]
        let memory = DurableFile(path: path + ".memory")
        do { try memory.create([]) } catch { throw .file(error, path: memory.path) }
        do { try DurableFile(path: path).create(text) } catch { throw .file(error, path: path) }
        return try AuditorKey(path: path).signer.verifierKey
    }

    /// Reads a key.
    ///
    /// - Throws: ``AuditorKeyError``.
    public init(path: String) throws(AuditorKeyError) {
        try self.init(path: path) { _, _ throws(FileFault) in }
    }

    /// The same, with a hook before and after every step of replacing the memory.
    package init(
        path: String, hook: @escaping @Sendable (DurableFile.Step, Bool) throws(FileFault) -> Void
    ) throws(AuditorKeyError) {
        let text: [UInt8]
        do { text = try DurableFile(path: path).read(maximumByteCount: 1024, isSecret: true) } catch {
            throw .file(error, path: path)
        }
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0].elementsEqual(Self.format), lines[3].isEmpty,
            let name = try? KeyName(lines[1]), let seed = try? Base64.decode(lines[2]),
            let signer = try? NoteSigner(name: name, algorithm: .cosignatureV1, seed: seed)
        else { throw .keyDamaged }
        self.signer = signer
        memory = DurableFile(path: path + ".memory", hook: hook)
    }

    /// What was cosigned last; nil for nothing.
    ///
    /// - Throws: ``AuditorKeyError``.
    func lastCosigned(of policy: Policy) throws(AuditorKeyError) -> TreeHead? {
        let bytes: [UInt8]
        do { bytes = try memory.read(maximumByteCount: SignedNote.maximumByteCount, isSecret: true) } catch {
            throw .file(error, path: memory.path)
        }
        if bytes.isEmpty { return nil }
        let key = signer.verifierKey
        guard let note = try? SignedNote(decoding: bytes),
            note.signatures.contains(where: { (try? key.verifyCosignature($0, of: note.text)) != nil })
        else { throw .memoryDamaged }
        guard let signed = LogSignedCheckpoint(uncheckedNote: note, of: policy.logs) else {
            throw .memoryOfAnotherLog
        }
        return signed.checkpoint.head
    }
}

/// Why a cosigning key is not used. The operator has to act.
public enum AuditorKeyError: Error, Hashable, Sendable {
    /// A file was not read or made.
    case file(FileFault, path: String)
    /// The key file is none.
    case keyDamaged
    /// The memory is not what this key cosigned.
    case memoryDamaged
    /// The key cosigned another log than this policy's.
    case memoryOfAnotherLog
}
