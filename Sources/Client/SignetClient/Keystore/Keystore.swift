// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
package import Crypto
public import KeyTransparency
public import SecretMemory

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A device's private keys, sealed under a passphrase and, if the user chose so, also under a secret that a place outside the
/// file holds.
///
/// Wire form, integers big-endian: `signet-keystore/v1` LF, or for one with a place `signet-keystore/v2` LF and u8
/// ``KeystorePlaceKind``; u32 passes, u32 memory in KiB; 16-byte salt; 12-byte nonce; u8 handle length, handle; 1281 bytes of public
/// device keys; u8 where the private identity key is (0: on another device, 1: inside, and in v2 2: in the place) and, unless 0, the
/// 33-byte identity key; then the sealed part: AES-256-GCM with everything before it as associated data. Its key is what Argon2id
/// makes of the passphrase, 32 bytes; in v2, HKDF-SHA-256 without salt of these and the place's secret, with the info
/// `signet-keystore/v2 seal` LF. Inside: 32-byte Ed25519 seed, 32-byte P-256 scalar, 32-byte X-Wing seed, and the 32-byte P-256
/// identity scalar if it is inside. The PIN for the place is HKDF-SHA-256 of Argon2id's key with the info `signet-keystore/v2 pin` LF.
public struct Keystore: Hashable, Sendable {
    /// The maximum length of a keystore, in bytes.
    public static let maximumByteCount = 4096

    /// The handle of the account to which the device belongs.
    public let handle: Handle
    /// The device's public keys.
    public let keys: DeviceKeys
    /// The account's identity key, 33 bytes, if this device holds it.
    public let identityKey: [UInt8]?
    /// The cost of one guess at the passphrase.
    public let cost: KeystoreCost
    /// The place that holds a part of the keystore; nil if the passphrase alone opens it.
    public let place: KeystorePlaceKind?
    /// Whether the private identity key is in the place, which signs by itself.
    public let isIdentityInPlace: Bool
    /// The wire form.
    public let encoded: [UInt8]

    private let salt: [UInt8]
    private let nonce: [UInt8]
    private let headerByteCount: Int

    private static let format = Array("signet-keystore/v1\n".utf8)
    private static let formatWithPlace = Array("signet-keystore/v2\n".utf8)
    private static let tagByteCount = 16

    /// Reads a file. Nothing is decrypted, and the header is not yet authenticated.
    ///
    /// - Throws: ``KeystoreError``.
    public init(decoding bytes: [UInt8]) throws(KeystoreError) {
        let hasPlace = bytes.starts(with: Self.formatWithPlace)
        guard hasPlace || bytes.starts(with: Self.format) else { throw .unknownFormat }
        let presence: UInt8
        do {
            var reader = ByteReader(bytes)
            _ = try reader.bytes(Self.format.count)
            place = hasPlace ? KeystorePlaceKind(rawValue: try reader.uint8()) : nil
            cost = KeystoreCost(passes: try reader.uint32(), memory: try reader.uint32())
            salt = Array(try reader.bytes(PassphraseKey.saltByteCount))
            nonce = Array(try reader.bytes(12))
            handle = try Handle(canonical: Array(reader.bytes(Int(reader.uint8()))))
            keys = try DeviceKeys(from: &reader)
            presence = try reader.uint8()
            identityKey = presence == 0 ? nil : Array(try reader.bytes(33))
            headerByteCount = reader.offset
            _ = try reader.bytes(32 * (presence == 1 ? 4 : 3) + Self.tagByteCount)
            try reader.end()
        } catch let error as CanonicalCodingError {
            throw .malformed(error)
        } catch { throw .unknownFormat }
        guard presence <= (hasPlace ? 2 : 1), (place != nil) == hasPlace else { throw .unknownFormat }
        isIdentityInPlace = presence == 2
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
        let key = try PassphraseKey.derive(from: passphrase, salt: salt, cost: cost)
        try self.init(sealing: secrets, under: key, place: nil, cost: cost, salt: salt)
    }

    /// Makes new keys, and seals them under a passphrase and a place's secret.
    ///
    /// - Parameters:
    ///   - withIdentity: whether this is the account's first device. The place makes the identity key if it signs by itself.
    ///   - place: has made its part when this returns; nothing refers to that part if this throws.
    /// - Throws: ``KeystoreError``.
    public static func make(
        for handle: Handle, withIdentity: Bool, under passphrase: SecretBytes, at place: any KeystorePlace,
        cost: KeystoreCost = .standard
    ) throws(KeystoreError) -> (keystore: Keystore, secrets: DeviceSecrets) {
        let salt = random(PassphraseKey.saltByteCount)
        let key = try PassphraseKey.derive(from: passphrase, salt: salt, cost: cost)
        let part = try place.make(named: salt, pin: pin(from: key), withIdentity: withIdentity)
        let secrets =
            if let signer = part.identity {
                try DeviceSecrets.generate(for: handle, identity: .elsewhere(signer))
            } else { try DeviceSecrets.generate(for: handle, withIdentity: withIdentity) }
        let both = sealingKey(key, part.secret)
        return (try Keystore(sealing: secrets, under: both, place: place.kind, cost: cost, salt: salt), secrets)
    }

