// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import PinScenarios
import PinnedChains
import PinnedHTTP
import Testing

/// An issuer of member cards in its own process, with a certificate, a database, and an operator.
final class RunningIssuer {
    /// What the operator tells a member.
    struct Offer {
        let number: String
        let link: String
        /// The code that is told in another way; nil if the link suffices.
        let code: String?
    }

    let port: Int
    /// The file of the roots of its certificate.
    let roots = "club.roots"
    private let town: Town
    private let genuine: PinScenario
    private var server: RunningServer?

    private init(_ town: Town) throws {
        self.town = town
        port = try SilentListener.freePort()
        genuine = try #require(try PinScenario.all(at: Date()).first { $0.mustPass })
        try town.write(genuine.presented.flatMap { PEMBlock.text($0) }, to: "club.pem")
        try town.write(genuine.keyPEM.utf8, to: "club.key")
        try town.write(genuine.anchors.flatMap { PEMBlock.text($0) }, to: roots)
    }

    /// Runs `body` with an issuer.
    static func with(_ town: Town, _ body: (RunningIssuer) async throws -> Void) async throws {
        let issuer = try RunningIssuer(town)
        try await expect(0, issuer.operate("init", "--host", "localhost", "--port", "\(issuer.port)"))
        do {
            try await issuer.start()
            try await body(issuer)
        } catch {
            try await issuer.stop()
            throw error
        }
        try await issuer.stop()
    }

    var arguments: [String] {
        ["run", "--database", "club.db", "--port", "\(port)", "--certificate", "club.pem", "--key", "club.key"]
    }

    func start() async throws { server = try await RunningServer.start(.issuer, arguments, in: town.folder) }

    /// Starts it in a shell that has prepared something.
    func start(after line: String) async throws {
        server = try await RunningServer.start(
            URL(filePath: "/bin/sh"), ["-c", "\(line); exec \"$@\"", "sh", Program.issuer.file.path()] + arguments,
            in: town.folder)
    }

    func stop() async throws {
        try await server?.stop()
        server = nil
    }

    /// `signet-issuer COMMAND`, as its operator runs it.
    func operate(_ arguments: String...) async throws -> Exit {
        try await Program.issuer.run(arguments + ["--database", "club.db"], in: town.folder)
    }

    func offer(_ member: String = "Alice Lee", _ options: String...) async throws -> Offer {
        let made = try await Program.issuer.run(
            ["offer", "--database", "club.db", "--member", member] + options, in: town.folder)
        expect(0, made)
        func value(_ name: String) -> String? {
            made.lines.first { $0.hasPrefix(name + " ") }.map {
                String($0.dropFirst(name.count).drop { $0 == " " })
            }
        }
        return Offer(
            number: try #require(value("offer")), link: try #require(value("link")), code: value("code"))
    }

    /// `signet cards get` in a home, with the code that the operator told.
    func get(
        _ offer: Offer, _ home: String = "alice", code: String? = nil, copies: Int = 2
    ) async throws -> Exit {
        let code = (code ?? offer.code).map { ["--code", $0] } ?? []
        return try await town.signet(
            ["cards", "get", offer.link, "--copies", "\(copies)", "--roots", roots, "--yes", "--home", home] + code)
    }

    /// What the operator's list says of an offer.
    func state(of offer: Offer) async throws -> String? {
        let lines = try await operate("list").lines.map { $0.split(separator: "\t").map(String.init) }
        return lines.first { $0.first == offer.number }?[1]
    }

    // MARK: As others reach it

    private func send(_ request: TransportRequest) async throws -> TransportResponse {
        let address = try ServerAddress("https://localhost:\(port)")
        let connector = try PinnedConnector.withoutPins(for: address, trusting: TrustAnchors(genuine.anchors))
        return try await NIOTransport(to: address, through: connector).send(request)
    }

    /// Fetches the newest status list into a file, as the operator of a site does by a schedule.
    func publishStatusList(to file: String) async throws {
        let answer = try await send(
            TransportRequest(
                method: "GET", path: "/status/1",
                limit: ResponseLimit(maximumByteCount: 65_536, mediaType: "application/statuslist+jwt")))
        try #require(answer.status == 200)
        try town.write(answer.body, to: file)
    }

    /// Sends anything.
    func status(
        of method: String, _ path: String, _ body: [UInt8] = [], _ fields: [TransportRequest.Field] = []
    ) async throws -> Int {
        try await send(
            TransportRequest(
                method: method, path: path, fields: fields, body: body,
                limit: ResponseLimit(maximumByteCount: 65_536, mediaType: nil))
        ).status
    }

    /// The options of a site that accepts its cards.
    func asking(statusList file: String) -> [String] {
        ["--ask", "member", "--issuers", roots, "--status-list", file]
    }
}
