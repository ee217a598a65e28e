// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SecretMemory
import SignetAPI
import SignetClient
import Synchronization
import Testing

/// Keystores of which a place outside the file holds a part. The attacker has a copy of the file and knows the passphrase.
@Suite struct KeystorePlaceTests {
    private static let passphrase = SecretBytes(copying: Array("correct horse".utf8))

    private static func make(
        at place: any KeystorePlace, withIdentity: Bool = true
    ) throws -> (keystore: Keystore, secrets: DeviceSecrets) {
        try Keystore.make(
            for: Handle(typed: Array("alice@example.org".utf8)), withIdentity: withIdentity, under: passphrase,
            at: place, cost: .minimum)
    }

    @Test(arguments: [KeystorePlaceKind.keyring, .tpm], [true, false])
    func aKeystoreOpensWithItsPlace(_ kind: KeystorePlaceKind, withIdentity: Bool) throws {
        let place = PaperPlace(kind)
        let (keystore, secrets) = try Self.make(at: place, withIdentity: withIdentity)
        let opened = try Keystore(decoding: keystore.encoded).open(with: Self.passphrase, at: place)
        #expect(opened.keys == secrets.keys && opened.identityKey == secrets.identityKey)
        #expect(keystore.place == kind)
        #expect(keystore.isIdentityInPlace == (kind == .tpm && withIdentity))
        let key = try Curve25519.Signing.PublicKey(rawRepresentation: secrets.keys.signing)
        #expect(key.isValidSignature(try opened.sign([1, 2, 3]), for: [1, 2, 3]))
        guard withIdentity else {
            #expect(try opened.signAsIdentity([1]) == nil)
            return
        }
        let identity = try P256.Signing.PublicKey(compressedRepresentation: try #require(opened.identityKey))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: #require(try opened.signAsIdentity([1])))
        #expect(identity.isValidSignature(signature, for: [1]))
    }

    @Test func check_refusesACopyOfTheFileWithoutItsPlace() throws {
        let (keystore, _) = try Self.make(at: PaperPlace(.tpm))
        #expect(throws: KeystoreError.place(.tpm, .notGiven)) { try keystore.open(with: Self.passphrase) }
        #expect(throws: KeystoreError.place(.tpm, .notGiven)) {
            try keystore.open(with: Self.passphrase, at: PaperPlace(.keyring))
        }
        #expect(throws: KeystoreError.place(.tpm, .nothingThere)) {
            try keystore.open(with: Self.passphrase, at: PaperPlace(.tpm))
        }
    }

    /// Everything but the secret: the key that the passphrase makes, and a place that gives another secret.
    @Test func check_refusesAnotherSecret() throws {
        let place = PaperPlace(.keyring)
        let (keystore, _) = try Self.make(at: place)
        let key = try keystore.key(from: Self.passphrase)
        #expect(throws: KeystoreError.wrongPassphraseOrDamaged) { try keystore.open(under: key) }
        place.parts.withLock { parts in
            for name in parts.keys { parts[name]?.secret = SecretBytes(randomCount: 32) }
        }
        #expect(throws: KeystoreError.wrongPassphraseOrDamaged) {
            try keystore.open(with: Self.passphrase, at: place)
        }
    }

    @Test func check_refusesAPlaceThatSignsWithAnotherKey() throws {
        let place = PaperPlace(.tpm)
        let (keystore, _) = try Self.make(at: place)
        place.parts.withLock { parts in
            for name in parts.keys { parts[name]?.identity = P256.Signing.PrivateKey() }
        }
        #expect(throws: KeystoreError.keysDoNotFit) { try keystore.open(with: Self.passphrase, at: place) }
    }

    /// The place gets a PIN that differs for each passphrase, and neither the passphrase nor the key that seals the
    /// file.
    @Test func eachPassphraseGivesAnotherPIN() throws {
        let place = PaperPlace(.tpm)
        let (keystore, _) = try Self.make(at: place)
        #expect(throws: KeystoreError.wrongPassphraseOrDamaged) {
            try keystore.open(with: SecretBytes(copying: Array("Correct horse".utf8)), at: place)
        }
        let pins = place.pins.withLock { $0 }
        let key = try keystore.key(from: Self.passphrase).withUnsafeBytes { Array($0) }
        #expect(Set(pins).count == 2 && pins.allSatisfy { $0.count == 32 && $0 != key })
    }

    /// Opens the file as its format is documented, with the primitives alone.
    @Test func theFileHasTheDocumentedFormat() throws {
        let place = PaperPlace(.tpm)
        let (keystore, _) = try Self.make(at: place)
        let bytes = keystore.encoded
        let (start, handle) = (19 + 1 + 8, Array("alice@example.org".utf8))
        #expect(Array(bytes.prefix(20)) == Array("signet-keystore/v2\n".utf8) + [2])
        let (salt, nonce) = (bytes[start..<start + 16], bytes[start + 16..<start + 28])
        #expect(Int(bytes[start + 28]) == handle.count)
        let headerCount = start + 29 + handle.count + 1281 + 34
        #expect(bytes[headerCount - 34] == 2, "the identity key is in the place")
        #expect(bytes.count == headerCount + 3 * 32 + 16, "and no part of it in the file")
        let stretched = try keystore.key(from: Self.passphrase).withUnsafeBytes { Array($0) }
        let secret = try #require(place.parts.withLock { $0[Array(salt)] }).secret.withBytes { Array($0) }
        func derive(_ material: [UInt8], _ info: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: material), salt: [UInt8](), info: Array(info.utf8),
                outputByteCount: 32)
        }
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: nonce), ciphertext: bytes[headerCount...].dropLast(16), tag: bytes.suffix(16))
        let inside = try AES.GCM.open(
            box, using: derive(stretched + secret, "signet-keystore/v2 seal\n"), authenticating: bytes[..<headerCount])
        let signing = try Curve25519.Signing.PrivateKey(rawRepresentation: inside.prefix(32))
        #expect(Array(signing.publicKey.rawRepresentation) == keystore.keys.signing)
        let pin = derive(stretched, "signet-keystore/v2 pin\n").withUnsafeBytes { Array($0) }
        #expect(place.pins.withLock { $0 } == [pin])
    }

    /// The place returns the same part for every name. The key is derived again where the change affects it.
    @Test func everyChangedByteIsRefused() throws {
        let place = PaperPlace(.keyring)
        let (keystore, _) = try Self.make(at: place)
        let part = try #require(place.parts.withLock { $0.values.first })
        let stretched = try keystore.key(from: Self.passphrase)
        let sealing = Keystore.sealingKey(stretched, part.secret)
        for index in keystore.encoded.indices {
            var changed = keystore.encoded
            changed[index] ^= 1
            #expect(throws: KeystoreError.self, "byte \(index)") {
                let read = try Keystore(decoding: changed)
                let key = index < 44 ? Keystore.sealingKey(try read.key(from: Self.passphrase), part.secret) : sealing
                _ = try read.open(under: key)
            }
        }
    }

    @Test func everyTruncationAndAnyTailIsRefused() throws {
        let sealed = try Self.make(at: PaperPlace(.tpm)).keystore.encoded
        for count in 0..<sealed.count {
            #expect(throws: KeystoreError.self) { try Keystore(decoding: Array(sealed.prefix(count))) }
        }
        #expect(throws: KeystoreError.self) { try Keystore(decoding: sealed + [0]) }
    }

    /// Its header claims that the identity key is in a place, and names none.
    @Test func check_refusesAFileWithoutAPlaceThatClaimsAnIdentityInOne() throws {
        let secrets = try DeviceSecrets.generate(
            for: Handle(typed: Array("alice@example.org".utf8)), withIdentity: false)
        var bytes = try Keystore(sealing: secrets, under: Self.passphrase, cost: .minimum).encoded
        let presence = bytes.count - 16 - 96 - 1
        bytes.replaceSubrange(presence...presence, with: [2] + [UInt8](repeating: 2, count: 33))
        #expect(throws: KeystoreError.unknownFormat) { try Keystore(decoding: bytes) }
    }

    @Test(arguments: [UInt8(0), 3, 255]) func check_refusesAnUnknownKindOfPlace(_ kind: UInt8) throws {
        var bytes = try Self.make(at: PaperPlace(.tpm)).keystore.encoded
        bytes[19] = kind
        #expect(throws: KeystoreError.unknownFormat) { try Keystore(decoding: bytes) }
    }
}

