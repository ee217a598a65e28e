// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Credentials
import Crypto
import Foundation
import JOSE
import KeyPinning
import PinScenarios
import SelectiveDisclosure
import StrictJSON
import Testing
import TokenStatusList

/// An issuer of cards with a certificate, and a status list by which it withdraws them.
struct TestIssuer {
    static let member: JSONText = "urn:signet:member-card:1"
    private static let address: JSONText = "https://localhost/status/1"

    private let town: Town
    private let certificates: [[UInt8]]
    private let key: P256.Signing.PrivateKey
    /// The file of the authority that certifies it.
    let roots: String
    /// The file of its status list.
    let list: String

    init(_ name: String = "issuer", in town: Town) throws {
        let genuine = try #require(try PinScenario.all(at: Date()).first { $0.mustPass })
        self.town = town
        certificates = genuine.presented
        key = try P256.Signing.PrivateKey(pemRepresentation: genuine.keyPEM)
        (roots, list) = ("\(name).roots", "\(name).status")
        try town.write(genuine.anchors.flatMap { PEMBlock.text($0) }, to: roots)
        try publish()
    }

    /// Makes a card for the keys of a file, one copy a line.
    ///
    /// - Parameter first: the entry of the first copy in the status list.
    func issue(
        _ keys: String, to file: String, claims: JSONObject = ["member": .bool(true), "name": .string("Alice Lee")],
        type: JSONText = member, first: Int64 = 0, days: Int64 = 30
    ) throws {
        let set = try JSONObject(decoding: town.bytes(keys).dropLast())
        let holders = try #require(set["keys"]?.array).map { try WebKey(try #require($0.object)) }
        let copies = try holders.enumerated().map { place, holder in
            MemberCard.Copy(holder: holder, status: try StatusReference(uri: Self.address, index: first + Int64(place)))
        }
        let card = MemberCard(
            issuer: nil, type: type, claims: claims, expiry: Int64(Date().timeIntervalSince1970) + days * 86_400,
            certificates: certificates)
        var generator = SystemRandomNumberGenerator()
        let texts = try card.drafts(copies).map { draft in
            try draft.issued(using: &generator) { try? Array(key.signature(for: $0).rawRepresentation) }
        }
        try town.write(texts.flatMap { $0 + [UInt8(ascii: "\n")] }, to: file)
    }

    /// Publishes the list, in which these entries are withdrawn.
    func publish(withdrawn: Range<Int64> = 0..<0) throws {
        var draft = try StatusListDraft(count: 1024)
        for entry in withdrawn { try draft.set(1, at: entry) }
        let token = try draft.signed(
            for: StatusReference(uri: Self.address, index: 0), at: Int64(Date().timeIntervalSince1970)
        ) { Array(try key.signature(for: $0).rawRepresentation) }
        try town.write(token, to: list)
    }

    /// The options of a site that accepts its cards.
    func asking(_ question: String = "member") -> [String] {
        ["--ask", question, "--issuers", roots, "--status-list", list]
    }

    /// Has a person ask for a card, and add it.
    func give(_ home: String, copies: Int, first: Int64 = 0) async throws {
        let name = first == 0 ? home : "\(home)-\(first)"
        try await expect(0, town.signet(home, "cards", "request", "\(name).keys", "--copies", "\(copies)"))
        try issue("\(name).keys", to: "\(name).cards", first: first)
        try await expect(0, town.signet(home, "cards", "add", "\(name).cards", "--roots", roots))
    }
}
