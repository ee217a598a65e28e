// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import DIDKey
import DeviceIdentity
import KeyTransparency
import Signet

/// `signet advanced`
struct Advanced: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advanced", abstract: "Keys and identifiers, for those who want to see them.",
        discussion: "Example: signet advanced identity",
        subcommands: [ShowIdentity.self, ShowSites.self])
}

extension Advanced {
    /// `signet advanced identity`
    struct ShowIdentity: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "identity", abstract: "Show the identity and this device as did:key.",
            discussion: "Example: signet advanced identity")

        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let keystore = try Session(home).owner()
            let identity = try keystore.identityKey.map { try Advanced.did(.p256, $0) }
            let rows: [(String, String?)] = [
                ("identity", identity), ("deviceSigning", try Advanced.did(.ed25519, keystore.keys.signing)),
                ("deviceAgreement", try Advanced.did(.p256, keystore.keys.agreement)),
            ]
            output.emit(
                .object(
                    Dictionary(uniqueKeysWithValues: rows.map { ($0, $1.map { PrintedValue.string($0) } ?? .null) })),
                rows.map { name, did in "\(name)  \(did ?? "on another device")" }.joined(separator: "\n"))
        }
    }

    /// `signet advanced sites`
    struct ShowSites: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sites", abstract: "Show the key of each site as did:key.",
            discussion: """
                Anyone who sees two of these in one place knows that they belong together.

                Example: signet advanced sites
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let identities = try await session.approved(.showSites, at: session.home.path) { account, approval in
                try await account.siteIdentities(approval)
            }
            let rows = try identities.map { ($0.host.words, try Advanced.did(.p256, $0.publicKey)) }
            output.emit(
                .object(Dictionary(uniqueKeysWithValues: rows.map { ($0, .string($1)) })),
                rows.map { "\($0)  \($1)" }.joined(separator: "\n"))
        }
    }

    fileprivate static func did(_ algorithm: KeyAlgorithm, _ key: [UInt8]) throws -> String {
        do { return String(decoding: try KeyDID(algorithm, publicKey: key).encoded, as: UTF8.self) } catch {
            throw CommandFailure(.bug, "One of your keys is malformed.", CommandFailure.bugRemedy)
        }
    }
}