/// A place in memory. As a TPM it signs with the identity key itself, and checks the PIN.
final class PaperPlace: KeystorePlace {
    struct Part {
        var secret: SecretBytes
        let pin: [UInt8]
        var identity: P256.Signing.PrivateKey?
    }

    let kind: KeystorePlaceKind
    let parts = Mutex<[[UInt8]: Part]>([:])
    /// Every PIN that was tried.
    let pins = Mutex<[[UInt8]]>([])

    init(_ kind: KeystorePlaceKind) { self.kind = kind }

    func make(named name: [UInt8], pin: SecretBytes, withIdentity: Bool) throws(KeystoreError) -> KeystorePart {
        let pin = pin.withBytes { Array($0) }
        let part = Part(
            secret: SecretBytes(randomCount: 32), pin: pin,
            identity: withIdentity && kind == .tpm ? P256.Signing.PrivateKey() : nil)
        parts.withLock { $0[name] = part }
        pins.withLock { $0.append(pin) }
        return KeystorePart(secret: part.secret, identity: part.identity.map(PaperSigner.init))
    }

    func part(named name: [UInt8], pin: SecretBytes) throws(KeystoreError) -> KeystorePart {
        let pin = pin.withBytes { Array($0) }
        pins.withLock { $0.append(pin) }
        guard let part = parts.withLock({ $0[name] }) else { throw .place(kind, .nothingThere) }
        guard kind == .keyring || part.pin == pin else { throw .wrongPassphraseOrDamaged }
        return KeystorePart(secret: part.secret, identity: part.identity.map(PaperSigner.init))
    }
}

struct PaperSigner: IdentitySigner {
    let key: P256.Signing.PrivateKey
    var publicKey: [UInt8] { Array(key.publicKey.compressedRepresentation) }

    func sign(_ message: [UInt8]) throws(KeystoreError) -> [UInt8] {
        do { return Array(try key.signature(for: message).rawRepresentation) } catch { throw .keysDoNotFit }
    }
}
