// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import SecretMemory
public import SignetClient

/// The head of a sealed export, and the key that its passphrase gives.
///
/// Wire form: `signet-notes-bundle/v2` LF; u32 passes, u32 memory in KiB; 16 salt; 32 check; then pieces. Argon2id makes a secret
/// of the passphrase; HKDF-SHA256 makes of it the check (info `signet-notes-bundle-check/v2`) and the pieces' key (info
/// `signet-notes-bundle-key/v2`). Piece i: up to 65,536 bytes, all but the last as many, in AES-256-GCM; nonce 11 bytes big-endian
/// i, then 1 for the last piece and 0 for others; associated data: everything before the pieces.
///
/// Spec: RFC 9106, version 0x13, one lane; RFC 5869; Hoang, Reyhanitabar, Rogaway and Vizár, 2015 (STREAM), as in age.
///
/// Security: the salt is random and new for each export, so that no key seals two pieces of one number. A holder of the
/// file can guess its passphrase without limit; a guess costs what ``cost`` says.
public struct NotesBundle: Sendable {
    /// What a guess costs: three passes over 256 MiB, as for a notes password.
    public static let standardCost = KeystoreCost(passes: 3, memory: 262_144)
    /// Bytes before the pieces.
    static let headByteCount = format.count + 8 + saltByteCount + 32
    /// Bytes of a piece's content; of the last, the most.
    static let pieceByteCount = 65_536
    static let tagByteCount = 16

    static let format = Array("signet-notes-bundle/v2\n".utf8)
    private static let saltByteCount = 16

    /// Everything before the pieces.
    let head: [UInt8]
    private let key: SymmetricKey

    /// A new export's.
    ///
    /// - Parameter salt: 16 random bytes.
    /// - Throws: ``BundleError``.
    init(sealingUnder passphrase: SecretBytes, cost: KeystoreCost, salt: [UInt8]) throws(BundleError) {
        let (key, check) = try Self.keys(passphrase, salt, cost)
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(cost.passes)
        writer.write(cost.memory)
        writer.write(salt)
        writer.write(check)
        self.key = key
        head = writer.bytes
    }

    /// That of an export which is there.
    ///
    /// - Throws: ``BundleError``.
    init(decoding bytes: [UInt8], passphrase: SecretBytes) throws(BundleError) {
        guard bytes.starts(with: Self.format) else { throw .otherFormat }
        let (cost, salt, stated): (KeystoreCost, [UInt8], [UInt8])
        do {
            var reader = ByteReader(bytes)
            _ = try reader.bytes(Self.format.count)
            cost = KeystoreCost(passes: try reader.uint32(), memory: try reader.uint32())
            salt = Array(try reader.bytes(Self.saltByteCount))
            stated = Array(try reader.bytes(32))
            try reader.end()
        } catch { throw .damaged }
        let check: [UInt8]
        (key, check) = try Self.keys(passphrase, salt, cost)
        guard check == stated else { throw .wrongPassphrase }
        head = bytes
    }

    private static func keys(
        _ passphrase: SecretBytes, _ salt: [UInt8], _ cost: KeystoreCost
    ) throws(BundleError) -> (key: SymmetricKey, check: [UInt8]) {
        let secret: SymmetricKey
        do { secret = try PassphraseKey.derive(from: passphrase, salt: salt, cost: cost) } catch {
            throw BundleError(error)
        }
        func part(_ info: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Array(info.utf8), outputByteCount: 32)
        }
        let check = part("signet-notes-bundle-check/v2").withUnsafeBytes { Array($0) }
        return (part("signet-notes-bundle-key/v2"), check)
    }

    // MARK: Pieces

    func seal(_ content: [UInt8], piece index: UInt64, isLast: Bool) throws(BundleError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(content, using: key, nonce: nonce(index, isLast), authenticating: head)
            return Array(box.ciphertext) + Array(box.tag)
        } catch { throw .notSealed }
    }

    func open(_ sealed: [UInt8], piece index: UInt64, isLast: Bool) throws(BundleError) -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: nonce(index, isLast), ciphertext: sealed.dropLast(Self.tagByteCount),
                tag: sealed.suffix(Self.tagByteCount))
            return Array(try AES.GCM.open(box, using: key, authenticating: head))
        } catch { throw .damaged }
    }

    private func nonce(_ index: UInt64, _ isLast: Bool) throws -> AES.GCM.Nonce {
        var writer = ByteWriter()
        writer.write([0, 0, 0])
        writer.write(index)
        writer.write(UInt8(isLast ? 1 : 0))
        return try AES.GCM.Nonce(data: writer.bytes)
    }
}

/// Why an export is not made, or not taken in; nothing of it was.
public enum BundleError: Error, Hashable, Sendable {
    /// It is not a sealed export, or one of a form that this program does not know.
    case otherFormat
    /// It asks for more memory or work than any export of ours.
    case tooMuchWork
    /// It asks for so little work that its passphrase would be guessed soon.
    case tooLittleWork
    /// The passphrase is empty.
    case emptyPassphrase
    /// The passphrase is wrong, or the first lines were changed.
    case wrongPassphrase
    /// The passphrase is wrong, or the export was changed: in Themis' form the two cannot be told apart.
    case wrongPassphraseOrDamaged
    /// The export is cut short, or was changed.
    case damaged
    /// The export opens, but its contents are not an export of notes.
    case malformed
    /// The file cannot be read, or was changed while it was read.
    case notRead
    /// The file cannot be written.
    case notWritten
    /// There is not enough memory for the passphrase.
    case notEnoughMemory
    /// A bug: it could not be sealed; or this build has no Argon2id.
    case notSealed

    init(_ error: KeystoreError) {
        self =
            switch error {
            case .costTooHigh: .tooMuchWork
            case .costTooLow: .tooLittleWork
            case .emptyPassphrase: .emptyPassphrase
            case .notEnoughMemory: .notEnoughMemory
            default: .notSealed
            }
    }
}
