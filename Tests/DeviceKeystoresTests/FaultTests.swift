// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import Foundation
import SecretMemory
import SignetClient
import SignetTesting
import Testing

@testable import DeviceKeystores

/// Faults of the sealed file: each step of each write fails once without effect and once with effect.
@Suite struct SealedFileFaultTests {
    @Test(arguments: DurableFile.Step.allCases, [false, true])
    func aWriteThatFailsLeavesACompleteFile(_ step: DurableFile.Step, _ isDone: Bool) async throws {
        let folder = try Folder()
        let sound = try await Place.sealedFile.open(folder)
        let kept = try await sound.makeKey(.p256Signing, named: name("kept"))
        let file = DurableFile(path: folder["keys"]) { current, done throws(FileFault) in
            if current == step && done == isDone { throw .noSpace }
        }
        let faulty = SealedFileKeystore(in: file)
        try await faulty.unlock(with: Place.passphrase)
        await #expect(throws: PrivateKeyStoreError.unavailable) {
            _ = try await faulty.makeKey(.p256Signing, named: name("new"))
        }
        let after = try await Place.sealedFile.open(folder)
        #expect(try await after.key(named: name("kept"))?.publicKey == kept)
        let isInPlace = step == .synchronizeFolder || (step == .putInPlace && isDone)
        #expect(try await after.names().count == (isInPlace ? 2 : 1))
    }

    @Test func aLockedStoreRefusesEveryOperation() async throws {
        let folder = try Folder()
        let store = try #require(try await Place.sealedFile.open(folder) as? SealedFileKeystore)
        _ = try await store.makeKey(.p256Signing, named: name("one"))
        await store.lock()
        await #expect(throws: PrivateKeyStoreError.locked) { _ = try await store.names() }
        await #expect(throws: PrivateKeyStoreError.locked) {
            _ = try await store.sign([], with: name("one"), grant())
        }
        await #expect(throws: PrivateKeyStoreError.locked) {
            _ = try await store.makeKey(.p256Signing, named: name("two"))
        }
    }

    @Test func aWrongPassphraseIsRefused() async throws {
        let folder = try Folder()
        _ = try await Place.sealedFile.open(folder)
        let store = SealedFileKeystore(in: DurableFile(path: folder["keys"]))
        await #expect(throws: SealedFileFault.keystore(.wrongPassphraseOrDamaged)) {
            try await store.unlock(with: SecretBytes(copying: Array("Correct horse".utf8)))
        }
        #expect(await store.isLocked)
    }

    @Test func everyChangedByteIsNoticed() async throws {
        let folder = try Folder()
        let store = try await Place.sealedFile.open(folder)
        _ = try await store.makeKey(.p256Signing, named: name("one"))
        let file = DurableFile(path: folder["keys"])
        let good = try file.read(maximumByteCount: SealedFile.maximumByteCount)
        #expect(good.count > 4096)
        // Every byte of the header except the cost, which has its own tests; then samples of the rest.
        for index in Array(0..<22) + Array(30..<58) + stride(from: 58, to: good.count, by: 97) {
            var bad = good
            bad[index] ^= 1
            try file.replace(with: bad)
            await #expect(throws: PrivateKeyStoreError.self, "byte \(index)") {
                _ = try await store.key(named: name("one"))
            }
        }
        for count in [0, 21, 57, good.count - 1] {
            try file.replace(with: Array(good.prefix(count)))
            await #expect(throws: PrivateKeyStoreError.damaged) { _ = try await store.names() }
        }
        try file.replace(with: good)
        #expect(try await store.names().count == 1)
    }

    @Test func aFileWithTooLowACostIsRefused() async throws {
        let folder = try Folder()
        _ = try await Place.sealedFile.open(folder)
        let file = DurableFile(path: folder["keys"])
        var bytes = try file.read(maximumByteCount: SealedFile.maximumByteCount)
        bytes[25] = 1  // the last byte of the passes
        try file.replace(with: bytes)
        let store = SealedFileKeystore(in: file)
        let cost = KeystoreCost(passes: 1, memory: KeystoreCost.minimum.memory)
        await #expect(throws: SealedFileFault.keystore(.costTooLow(cost))) {
            try await store.unlock(with: Place.passphrase)
        }
    }

    @Test func aFileThatOthersMayReadIsRefused() async throws {
        let folder = try Folder()
        let store = try await Place.sealedFile.open(folder)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder["keys"])
        await #expect(throws: PrivateKeyStoreError.damaged) { _ = try await store.names() }
    }

    @Test func aStoreThatAnotherProgramChangesIsBusy() async throws {
        let folder = try Folder()
        let store = try await Place.sealedFile.open(folder)
        let lock = try #require(try FileLock(folder["keys.lock"]))
        await #expect(throws: PrivateKeyStoreError.busy) {
            _ = try await store.makeKey(.p256Signing, named: name("one"))
        }
        withExtendedLifetime(lock) {}
    }

    @Test func aDescriptorInheritedByAnotherProgramDoesNotKeepTheLock() throws {
        let folder = try Folder()
        var lock = try FileLock(folder["keys.lock"])
        let copies = try DescriptorCopies(of: folder["keys.lock"])
        #expect(lock != nil && copies.numbers.count == 1)
        lock = nil
        #expect(try FileLock(folder["keys.lock"]) != nil)
        withExtendedLifetime(copies) {}
    }

    @Test func keysOfTwoProgramsAreBothKept() async throws {
        let folder = try Folder()
        let (first, second) = (try await Place.sealedFile.open(folder), try await Place.sealedFile.open(folder))
        _ = try await first.makeKey(.p256Signing, named: name("one"))
        _ = try await second.makeKey(.p256Signing, named: name("two"))
        #expect(try await first.names() == [name("one"), name("two")])
    }

    @Test func neitherKeysNorNamesAreReadableInTheFile() async throws {
        let folder = try Folder()
        let store = try await Place.sealedFile.open(folder)
        let secret = [UInt8](repeating: 0x5A, count: 32)
        try await store.keep(SymmetricKey(data: secret), named: name("a-long-name-to-look-for"))
        let bytes = try DurableFile(path: folder["keys"]).read(maximumByteCount: SealedFile.maximumByteCount)
        let text = String(decoding: bytes, as: Unicode.ASCII.self)
        #expect(!text.contains("long-name") && !text.contains(String(repeating: "Z", count: 8)))
    }
}

