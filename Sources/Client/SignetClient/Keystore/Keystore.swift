import CanonicalCoding
package import Crypto
public import KeyTransparency

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A device's private keys, sealed under a passphrase.
///
/// Wire form, integers big-endian: `signet-keystore/v1` LF; u32 passes, u32 memory in KiB; 16-byte salt;
/// 12-byte nonce; u8 handle length, handle; 1281 bytes of public device keys; presence byte 0 or 1 and,
/// if 1, the 33-byte identity key; then the sealed part: AES-256-GCM under the key that Argon2id makes of
/// the passphrase, with everything before it as associated data. Inside: 32-byte Ed25519 seed, 32-byte
/// P-256 scalar, 32-byte X-Wing seed, and the 32-byte P-256 identity scalar if the header has its key.
public struct Keystore: Hashable, Sendable {
    /// No keystore is longer, in bytes.
    public static let maximumByteCount = 4096

    /// Whose device it is.
    public let handle: Handle
    /// The device's public keys.
    public let keys: DeviceKeys
    /// The account's identity key, if its private half is inside; 33 bytes.
    public let identityKey: [UInt8]?
    /// What a guess at the passphrase costs.
    public let cost: KeystoreCost
    /// The wire form.
    public let encoded: [UInt8]

    private let salt: [UInt8]
    private let nonce: [UInt8]
    private let headerByteCount: Int

    private static let format = Array("signet-keystore/v1\n".utf8)
    private static let tagByteCount = 16

    /// Reads a file; nothing is opened, and the header is not yet authenticated.
    ///
    /// - Throws: ``KeystoreError``.
    public init(decoding bytes: [UInt8]) throws(KeystoreError) {
        guard bytes.starts(with: Self.format) else { throw .unknownFormat }
        do {
            var reader = ByteReader(bytes)
            _ = try reader.bytes(Self.format.count)
            cost = KeystoreCost(passes: try reader.uint32(), memory: try reader.uint32())
            salt = Array(try reader.bytes(PassphraseKey.saltByteCount))
            nonce = Array(try reader.bytes(12))
            handle = try Handle(canonical: Array(reader.bytes(Int(reader.uint8()))))
            keys = try DeviceKeys(from: &reader)
            identityKey = try reader.uint8() == 0 ? nil : Array(reader.bytes(33))
            headerByteCount = reader.offset
            _ = try reader.bytes(32 * (identityKey == nil ? 3 : 4) + Self.tagByteCount)
            try reader.end()
        } catch let error as CanonicalCodingError {
            throw .malformed(error)
        } catch { throw .unknownFormat }
        guard bytes[headerByteCount - (identityKey == nil ? 1 : 34)] <= 1 else { throw .unknownFormat }
        try cost.check()
        encoded = bytes
    }

    /// Seals keys under a passphrase, with a new salt and nonce.
    ///
    /// - Throws: ``KeystoreError``.
    public init(
        sealing secrets: DeviceSecrets, under passphrase: SecretBytes, cost: KeystoreCost = .standard
    ) throws(KeystoreError) {
        let salt = Self.random(PassphraseKey.saltByteCount)
        let nonce = Self.random(12)
        let header = Self.header(secrets, cost: cost, salt: salt, nonce: nonce)
        let key = try PassphraseKey.derive(from: passphrase, salt: salt, cost: cost)
        let plaintext = secrets.joined()
        do {
            let box = try plaintext.withBytes {
                try AES.GCM.seal($0, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: header)
            }
            try self.init(decoding: header + box.ciphertext + box.tag)
        } catch let error as KeystoreError {
            throw error
        } catch { throw .keysDoNotFit }
    }

    /// Opens it.
    ///
    /// - Throws: ``KeystoreError``; ``KeystoreError/wrongPassphraseOrDamaged`` covers both.
    public func open(with passphrase: SecretBytes) throws(KeystoreError) -> DeviceSecrets {
        try open(under: try key(from: passphrase))
    }

    /// The key that the passphrase makes with this salt and cost: the slow part of opening.
    package func key(from passphrase: SecretBytes) throws(KeystoreError) -> SymmetricKey {
        try PassphraseKey.derive(from: passphrase, salt: salt, cost: cost)
    }

    package func open(under key: SymmetricKey) throws(KeystoreError) -> DeviceSecrets {
        let plaintext: SecretBytes
        do {
            let sealed = encoded[headerByteCount...]
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed.dropLast(Self.tagByteCount),
                tag: sealed.suffix(Self.tagByteCount))
            var opened = try AES.GCM.open(box, using: key, authenticating: encoded[..<headerByteCount])
            plaintext = SecretBytes(copying: opened)
            opened.withUnsafeMutableBytes { SecretBytes.wipe($0) }
        } catch { throw .wrongPassphraseOrDamaged }
        let secrets = try DeviceSecrets(handle: handle, splitting: plaintext)
        guard secrets.keys == keys, secrets.identityKey == identityKey else { throw .keysDoNotFit }
        return secrets
    }

    private static func header(
        _ secrets: DeviceSecrets, cost: KeystoreCost, salt: [UInt8], nonce: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(cost.passes)
        writer.write(cost.memory)
        writer.write(salt)
        writer.write(nonce)
        writer.write(UInt8(truncatingIfNeeded: secrets.handle.bytes.count))
        writer.write(secrets.handle.bytes)
        writer.write(secrets.keys.encoded)
        writer.write(UInt8(secrets.identityKey == nil ? 0 : 1))
        writer.write(secrets.identityKey ?? [])
        return writer.bytes
    }

    private static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}

extension DeviceSecrets {
    fileprivate func joined() -> SecretBytes {
        let parts = [signing, agreement, kem] + (identity.map { [$0] } ?? [])
        return SecretBytes(count: parts.reduce(0) { $0 + $1.count }) { buffer in
            var start = 0
            for part in parts {
                part.withBytes {
                    UnsafeMutableRawBufferPointer(rebasing: buffer[start...]).copyMemory(from: $0)
                }
                start += part.count
            }
        }
    }

    fileprivate init(handle: Handle, splitting secret: SecretBytes) throws(KeystoreError) {
        let parts = secret.withBytes { bytes in
            stride(from: 0, to: bytes.count, by: 32).map { SecretBytes(copying: bytes[$0..<$0 + 32]) }
        }
        guard parts.count == 3 || parts.count == 4 else { throw .keysDoNotFit }
        try self.init(
            handle: handle, signing: parts[0], agreement: parts[1], kem: parts[2],
            identity: parts.count == 4 ? parts[3] : nil)
    }
}
