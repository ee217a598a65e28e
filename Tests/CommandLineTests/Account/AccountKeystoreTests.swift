// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Accounts whose keys need this machine. A thief has the home folder, the passphrase, and a machine of their own.
@Suite(.serialized) struct AccountKeystoreTests {
    private static let handle = "carol@example.org"
    private static let inherited = ProcessInfo.processInfo.environment
    private static let chip = inherited["TPM2TOOLS_TCTI"].map { ["TPM2TOOLS_TCTI": $0] } ?? [:]
    private static let keyring = inherited.filter {
        ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"].contains($0.key)
    }

    private static func create(
        _ keystore: String, _ town: Town, _ environment: [String: String]
    ) async throws -> Exit {
        try await town.signet(
            "carol", "account", "create", handle, "--directory", town.profile.path(), "--keystore", keystore, "--json",
            environment: environment)
    }

    /// Copies the home folder, and signs as the identity with the copy, the right passphrase and this environment.
    private static func stolen(_ town: Town, _ environment: [String: String]) async throws -> Exit {
        let copy = try await Exit.of(URL(filePath: "/bin/cp"), ["-a", "carol", "thief"], in: town.folder)
        try #require(copy.status == 0)
        return try await town.signet(
            "thief", "people", "card", "--out", "thief.card", "--json", environment: environment)
    }

    /// The attack succeeds on keys in a file: the copy and the passphrase are enough, as `keystores.md` says.
    @Test func aCopyOfAHomeWithKeysInAFileCanActForTheAccount() async throws {
        try await Town.withServer { town, _ in
            let made = try await Self.create("file", town, [:])
            expect(0, made)
            #expect(try made.object()["keystore"] as? String == "file")
            expect(0, try await Self.stolen(town, [:]))
        }
    }

    @Test(
        .enabled(
            if: inherited["SIGNET_TEST_OTHER_TPM"] != nil, "no TPM here: Scripts/keystores brings two"))
    func aCopyOfAHomeWithKeysInATPMDoesNotOpenElsewhere() async throws {
        try await Town.withServer { town, _ in
            let made = try await Self.create("tpm", town, Self.chip)
            expect(0, made)
            #expect(try made.object()["keystore"] as? String == "tpm")
            let status = try await town.signet("carol", "identity", "status", "--json", environment: Self.chip)
            #expect(try status.object()["custody"] as? String == "bound")
            // The TPM signs as the identity, and others verify the signature.
            let card = try await town.signet(
                "carol", "people", "card", "--out", "carol.card", "--json", environment: Self.chip)
            expect(0, card)
            expect(0, try await town.signet("alice", "people", "add", Self.handle, "--card", "carol.card"))

            let other = ["TPM2TOOLS_TCTI": try #require(Self.inherited["SIGNET_TEST_OTHER_TPM"])]
            let theft = try await Self.stolen(town, other)
            expect(65, theft)
            #expect(theft.complaint.contains("another machine") && !town.exists("thief.card"))

            try town.write(Array("not the passphrase\n".utf8), to: "wrong")
            let guess = try await town.signet(
                "carol", "people", "card", "--passphrase-file", "wrong", environment: Self.chip)
            #expect(guess.status != 0 && guess.complaint.contains("passphrase is wrong"))
            let cleared = try await Exit.of(
                URL(filePath: "/usr/bin/env"), ["tpm2_dictionarylockout", "-c"], in: town.folder,
                environment: Self.chip)
            #expect(cleared.status == 0)
        }
    }

    @Test(.enabled(if: inherited["SIGNET_TEST_KEYRING"] != nil, "no keyring here: Scripts/keystores brings one"))
    func aCopyOfAHomeWithASecretInTheKeyringDoesNotOpenElsewhere() async throws {
        try await Town.withServer { town, _ in
            let made = try await Self.create("keyring", town, Self.keyring)
            expect(0, made)
            #expect(try made.object()["keystore"] as? String == "keyring")
            let card = try await town.signet(
                "carol", "people", "card", "--out", "carol.card", environment: Self.keyring)
            expect(0, card)
            let theft = try await Self.stolen(town, [:])
            #expect(theft.status != 0 && theft.complaint.contains("no keyring here"))
        }
    }

    /// No keystore is made, no request is sent, and the folder stays free.
    @Test(arguments: ["tpm", "keyring"])
    func aMissingPlaceIsReportedWithARemedy(_ keystore: String) async throws {
        try await Town.withServer { town, _ in
            let none = ["PATH": town.folder.path()]
            let refused = try await Self.create(keystore, town, none)
            #expect(refused.status != 0 && refused.errors.contains("choose another --keystore"))
            #expect(!town.exists("carol/keystore") && !town.exists("carol/directory"))
            expect(0, try await Self.create("file", town, [:]))
        }
    }

    @Test func keysBegunInAFileAreNotMovedToAnotherKeystore() async throws {
        try await Town.withServer { town, _ in
            try town.prepareHome("carol", Self.handle, withIdentity: true)
            let refused = try await Self.create("tpm", town, [:])
            #expect(refused.status == 64 && refused.errors.contains("another --keystore"))
            expect(0, try await Self.create("file", town, [:]))
        }
    }
}