/// Faults of the stores that run programs of the system; a fake runner answers in their place.
@Suite struct ToolFaultTests {
    private static func failing(_ status: Int32, _ complaints: String) -> ToolRunner {
        ToolRunner { _, _, _ in .init(status: status, output: [], complaints: complaints) }
    }
    private static let missing = ToolRunner { _, _, _ in nil }

    @Test(arguments: [Place.secretService, .tpm])
    func aStoreWithoutItsProgramsIsAbsent(_ place: Place) async throws {
        let folder = try Folder()
        let store = try await place.open(folder, through: Self.missing)
        await #expect(throws: PrivateKeyStoreError.absent) {
            _ = try await store.makeKey(.p256Signing, named: name("one"))
        }
    }

    @Test func eachComplaintOfTheKeyringHasItsError() async throws {
        for (complaint, expected) in [
            ("secret-tool: Cannot autolaunch D-Bus without X11 $DISPLAY", PrivateKeyStoreError.absent),
            ("secret-tool: The name org.freedesktop.secrets was not provided by any .service files", .absent),
            ("secret-tool: Cannot create an item in a locked collection", .locked),
            ("secret-tool: Something else", .unavailable),
        ] {
            let folder = try Folder()
            let store = try await Place.secretService.open(folder, through: Self.failing(1, complaint))
            await #expect(throws: expected, "\(complaint)") { _ = try await store.key(named: name("one")) }
        }
    }

    @Test func makeKey_failsIfTheKeyringDidNotStoreTheKey() async throws {
        let forgetful = ToolRunner { _, arguments, _ in
            .init(status: arguments.first == "store" ? 0 : 1, output: [], complaints: "")
        }
        let folder = try Folder()
        let store = try await Place.secretService.open(folder, through: forgetful)
        await #expect(throws: PrivateKeyStoreError.unavailable) {
            _ = try await store.makeKey(.p256Signing, named: name("one"))
        }
    }

    @Test(arguments: ["zz", "05aabb", "01", "0100", "01" + String(repeating: "00", count: 32)])
    func aChangedItemIsDamaged(_ text: String) async throws {
        let tampered = ToolRunner { _, _, _ in .init(status: 0, output: Array(text.utf8), complaints: "") }
        let folder = try Folder()
        let store = try await Place.secretService.open(folder, through: tampered)
        await #expect(throws: PrivateKeyStoreError.damaged) { _ = try await store.key(named: name("one")) }
    }

    @Test func eachComplaintOfTheTPMHasItsError() async throws {
        for (complaint, expected) in [
            (
                "Esys_Sign(0x921) - tpm:warn(2.0): authorizations for objects subject to DA protection are not allowed",
                PrivateKeyStoreError.lockedOut
            ),
            (
                "Esys_Sign(0x98E) - tpm:session(1):the authorization HMAC check failed and DA counter incremented",
                .locked
            ),
            ("ERROR: Could not load tcti, got: \"(null)\"", .absent),
            ("Esys_Load(0x1DF) - tpm:parameter(1):integrity check failed", .damaged),
            ("Something else", .unavailable),
        ] {
            let folder = try Folder()
            let store = try await Place.tpm.open(folder, through: Self.failing(1, complaint))
            await #expect(throws: expected, "\(complaint)") {
                _ = try await store.makeKey(.p256Signing, named: name("one"))
            }
            #expect(try await store.names().isEmpty)
        }
    }
}
