// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Foundation
import KeyTransparency
import SignetAPI

/// Calls routes of a server, each call on a connection of its own.
struct TestClient: Sendable {
    let port: Int
    let root: [UInt8]
    var origin = Array("example.org/signet".utf8)
    /// The address from which it connects; nil for any.
    var source: String?

    func get(_ path: String, accepting coding: String? = nil, knowing size: String? = nil) async throws -> HTTPAnswer? {
        let accepted = coding.map { "Accept-Encoding: \($0)\r\n" } ?? ""
        let known = size.map { "\(KnownSize.headerName): \($0)\r\n" } ?? ""
        return try await exchange("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(accepted)\(known)\r\n", [])
    }

    func call(
        _ route: Route, _ body: [UInt8] = [], signature: String? = nil, showing proof: RegistrationProof? = nil
    ) async throws -> HTTPAnswer? {
        try await call("\(route.method) \(route.path)", body, signature, proof)
    }

    func call(
        _ route: some PartRoute, _ body: [UInt8] = [], signature: String? = nil
    ) async throws -> HTTPAnswer? {
        try await call("POST \(route.path)", body, signature)
    }

    private func call(
        _ line: String, _ body: [UInt8], _ signature: String?, _ proof: RegistrationProof? = nil
    ) async throws -> HTTPAnswer? {
        var head = "\(line) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n"
        if let signature { head += "\(RequestSignature.headerName): \(signature)\r\n" }
        if let proof { head += "\(proof.headerName): \(proof.headerValue)\r\n" }
        return try await exchange(head + "\r\n", body)
    }

    func json(_ route: Route, _ text: String) async throws -> HTTPAnswer? {
        try await call(route, Array(text.utf8))
    }

    private func exchange(_ head: String, _ body: [UInt8]) async throws -> HTTPAnswer? {
        let connection = try await Connection.open(
            port: port, root: root, greeting: Array(head.utf8) + body, from: source)
        let answer = await connection.readAnswer()
        await connection.close()
        return answer
    }

    /// The refusals counted so far, those above zero, by limit.
    func refusals() async throws -> [String: Int] {
        Self.refusals(in: try await get(Route.metrics.path)?.text ?? "")
    }

    static func refusals(in text: String) -> [String: Int] {
        let prefix = "signet_refusals_total{limit=\""
        return text.split(separator: "\n").reduce(into: [:]) { counts, line in
            guard line.hasPrefix(prefix) else { return }
            let parts = line.dropFirst(prefix.count).split(separator: "\"} ")
            if let count = Int(parts[1]), count > 0 { counts[String(parts[0])] = count }
        }
    }
}

/// A person with one device, for registrations over the wire.
struct TestPerson: Sendable {
    let handle: Handle
    let identity = P256.Signing.PrivateKey()
    let signing = Curve25519.Signing.PrivateKey()
    let agreement = P256.KeyAgreement.PrivateKey()
    let kem: XWingMLKEM768X25519.PrivateKey
    let keys: DeviceKeys

    init(_ name: String) throws {
        handle = try Handle(typed: Array(name.utf8))
        kem = try .generate()
        keys = try DeviceKeys(
            signing: Array(signing.publicKey.rawRepresentation),
            agreement: Array(agreement.publicKey.compressedRepresentation),
            kem: Array(kem.publicKey.rawRepresentation))
    }

    /// Proves possession and registers; the answer to the registration, or to the step that failed.
    func register(_ client: TestClient, showing proof: RegistrationProof? = nil) async throws -> HTTPAnswer? {
        let request = PossessionRequest(handle: handle, keys: keys)
        guard let answer = try await client.call(.possession, request.encoded) else { return nil }
        guard answer.status == 200 else { return answer }
        let encoded = try submission(answering: answer.body).encoded
        return try await client.call(
            .register, encoded, signature: try signature(.register, encoded, client), showing: proof)
    }

    /// The first state, with the proof that answers a challenge.
    func submission(answering challenge: [UInt8]) throws -> StateSubmission {
        let request = PossessionRequest(handle: handle, keys: keys)
        let challenge = try PossessionChallenge(decoding: challenge)
        let proof = try challenge.answer(for: request, agreementKey: agreement, kemKey: kem)
        let card = try DeviceCard(request, proof: proof) { try Array(signing.signature(for: $0)) }
        let device = DeviceRecord(number: 1, addedAt: Self.now, keys: keys)
        let body = AccountStateBody(
            first: handle, identityKey: Array(identity.publicKey.compressedRepresentation), devices: [device])
        let state = try AccountState(signing: body) { Array(try identity.signature(for: $0).rawRepresentation) }
        return try StateSubmission(state: state, opening: Self.random(32), cards: [card])
    }

    func call(_ route: Route, _ body: [UInt8] = [], _ client: TestClient) async throws -> HTTPAnswer? {
        try await client.call(route, body, signature: try signature(route, body, client))
    }

    func call(_ route: some PartRoute, _ body: [UInt8] = [], _ client: TestClient) async throws -> HTTPAnswer? {
        let content = RequestSignature.Content(route, origin: client.origin, body: body)
        return try await client.call(route, body, signature: try signature(content, time: Self.now))
    }

    func signature(
        _ route: Route, _ body: [UInt8], _ client: TestClient, time: UInt64 = Self.now
    ) throws -> String {
        try signature(RequestSignature.Content(route, origin: client.origin, body: body), time: time)
    }

    func signature(_ content: RequestSignature.Content, time: UInt64 = Self.now) throws -> String {
        let signature = try RequestSignature(
            content, deviceKey: keys.signing, time: time, nonce: Self.random(16)
        ) { try Array(signing.signature(for: $0)) }
        return String(decoding: signature.headerValue, as: UTF8.self)
    }

    static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

    static var now: UInt64 { UInt64(Date().timeIntervalSince1970) }
}
