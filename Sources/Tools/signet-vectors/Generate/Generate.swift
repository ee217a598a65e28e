// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Crypto
import Foundation
import KeyPinning
import ProtocolTesting

/// Makes the project's own vectors.
struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Make Signet's own vectors; two runs give identical bytes, except of cards.",
        subcommands: [
            GenerateTlogProof.self, GenerateLookup.self, GeneratePins.self, GenerateCallDigests.self,
            GenerateCards.self,
        ])
}

/// Writes the tlog-proof set into a folder.
struct GenerateTlogProof: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tlog-proof", abstract: "Good tlog-proofs and bad ones with one fault each.")

    @Argument(help: "The folder, made when missing. Files of the same names are replaced.") var path: String

    func run() throws {
        let folder = URL(filePath: path)
        for (name, bytes) in try TlogProofSet.files() {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
    }
}

/// Writes the sets of lookups, milestones and recoveries into a folder.
struct GenerateLookup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Good answers to lookups, milestones and recoveries, and bad ones with one fault each.")

    @Argument(
        help: "The folder, made when missing. lookup.json, milestones.json and recovery-delay.json are replaced.")
    var path: String

    func run() throws {
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, bytes) in try LookupVectorSet.files() {
            try Data(bytes).write(to: folder.appending(path: name))
        }
    }
}

/// Writes the set of pins into a folder.
struct GeneratePins: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins", abstract: "Pins of a directory's server that a client takes, and ones with one fault each."
    )

    @Argument(help: "The folder, made when missing. pins.json is replaced.") var path: String

    func run() throws {
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(LookupVectorSet.pinsFile()).write(to: folder.appending(path: "pins.json"))
    }
}

/// Writes the set of digests of a call's frames into a folder.
struct GenerateCallDigests: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call-digests",
        abstract: "Good digests of a call's frames, bad ones with one fault each, and what follows from them.")

    @Argument(help: "The folder, made when missing. digests.json is replaced.") var path: String

    func run() throws {
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try CallDigestSet.file().write(to: folder.appending(path: "digests.json"))
    }
}

/// Writes good cards, documents, answers and status lists into a folder, for other people's programs.
struct GenerateCards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards",
        abstract: "Good presentations, answers, mobile documents and status lists, new in each run.",
        discussion: "They are of the schemas that sd-jwt-vc, responses, mdoc and status-list read.")

    @Argument(help: "The folder, made when missing. Files of the same names are replaced.") var path: String

    @Option(help: "The issuer's certificate, PEM.") var certificate: String

    @Option(help: "The P-256 key of the certificate, PEM.") var key: String

    @Option(help: "The certificate of the issuer's authority, PEM.") var root: String

    @Option(help: "How many cases each file has.") var count = 100

    func validate() throws {
        guard (1...10_000).contains(count) else { throw ValidationError("--count has to be from 1 to 10,000.") }
    }

    func run() throws {
        let set = CardSet(
            key: try P256.Signing.PrivateKey(pemRepresentation: String(decoding: try read(key), as: UTF8.self)),
            certificate: try der(certificate), root: try der(root), now: Int64(Date().timeIntervalSince1970),
            count: count)
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, bytes) in try set.files() { try Data(bytes).write(to: folder.appending(path: name)) }
    }

    private func read(_ path: String) throws -> [UInt8] { try VectorFile(path).bytes() }

    private func der(_ path: String) throws -> [UInt8] {
        let bytes = try read(path)
        do throws(PEMFault) { return try PEMBlock.certificates(in: bytes)[0] } catch {
            throw ValidationError("\(path) has no certificate (\(error)).")
        }
    }
}
