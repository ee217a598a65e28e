// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import Foundation
import SecretMemory
import SignetClient
import Testing

@testable import DeviceKeystores

/// The places that hold a part of an account's keystore: a TPM and a keyring.
@Suite(.serialized) struct PlaceTests {
    private static let name = [UInt8](repeating: 7, count: 16)
    private static let pin = SecretBytes(copying: [UInt8](repeating: 9, count: 32))
    private static let otherPIN = SecretBytes(copying: [UInt8](repeating: 8, count: 32))

    @Test(.enabled(if: Place.present.contains(.tpm), "no TPM here: Scripts/keystores brings one"))
    func aTPMReturnsItsSecretAndSignsWithTheIdentityKey() throws {
        let folder = try Folder()
        let made = try TPMPlace(in: folder["tpm"]).make(named: Self.name, pin: Self.pin, withIdentity: true)
        let part = try TPMPlace(in: folder["tpm"]).part(named: Self.name, pin: Self.pin)
        #expect(part.secret.withBytes { Array($0) } == made.secret.withBytes { Array($0) })
        let signer = try #require(part.identity)
        #expect(signer.publicKey == made.identity?.publicKey)
        let key = try P256.Signing.PublicKey(compressedRepresentation: signer.publicKey)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: signer.sign([1, 2]))
        #expect(key.isValidSignature(signature, for: [1, 2]))
        #expect(throws: KeystoreError.wrongPassphraseOrDamaged) {
            try TPMPlace(in: folder["tpm"]).part(named: Self.name, pin: Self.otherPIN)
        }
        #expect(throws: KeystoreError.place(.tpm, .nothingThere)) {
            try TPMPlace(in: folder["tpm"]).part(named: [UInt8](repeating: 6, count: 16), pin: Self.pin)
        }
        _ = ToolRunner.system().run("tpm2_dictionarylockout", ["-c"], nil)
    }

    /// A thief has the files, the PIN and another TPM.
    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["SIGNET_TEST_OTHER_TPM"] != nil,
            "no second TPM here: Scripts/keystores brings one"))
    func check_refusesTheFilesOnAnotherChip() throws {
        let folder = try Folder()
        _ = try TPMPlace(in: folder.path).make(named: Self.name, pin: Self.pin, withIdentity: true)
        let other = try #require(ProcessInfo.processInfo.environment["SIGNET_TEST_OTHER_TPM"])
        let thief = TPMPlace(in: folder.path, through: .system(environment: ["TPM2TOOLS_TCTI": other]))
        #expect(throws: KeystoreError.place(.tpm, .damaged)) {
            try thief.part(named: Self.name, pin: Self.pin)
        }
    }

    @Test(.enabled(if: Place.present.contains(.secretService), "no keyring here: Scripts/keystores brings one"))
    func aKeyringReturnsItsSecret() throws {
        let name = (0..<16).map { _ in UInt8.random(in: 0...255) }
        let made = try KeyringPlace().make(named: name, pin: Self.pin, withIdentity: true)
        let part = try KeyringPlace().part(named: name, pin: Self.pin)
        #expect(part.secret.withBytes { Array($0) } == made.secret.withBytes { Array($0) })
        #expect(part.identity == nil)
        #expect(throws: KeystoreError.place(.keyring, .nothingThere)) {
            try KeyringPlace().part(named: Self.name, pin: Self.pin)
        }
    }

    @Test func aMissingPlaceIsReportedAbsent() throws {
        let none = ToolRunner { _, _, _ in nil }
        let folder = try Folder()
        for place in [TPMPlace(in: folder["tpm"], through: none), KeyringPlace(through: none)] as [any KeystorePlace] {
            #expect(throws: KeystoreError.place(place.kind, .absent)) {
                try place.make(named: Self.name, pin: Self.pin, withIdentity: true)
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["tpm"]).isEmpty, "and leaves no part")
    }

    @Test(arguments: [
        ("Esys_Unseal(0x921) lockout", KeystoreError.place(.tpm, .lockedOut)),
        ("Esys_Unseal(0x98E) the authorization HMAC check failed", .wrongPassphraseOrDamaged),
        ("Esys_Load(0x1DF) integrity check failed", .place(.tpm, .damaged)),
        ("Something else", .place(.tpm, .failed)),
    ])
    func eachComplaintOfTheTPMIsAnErrorOfThePlace(_ complaint: String, _ expected: KeystoreError) throws {
        let folder = try Folder()
        let blob = TPMBlob(kind: nil, publicPart: [1], privatePart: [2])
        let name = String(repeating: "07", count: 16)
        try blob.create(in: TPMBlob.file(in: folder.path, named: "\(name)-secret"))
        let place = TPMPlace(
            in: folder.path, through: ToolRunner { _, _, _ in .init(status: 1, output: [], complaints: complaint) })
        #expect(throws: expected) { try place.part(named: Self.name, pin: Self.pin) }
    }

    @Test func aFileThatHoldsNoPartIsDamaged() throws {
        let folder = try Folder()
        let place = TPMPlace(in: folder.path, through: ToolRunner { _, _, _ in nil })
        let file = DurableFile(path: folder[String(repeating: "07", count: 16) + "-secret.tpm"])
        for bytes in [[UInt8](), TPMBlob(kind: .p256Signing, publicPart: [1], privatePart: [2]).encoded] {
            try file.replace(with: bytes)
            #expect(throws: KeystoreError.place(.tpm, .damaged)) {
                try place.part(named: Self.name, pin: Self.pin)
            }
        }
    }

    @Test func aKeyringThatReturnsAnotherLengthIsDamaged_andALockedOneIsLocked() throws {
        let short = ToolRunner { _, _, _ in .init(status: 0, output: Array("00aabb".utf8), complaints: "") }
        #expect(throws: KeystoreError.place(.keyring, .damaged)) {
            try KeyringPlace(through: short).part(named: Self.name, pin: Self.pin)
        }
        let locked = ToolRunner { _, _, _ in .init(status: 1, output: [], complaints: "collection is locked") }
        #expect(throws: KeystoreError.place(.keyring, .locked)) {
            try KeyringPlace(through: locked).part(named: Self.name, pin: Self.pin)
        }
    }
}
