// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import Foundation
import SecretMemory
import SignetClient
import Testing

@testable import DeviceKeystores

/// A kind of keystore that every test of the suite runs on.
enum Place: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sealedFile = "sealed file"
    case secretService = "Secret Service"
    case tpm = "TPM 2.0"

    var testDescription: String { rawValue }

    /// The kinds that this machine has. For each other kind, a line says what it needs.
    static let present: [Place] = allCases.filter { place in
        let isPresent = place.isPresent
        if !isPresent { print("keystores: skipped, \(place.rawValue) is not on this machine (\(place.needs))") }
        return isPresent
    }

    private var needs: String {
        switch self {
        case .sealedFile: "nothing"
        case .secretService: "secret-tool and an unlocked keyring; Scripts/keystores brings both"
        case .tpm: "tpm2-tools and a TPM, or swtpm; Scripts/keystores brings both"
        }
    }

    /// The variables are set by the script, so that no test ever writes into a person's own keyring or chip.
    private var isPresent: Bool {
        switch self {
        case .sealedFile: true
        case .secretService: ProcessInfo.processInfo.environment["SIGNET_TEST_KEYRING"] != nil
        case .tpm: ProcessInfo.processInfo.environment["SIGNET_TEST_TPM"] != nil
        }
    }

    /// Runs `body` with a store that is empty and open.
    func with(_ body: (any PrivateKeyStore, Folder) async throws -> Void) async throws {
        let folder = try Folder()
        try await body(try await open(folder), folder)
    }

    /// The store of a folder, opened; made if there is none yet.
    func open(_ folder: Folder, through tools: ToolRunner = .system()) async throws -> any PrivateKeyStore {
        switch self {
        case .sealedFile:
            let store = SealedFileKeystore(in: DurableFile(path: folder["keys"]), cost: .minimum)
            if store.exists {
                try await store.unlock(with: Self.passphrase)
            } else {
                try await store.create(under: Self.passphrase)
            }
            return store
        case .secretService:
            return KeyringKeystore(named: folder.name, lockingAt: folder["lock"], through: tools)
        case .tpm:
            let store = TPMKeystore(in: folder.path, through: tools)
            await store.unlock(pin: Self.passphrase)
            return store
        }
    }

    static let passphrase = SecretBytes(copying: Array("correct horse".utf8))
}

/// A folder of the test's own.
final class Folder: Sendable {
    let path: String
    let name = UUID().uuidString

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(component: "keystore-\(name)").path()
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    subscript(file: String) -> String { "\(path)/\(file)" }
}

/// A grant to use a key, as `PresencePrompter` gives it.
func grant(_ action: PresenceAction = .updateAccount) async throws -> PresenceGrant {
    let desk = PresencePrompter(asking: AlwaysThere(), remembering: nil)
    return try await desk.grant(for: action, unlocking: true)
}

struct AlwaysThere: Presence {
    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome { .present }
}

func name(_ text: String) throws -> PrivateKeyName {
    let name = PrivateKeyName(stored: Array(text.utf8))
    return try #require(name)
}
