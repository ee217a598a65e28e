// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Credentials
import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import Issuance
import IssuerServer
import JOSE
import KeyPinning
import Logging
import PinScenarios
import SeededRandomness
import SelectiveDisclosure
import SiteServer
import StrictJSON
import Synchronization
import Testing
import TokenStatusList

/// An issuer over TLS that tells lies: all that it does not lie about is done by the honest issuer's code.
final class LyingIssuer: Sendable {
    /// What it does otherwise than an honest issuer.
    enum Lie: Sendable {
        case none
        /// Changes a document.
        case document(IssuerRoute, @Sendable (inout JSONObject) -> Void)
        /// Does what it is asked, and loses the answer.
        case lostAnswer(IssuerRoute)
        /// Makes these cards for the keys that it is asked for.
        case cards(@Sendable (LyingIssuer, [WebKey]) throws -> [[UInt8]])
        /// Puts an offer at an address.
        case offer(CredentialOffer)
    }

    static let referencePath = "/offers/1"

    let port: Int
    let name: IssuerName
    let database: IssuerDatabase
    let roots = "liar.roots"
    private let scenarios: [PinScenario]
    private let service: IssuerService
    private let lie = Mutex(Lie.none)
    private let server: Mutex<Task<Void, any Error>?> = Mutex(nil)

    init(in town: Town) async throws {
        port = try SilentListener.freePort()
        name = try IssuerName(JSONText("https://localhost:\(port)"))
        scenarios = try PinScenario.all(at: Date())
        let genuine = try #require(scenarios.first { $0.mustPass })
        try IssuerDatabase.make(at: town["liar.db"].path(), for: name)
        database = try IssuerDatabase(path: town["liar.db"].path())
        let key = try P256.Signing.PrivateKey(pemRepresentation: genuine.keyPEM)
        service = IssuerService(database, key: key, certificates: genuine.presented) {
            Int64(Date().timeIntervalSince1970)
        }
        try town.write(genuine.anchors.flatMap { PEMBlock.text($0) }, to: roots)
        let listener = try HTTPSListener(
            certificateChain: genuine.presented.flatMap { PEMBlock.text($0) }, privateKey: Array(genuine.keyPEM.utf8))
        let (listening, port) = (AsyncStream<Void>.makeStream(), port)
        let task = Task {
            try await listener.run(
                host: "127.0.0.1", port: port, logger: Logger(label: "test"), answer: { try await self.answer($0) },
                onListening: { _ in listening.continuation.finish() })
        }
        server.withLock { $0 = task }
        for await _ in listening.stream {}
    }

    /// Runs `body` with an issuer that lies.
    static func with(_ town: Town, _ body: (LyingIssuer) async throws -> Void) async throws {
        let issuer = try await LyingIssuer(in: town)
        defer { issuer.server.withLock { $0?.cancel() } }
        try await body(issuer)
    }

    func lie(_ next: Lie) { lie.withLock { $0 = next } }

    /// An offer that asks for no code.
    func offer() throws -> CredentialOffer {
        let code = JSONText(
            String(decoding: Hex.encode(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }), as: UTF8.self))
        let now = Int64(Date().timeIntervalSince1970)
        _ = try database.add(
            OfferRecord(code: code, transactionCode: nil, expiry: now + 3600), member: "Alice Lee",
            cardExpiry: now + 86_400)
        return try CredentialOffer(of: IssuerService.configuration, by: name, code: code, transactionCode: nil)
    }

    // MARK: Answering

    private func answer(_ request: Request) async throws -> SiteReply {
        let lie = lie.withLock { $0 }
        if case .offer(let offer) = lie, request.head.path == Self.referencePath {
            return SiteReply(mediaType: "application/json", offer.object.encoded)
        }
        if case .cards(let make) = lie, request.head.path == IssuerRoute.credential.path {
            let body = try #require(try await HTTPSListener.body(of: request, limit: 65_536))
            let keys = try CopiesRequest(decoding: body).proofs.map { proof in
                try WebKey(try #require(SignedToken(decoding: proof).header["jwk"]?.object))
            }
            return SiteReply(
                mediaType: "application/json", CopiesAnswer(copies: try make(self, keys)).object.encoded)
        }
        var reply = try await HTTPSIssuer.answer(request, from: service)
        switch lie {
        case .document(let route, let change) where route.path == request.head.path:
            var object = try JSONObject(decoding: reply.body)
            change(&object)
            reply.body = object.encoded
        case .lostAnswer(let route) where route.path == request.head.path:
            reply = SiteReply(status: .serviceUnavailable)
        default: break
        }
        return reply
    }

    // MARK: Cards

    /// Honest drafts for keys.
    func drafts(_ keys: [WebKey], type: JSONText = TestIssuer.member) throws -> [CredentialDraft] {
        let address: JSONText = "https://localhost/status/1"
        let card = MemberCard(
            issuer: nil, type: type, claims: ["member": .bool(true), "name": .string("Alice Lee")],
            expiry: Int64(Date().timeIntervalSince1970) + 86_400, certificates: try genuine.presented)
        return try card.drafts(
            keys.enumerated().map { place, key in
                .init(holder: key, status: try StatusReference(uri: address, index: Int64(place)))
            })
    }

    private var genuine: PinScenario {
        get throws { try #require(scenarios.first { $0.mustPass }) }
    }

    /// A chain of the same authority for another host, and one of an authority that nobody trusts.
    func certificates(row: String) throws -> [[UInt8]] { try #require(scenarios.first { $0.row == row }).presented }

    /// Signs a draft.
    func signed(
        _ draft: CredentialDraft, using generator: some RandomNumberGenerator = SystemRandomNumberGenerator()
    ) throws -> [UInt8] {
        let key = try P256.Signing.PrivateKey(pemRepresentation: genuine.keyPEM)
        var generator = generator
        return try draft.issued(using: &generator) { try? Array(key.signature(for: $0).rawRepresentation) }
    }

    /// A card with another header, signed once more.
    func signed(_ card: [UInt8], header change: (inout JSONObject) -> Void) throws -> [UInt8] {
        let end = try #require(card.firstIndex(of: UInt8(ascii: "~")))
        let token = try SignedToken(decoding: Array(card[..<end]))
        var header = token.header
        change(&header)
        let key = try P256.Signing.PrivateKey(pemRepresentation: genuine.keyPEM)
        return try SignedToken.encoded(header: header, payload: token.unverifiedPayload) {
            Array(try key.signature(for: $0).rawRepresentation)
        } + card[end...]
    }
}

/// Gives the numbers of one generator, and from some place on those of another.
struct JoinedGenerator: RandomNumberGenerator {
    private var first: SeededGenerator
    private var second: SeededGenerator
    private var left: Int

    init(_ first: UInt64, count: Int, then second: UInt64) {
        self.first = SeededGenerator(seed: first)
        self.second = SeededGenerator(seed: second)
        left = count
    }

    mutating func next() -> UInt64 {
        left -= 1
        return left < 0 ? second.next() : first.next()
    }
}
