// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import Foundation
import Logging
import Presentation
import RelyingParty
import SignetAPI
import SiteServer
import StrictJSON

/// `signet-site`
@main
struct SiteTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet-site",
        abstract: "An example of a site that people sign in to with Signet.",
        discussion: """
            It knows people by a key that no other site sees. Make a certificate with the tools of your choice.
            Prints one line, `listening HOST:PORT`, once it takes connections; SIGTERM and SIGINT stop it.
            """,
        version: Release.version)

    @Option(help: ArgumentHelp("The site's own name, as in its certificate.", valueName: "host"))
    var host = "localhost"
    @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
    var bind = "127.0.0.1"
    @Option(help: ArgumentHelp("The TCP port, which is part of the site's name.", valueName: "port")) var port: UInt16
    @Option(help: ArgumentHelp("Certificates, the site's own first, PEM.", valueName: "file")) var certificate: String
    @Option(help: ArgumentHelp("Their private key, PEM.", valueName: "file")) var key: String
    @Option(help: ArgumentHelp("The members' database.", valueName: "file")) var members: String
    @Option(help: ArgumentHelp("How long new keys wait for an objection by the old one.", valueName: "seconds"))
    var recoveryDelay: UInt64 = 86_400
    @Option(help: "What members are asked to prove with a card: member or over18.") var ask: String?
    @Option(help: ArgumentHelp("Authorities that certify the issuers of cards, PEM.", valueName: "file"))
    var issuers: String?
    @Option(help: ArgumentHelp("The did:key of an issuer of cards. May be repeated.", valueName: "did"))
    var issuer: [String] = []
    @Option(
        help: ArgumentHelp(
            "A status list of an issuer, as its newest token. May be repeated. Fetch it by a schedule.",
            valueName: "file"))
    var statusList: [String] = []
    @Option(help: ArgumentHelp("Record the full contents of every request in this file.", valueName: "file"))
    var record: String?

    func run() async throws {
        // The members and what they say are the site's alone.
        umask(0o077)
        let name: VerifiedHost
        do { name = try VerifiedHost(Array(host.utf8), port: port, evidence: .ownName) } catch {
            throw ValidationError("--host and --port: a name in lower case, such as shop.example, and not port 0")
        }
        let site: HTTPSSite
        do {
            site = try HTTPSSite(
                at: name, members: SiteDatabase(path: members), recoveryDelay: recoveryDelay,
                certificateChain: Self.read(certificate), privateKey: Self.read(key),
                asking: asking(), record: record.flatMap { SiteRecord(path: $0) })
        } catch let error as SiteServerError {
            throw ValidationError(Self.sentence(error))
        } catch is SiteStoreError { throw ValidationError("--members \(members): not a members' database") }
        var logger = Logger(label: "signet-site") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        do {
            let address = bind
            try await site.run(host: address, port: Int(port), logger: logger) { port in
                print("listening \(address):\(port)")
                fflush(nil)
            }
        } catch SiteServerError.cannotListen { throw ValidationError("--bind \(bind), --port \(port): cannot listen") }
    }

    private func asking() throws -> SiteAsking? {
        guard let ask else {
            guard issuers == nil, issuer.isEmpty, statusList.isEmpty else {
                throw ValidationError(
                    "--issuers, --issuer and --status-list: say with --ask what members are asked for.")
            }
            return nil
        }
        guard let question = SiteQuestion(rawValue: ask) else {
            throw ValidationError("--ask is one of: \(SiteQuestion.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return try SiteAsking(
            question, roots: issuers.map(Self.read), issuers: issuer.map { JSONText($0) }, statusLists: statusList)
    }

    private static func sentence(_ error: SiteServerError) -> String {
        switch error {
        case .invalidCertificate:
            "--certificate and --key do not belong together; with --ask, the key must be of the curve P-256"
        case .invalidIssuers: "--ask needs --issuers FILE with certificates in PEM, or --issuer with a did:key of P-256"
        case .cannotListen: "cannot listen"
        }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ValidationError("\(path) cannot be read")
        }
        return Array(data)
    }
}
