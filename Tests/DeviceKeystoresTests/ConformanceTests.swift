// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import SecretMemory
import SignetClient
import Testing

@testable import DeviceKeystores

/// Behavior that all keystores have in common.
@Suite(.serialized) struct ConformanceTests {
    static let message = Array("sign this".utf8)

    @Test(arguments: Place.present) func aKeySignsUnderItsPublicKey(_ place: Place) async throws {
        try await place.with { store, _ in
            let key = try await store.makeKey(.p256Signing, named: name("one"))
            let signature = try await store.sign(Self.message, with: name("one"), grant())
            let publicKey = try P256.Signing.PublicKey(compressedRepresentation: key)
            let ecdsa = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            #expect(signature.count == 64 && publicKey.isValidSignature(ecdsa, for: Self.message))
            #expect(try await store.key(named: name("one")) == StoredKey(kind: .p256Signing, publicKey: key))
        }
    }

    @Test(arguments: Place.present) func anEd25519KeySigns_andATPMRefusesToMakeOne(_ place: Place) async throws {
        try await place.with { store, _ in
            guard place != .tpm else {
                await #expect(throws: PrivateKeyStoreError.unsupported) {
                    _ = try await store.makeKey(.ed25519Signing, named: name("one"))
                }
                return
            }
            let key = try await store.makeKey(.ed25519Signing, named: name("one"))
            let signature = try await store.sign(Self.message, with: name("one"), grant())
            let publicKey = try Curve25519.Signing.PublicKey(rawRepresentation: key)
            #expect(publicKey.isValidSignature(signature, for: Self.message))
        }
    }

    @Test(arguments: Place.present) func bothSidesAgreeOnAKey(_ place: Place) async throws {
        try await place.with { store, _ in
            let key = try await store.makeKey(.p256Agreement, named: name("one"))
            let peer = P256.KeyAgreement.PrivateKey()
            let context = Array("context".utf8)
            let ours = try await store.agree(
                with: Array(peer.publicKey.compressedRepresentation), context: context, using: name("one"), grant())
            let theirs = try peer.sharedSecretFromKeyAgreement(
                with: P256.KeyAgreement.PublicKey(compressedRepresentation: key))
            #expect(
                ours
                    == theirs.hkdfDerivedSymmetricKey(
                        using: SHA256.self, salt: [UInt8](), sharedInfo: context, outputByteCount: 32))
            await #expect(throws: PrivateKeyStoreError.invalidInput) {
                let bad = [UInt8](repeating: 2, count: 32)
                _ = try await store.agree(with: bad, context: [], using: name("one"), grant())
            }
        }
    }

    @Test(arguments: Place.present) func aSecretReadsBackUnchanged(_ place: Place) async throws {
        try await place.with { store, _ in
            for count in [16, 32, 64] {
                let secret = SymmetricKey(size: .init(bitCount: count * 8))
                try await store.keep(secret, named: name("s\(count)"))
                #expect(try await store.secret(named: name("s\(count)"), grant()) == secret)
            }
            for count in [0, 15, 65] {
                await #expect(throws: PrivateKeyStoreError.invalidInput) {
                    let bytes = [UInt8](repeating: 1, count: count)
                    try await store.keep(SymmetricKey(data: bytes), named: name("bad"))
                }
            }
        }
    }

    @Test(arguments: Place.present) func aTakenNameIsRefused(_ place: Place) async throws {
        try await place.with { store, _ in
            let key = try await store.makeKey(.p256Signing, named: name("one"))
            await #expect(throws: PrivateKeyStoreError.nameTaken) {
                _ = try await store.makeKey(.p256Signing, named: name("one"))
            }
            await #expect(throws: PrivateKeyStoreError.nameTaken) {
                try await store.keep(SymmetricKey(size: .bits256), named: name("one"))
            }
            #expect(try await store.key(named: name("one"))?.publicKey == key)
        }
    }

    @Test(arguments: Place.present) func aMissingKeyIsReportedAsMissing(_ place: Place) async throws {
        try await place.with { store, _ in
            #expect(try await store.key(named: name("one")) == nil)
            await #expect(throws: PrivateKeyStoreError.noSuchKey) {
                _ = try await store.sign(Self.message, with: name("one"), grant())
            }
            await #expect(throws: PrivateKeyStoreError.noSuchKey) {
                _ = try await store.secret(named: name("one"), grant())
            }
            try await store.erase(name("one"))
        }
    }

    @Test(arguments: Place.present) func aKeyIsRefusedForAnotherPurpose(_ place: Place) async throws {
        try await place.with { store, _ in
            _ = try await store.makeKey(.p256Agreement, named: name("agree"))
            _ = try await store.makeKey(.p256Signing, named: name("sign"))
            await #expect(throws: PrivateKeyStoreError.unsupported) {
                _ = try await store.sign(Self.message, with: name("agree"), grant())
            }
            await #expect(throws: PrivateKeyStoreError.unsupported) {
                let peer = Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation)
                _ = try await store.agree(with: peer, context: [], using: name("sign"), grant())
            }
            await #expect(throws: PrivateKeyStoreError.unsupported) {
                _ = try await store.secret(named: name("sign"), grant())
            }
        }
    }

    @Test(arguments: Place.present) func anErasedKeyIsRemoved(_ place: Place) async throws {
        try await place.with { store, _ in
            let first = try await store.makeKey(.p256Signing, named: name("one"))
            try await store.keep(SymmetricKey(size: .bits256), named: name("two"))
            #expect(try await store.names() == [name("one"), name("two")])
            try await store.erase(name("one"))
            #expect(try await store.names() == [name("two")])
            #expect(try await store.makeKey(.p256Signing, named: name("one")) != first)
        }
    }

    @Test(arguments: Place.present) func keysAreThereAfterTheStoreIsOpenedAgain(_ place: Place) async throws {
        try await place.with { store, folder in
            let key = try await store.makeKey(.p256Signing, named: name("one"))
            let again = try await place.open(folder)
            #expect(try await again.key(named: name("one"))?.publicKey == key)
            #expect(try await again.sign(Self.message, with: name("one"), grant()).count == 64)
        }
    }

    @Test(arguments: Place.present) func aStoreDoesNotListTheKeysOfAnother(_ place: Place) async throws {
        try await place.with { store, _ in
            _ = try await store.makeKey(.p256Signing, named: name("one"))
            try await place.with { other, _ in
                let names = try await other.names()
                #expect(names.isEmpty)
            }
        }
    }

    @Test(arguments: Place.present) func custodyFollowsFromWhatTheStoreCanDo(_ place: Place) async throws {
        try await place.with { store, _ in
            #expect(Custody(store.capabilities) == (place == .tpm ? .bound : .portable))
            #expect(store.capabilities.isHardware == (place == .tpm))
        }
    }

    @Test(.enabled(if: Place.present.contains(.tpm), "no TPM here: Scripts/keystores brings one"))
    func wrongPINsLockTheTPM_andThenItRefusesTheRightPIN() async throws {
        let folder = try Folder()
        let store = try #require(try await Place.tpm.open(folder) as? TPMKeystore)
        _ = try await store.makeKey(.p256Signing, named: name("one"))
        await store.unlock(pin: SecretBytes(copying: Array("wrong".utf8)))
        var errors: [PrivateKeyStoreError] = []
        for _ in 0..<8 {
            do { _ = try await store.sign([1], with: name("one"), grant()) } catch let error
                as PrivateKeyStoreError
            { errors.append(error) }
        }
        #expect(errors.first == .locked && errors.last == .lockedOut)
        await store.unlock(pin: Place.passphrase)
        await #expect(throws: PrivateKeyStoreError.lockedOut) {
            _ = try await store.sign([1], with: name("one"), grant())
        }
        _ = ToolRunner.system().run("tpm2_dictionarylockout", ["-c"], nil)
        #expect(try await store.sign([1], with: name("one"), grant()).count == 64)
    }
}
