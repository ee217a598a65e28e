// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import SecretMemory
import SignetClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The file of a ``SealedFileKeystore``.
///
/// Wire form, integers big-endian: `signet-sealed-keys/v1` LF; u32 passes, u32 memory in KiB; 16-byte salt; 12-byte
/// nonce; then ``SealedContents`` in AES-256-GCM under the key that Argon2id makes of the passphrase, with everything
/// before it as associated data.
struct SealedFile: Sendable {
    static let maximumByteCount = 2_097_152
    private static let format = Array("signet-sealed-keys/v1\n".utf8)
    private static let headerByteCount = format.count + 36
    private static let tagByteCount = 16

    /// What the passphrase's key is made with. It stays the same while the passphrase does.
    struct Derivation: Hashable, Sendable {
        let cost: KeystoreCost
        let salt: [UInt8]

        func key(_ passphrase: SecretBytes) throws(KeystoreError) -> SymmetricKey {
            try PassphraseKey.derive(from: passphrase, salt: salt, cost: cost)
        }
    }

    let derivation: Derivation
    private let bytes: [UInt8]

    /// Reads a file; nothing is opened, and the header is not yet authenticated.
    ///
    /// - Throws: `KeystoreError`: no such file, or its passphrase could be guessed too cheaply.
    init(decoding bytes: [UInt8]) throws(KeystoreError) {
        guard bytes.starts(with: Self.format) else { throw .unknownFormat }
        do throws(CanonicalCodingError) {
            var reader = ByteReader(bytes)
            _ = try reader.bytes(Self.format.count)
            let cost = KeystoreCost(passes: try reader.uint32(), memory: try reader.uint32())
            derivation = Derivation(cost: cost, salt: Array(try reader.bytes(16)))
            _ = try reader.bytes(12 + Self.tagByteCount)
        } catch { throw .malformed(error) }
        try derivation.cost.check()
        self.bytes = bytes
    }

    /// Opens it; nil when the key is wrong or the file was changed.
    func open(_ key: SymmetricKey) throws(PrivateKeyStoreError) -> SealedContents? {
        let header = bytes[..<Self.headerByteCount]
        guard
            let nonce = try? AES.GCM.Nonce(data: header.suffix(12)),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: bytes[Self.headerByteCount...].dropLast(Self.tagByteCount),
                tag: bytes.suffix(Self.tagByteCount)),
            var opened = try? AES.GCM.open(box, using: key, authenticating: header)
        else { return nil }
        let plaintext = SecretBytes(copying: opened)
        opened.withUnsafeMutableBytes(wipeMemory)
        return try SealedContents(decoding: plaintext)
    }

    /// The file with other contents, under a new nonce.
    static func seal(
        _ contents: SealedContents, _ derivation: Derivation, _ key: SymmetricKey
    ) throws(PrivateKeyStoreError) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let nonce = (0..<12).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        var writer = ByteWriter()
        writer.write(format)
        writer.write(derivation.cost.passes)
        writer.write(derivation.cost.memory)
        writer.write(derivation.salt)
        writer.write(nonce)
        let header = writer.bytes
        guard
            let box = try? contents.encoded.withBytes({ plaintext in
                try AES.GCM.seal(
                    plaintext, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: header)
            })
        else { throw .unavailable }
        return header + box.ciphertext + box.tag
    }
}