    private init(
        sealing secrets: DeviceSecrets, under key: SymmetricKey, place: KeystorePlaceKind?, cost: KeystoreCost,
        salt: [UInt8]
    ) throws(KeystoreError) {
        let nonce = Self.random(12)
        let header = Self.header(secrets, place: place, cost: cost, salt: salt, nonce: nonce)
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

    /// Opens the keystore.
    ///
    /// - Parameter place: the place that holds a part of the keystore; see ``place``.
    /// - Throws: ``KeystoreError``; ``KeystoreError/wrongPassphraseOrDamaged`` covers both.
    public func open(
        with passphrase: SecretBytes, at place: (any KeystorePlace)? = nil
    ) throws(KeystoreError) -> DeviceSecrets {
        try open(at: place) { () throws(KeystoreError) in try key(from: passphrase) }
    }

    /// Opens the keystore with what ``passphraseKey(_:)`` gave for it before.
    ///
    /// - Throws: ``KeystoreError``; ``KeystoreError/wrongPassphraseOrDamaged`` also for the key of another keystore.
    package func open(
        withKey key: SecretBytes, at place: (any KeystorePlace)? = nil
    ) throws(KeystoreError) -> DeviceSecrets {
        try open(at: place) { () throws(KeystoreError) in key.withBytes { SymmetricKey(data: $0) } }
    }

    private func open(
        at place: (any KeystorePlace)?, _ derive: () throws(KeystoreError) -> SymmetricKey
    ) throws(KeystoreError) -> DeviceSecrets {
        guard let kind = self.place else { return try open(under: try derive()) }
        guard let place, place.kind == kind else { throw .place(kind, .notGiven) }
        let key = try derive()
        let part = try place.part(named: salt, pin: Self.pin(from: key))
        return try open(under: Self.sealingKey(key, part.secret), signer: part.identity)
    }

    /// The key that is derived from the passphrase with this salt and cost: the slow part of opening.
    package func key(from passphrase: SecretBytes) throws(KeystoreError) -> SymmetricKey {
        try PassphraseKey.derive(from: passphrase, salt: salt, cost: cost)
    }

    /// What the passphrase gives with this salt and cost, 32 bytes: it opens this keystore, with its place if it has one, and no other.
    package func passphraseKey(_ passphrase: SecretBytes) throws(KeystoreError) -> SecretBytes {
        try key(from: passphrase).withUnsafeBytes { SecretBytes(copying: $0) }
    }

    package func open(
        under key: SymmetricKey, signer: (any IdentitySigner)? = nil
    ) throws(KeystoreError) -> DeviceSecrets {
        let plaintext: SecretBytes
        do {
            let sealed = encoded[headerByteCount...]
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed.dropLast(Self.tagByteCount),
                tag: sealed.suffix(Self.tagByteCount))
            var opened = try AES.GCM.open(box, using: key, authenticating: encoded[..<headerByteCount])
            plaintext = SecretBytes(copying: opened)
            opened.withUnsafeMutableBytes(wipeMemory)
        } catch { throw .wrongPassphraseOrDamaged }
        let secrets = try DeviceSecrets(
            handle: handle, splitting: plaintext, signer: isIdentityInPlace ? signer : nil)
        guard secrets.keys == keys, secrets.identityKey == identityKey else { throw .keysDoNotFit }
        return secrets
    }

    private static func pin(from key: SymmetricKey) -> SecretBytes {
        let pin = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: [UInt8](), info: formatWithPlace.dropLast() + Array(" pin\n".utf8),
            outputByteCount: 32)
        return pin.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    package static func sealingKey(_ key: SymmetricKey, _ secret: SecretBytes) -> SymmetricKey {
        let both = SecretBytes(count: 32 + secret.count) { buffer in
            key.withUnsafeBytes { buffer.copyMemory(from: $0) }
            secret.withBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[32...]).copyMemory(from: $0) }
        }
        return both.withBytes { bytes in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes), salt: [UInt8](),
                info: formatWithPlace.dropLast() + Array(" seal\n".utf8), outputByteCount: 32)
        }
    }

    private static func header(
        _ secrets: DeviceSecrets, place: KeystorePlaceKind?, cost: KeystoreCost, salt: [UInt8], nonce: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(place == nil ? format : formatWithPlace)
        if let place { writer.write(place.rawValue) }
        writer.write(cost.passes)
        writer.write(cost.memory)
        writer.write(salt)
        writer.write(nonce)
        writer.write(UInt8(truncatingIfNeeded: secrets.handle.bytes.count))
        writer.write(secrets.handle.bytes)
        writer.write(secrets.keys.encoded)
        let presence: UInt8 =
            switch secrets.identity {
            case nil: 0
            case .held: 1
            case .elsewhere: 2
            }
        writer.write(presence)
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
        var parts = [signing, agreement, kem]
        if case .held(let identity) = identity { parts.append(identity) }
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

    fileprivate init(
        handle: Handle, splitting secret: SecretBytes, signer: (any IdentitySigner)?
    ) throws(KeystoreError) {
        let parts = secret.withBytes { bytes in
            stride(from: 0, to: bytes.count, by: 32).map { SecretBytes(copying: bytes[$0..<$0 + 32]) }
        }
        guard parts.count == 3 || parts.count == 4 else { throw .keysDoNotFit }
        try self.init(
            handle: handle, signing: parts[0], agreement: parts[1], kem: parts[2],
            identity: parts.count == 4 ? .held(parts[3]) : signer.map { .elsewhere($0) })
    }
}
