// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyPinning
import KeyTransparency
import Platform
import SignetAPI
import SwiftASN1
import Testing
import TransparencyLog
import X509

@testable import SignetServer

/// The data directory is made completely or not at all, is private, and is never overwritten.
struct SetupTests {
    @Test func onlyTheOwnerCanReadTheSecrets() async throws {
        try await withDataDirectory { data in
            func mode(_ path: String) throws -> Int {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                return try #require(attributes[.posixPermissions] as? NSNumber).intValue
            }
            for folder in [data.path, data.keys, data.records, data.path + "/tls"] {
                #expect(try mode(folder) == 0o700, "\(folder)")
            }
            let keys = try FileManager.default.contentsOfDirectory(atPath: data.keys).map { "\(data.keys)/\($0)" }
            #expect(keys.count == 3)
            for file in keys + [data.certificateKey, data.rootKey] { #expect(try mode(file) == 0o600, "\(file)") }
        }
    }

    /// Such as one that was copied from another directory: clients would believe nothing that it cosigns.
    @Test func anotherClocksKeyOpensNothing() async throws {
        try await withDataDirectory { other in
            try await withDataDirectory { data in
                let key = try Data(contentsOf: URL(fileURLWithPath: other.keys + "/clock.key"))
                try PrivateFile.replace(data.keys + "/clock.key", with: key)
                await #expect { _ = try await StoredDirectory.open(data, logger: silent) } throws: { error in
                    if case StoredDirectoryError.clockKeyDiffers = error { true } else { false }
                }
                let profile = try StoredDirectory.readProfile(data)
                #expect { _ = try StoredDirectory.readTrustedKeys(data, profile) } throws: { error in
                    if case StoredDirectoryError.clockKeyDiffers = error { true } else { false }
                }
            }
        }
    }

    @Test func setup_refusesAnExistingDataDirectory() async throws {
        try await withDataDirectory { data in
            let before = try Data(contentsOf: URL(fileURLWithPath: data.profile))
            await #expect { _ = try await setup().make(data, at: TestPerson.now) } throws: { error in
                if case SetupError.exists = error { true } else { false }
            }
            let after = try Data(contentsOf: URL(fileURLWithPath: data.profile))
            #expect(after == before)
        }
    }

    @Test func aSetupInAMissingFolderLeavesNoFile() async throws {
        let parent = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString).path
        let data = DataDirectory(path: parent + "/missing/data")
        await #expect { _ = try await setup().make(data, at: TestPerson.now) } throws: { error in
            if case SetupError.file(let failure) = error { failure.code == ENOENT } else { false }
        }
        #expect(!FileManager.default.fileExists(atPath: parent))
    }

    @Test func aSetupThatFailsInTheMiddleLeavesNoFile() async throws {
        let parent = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: parent) }
        let broken = DirectorySetup(
            origin: try setup().origin, url: "https://localhost",
            tls: .existing(TLSIdentity(certificateChain: [], privateKey: []), root: []), logger: silent)
        await #expect { _ = try await broken.make(DataDirectory(path: parent.path + "/data/"), at: 0) } throws: {
            error in
            if case SetupError.tls = error { true } else { false }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == [])
    }

    @Test func theProfileAndTheCertificatesHaveTheirFieldsAndLifetimes() async throws {
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            #expect(profile.url == "https://localhost:8443")
            #expect(profile.trust.policy.logs.map(\.name.bytes) == [Array("example.org/signet".utf8)])
            let root = try Certificate(derEncoded: profile.tlsRoot)
            #expect(root.notValidAfter.timeIntervalSince(root.notValidBefore) == 3652 * 86_400)
            let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: data.certificate)), as: UTF8.self)
            let server = try Certificate(pemEncoded: text)
            #expect(server.notValidAfter.timeIntervalSince(server.notValidBefore) == 397 * 86_400)
            #expect(root.publicKey.isValidSignature(server.signature, for: server))
        }
    }

    /// A clock that is a little wrong locks nobody out.
    @Test func certificatesBeginAWeekBeforeTheyAreMade() async throws {
        let now: UInt64 = 1_800_000_000
        let authority = try DevelopmentAuthority(hosts: [.name("localhost")], at: now)
        let start = Date(timeIntervalSince1970: Double(now - LogClock.longestPause))
        #expect(try Certificate(derEncoded: authority.root).notValidBefore == start)
        #expect(try Certificate(pemEncoded: authority.serverPEM).notValidBefore == start)
        let identity = TLSIdentity(
            certificateChain: Array(authority.serverPEM.utf8), privateKey: Array(authority.serverKeyPEM.utf8))
        func refusal(_ time: UInt64) async -> String? {
            await identity.refusal(trusting: Array(authority.rootPEM.utf8), at: "https://localhost", time)
        }
        #expect(await refusal(now - LogClock.longestPause) == nil)
        #expect(await refusal(now - LogClock.longestPause - 1) == "notYetValid")
    }

    @Test func theProfilePinsTheServersKeyAndItsBackup() async throws {
        try await withDataDirectory { data in
            let profile = try StoredDirectory.readProfile(data)
            let chain = Array(try Data(contentsOf: URL(fileURLWithPath: data.certificate)))
            let leaf = try CertificateFields(try PEMBlock.certificates(in: chain)[0]).pin
            let key = try P256.Signing.PrivateKey(
                pemRepresentation: String(
                    decoding: Data(contentsOf: URL(fileURLWithPath: data.backupKey)), as: UTF8.self))
            let backup = SPKIPin(hashing: Array(key.publicKey.derRepresentation))
            #expect(profile.pins == [Pin(leaf, tier: .leaf), Pin(backup, tier: .leaf, isBackup: true)])
        }
    }

    @Test func identity_refusesAKeyThatOthersMayRead() async throws {
        try await withDataDirectory { data in
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: data.certificateKey)
            #expect(throws: StoredIdentityError.keyNotPrivate(path: data.certificateKey)) {
                _ = try TLSIdentity(certificate: data.certificate, key: data.certificateKey)
            }
        }
    }

    @Test func identity_refusesAKeyOfAnotherCertificate() throws {
        let authorities = try (0..<2).map { _ in
            try DevelopmentAuthority(hosts: [.name("localhost")], at: 1_800_000_000)
        }
        let identity = TLSIdentity(
            certificateChain: Array(authorities[0].serverPEM.utf8), privateKey: Array(authorities[1].serverKeyPEM.utf8))
        #expect(throws: TLSIdentityError.keyDoesNotMatch) { _ = try identity.context() }
    }

    @Test(arguments: ["localhost", "a.example.org", "127.0.0.1", "::1", "1a"]) func host_acceptsNamesAndAddresses(
        _ text: String
    ) {
        #expect(ServerHost(text) != nil)
    }

    @Test(arguments: [
        "", "a..b", "-a", "A.example", "a b", "https://a", "*.a", ".", "a_b", String(repeating: "a", count: 64),
    ])
    func host_refusesOtherText(_ text: String) { #expect(ServerHost(text) == nil) }
}
