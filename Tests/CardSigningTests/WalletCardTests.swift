// SPDX-License-Identifier: Apache-2.0

import Credentials
import Crypto
import SelectiveDisclosure
import StrictJSON
import Testing

@Suite struct WalletCardTests {
    private let now: Int64 = 1_800_000_000
    private let trust = IssuerTrust(acceptsSelfIssued: true)

    private func card() throws -> HeldCredential {
        let key = P256.Signing.PrivateKey()
        let fields: [BusinessCard.Field: String] = [
            .name: "Ming \"<b>\" Lee", .email: "ming@example.org", .note: "secret",
        ]
        let draft = try BusinessCard(fields).draft(
            for: Array(key.publicKey.compressedRepresentation), until: now + 86_400)
        var generator = SystemRandomNumberGenerator()
        return try HeldCredential(
            decoding: try draft.issued(using: &generator) {
                (try? key.signature(for: $0)).map { Array($0.rawRepresentation) }
            })
    }

    @Test func onlyTheChosenLinesAreOnThePass() throws {
        let wallet = WalletCard(try card(), showing: [.name])
        let pass = wallet.pass(type: Array("pass.a".utf8), team: Array("T".utf8), serial: [1, 2])
        let text = String(decoding: pass.encoded, as: UTF8.self)
        #expect(text.contains("Ming"))
        #expect(!text.contains("ming@example.org") && !text.contains("secret"))
        #expect(text.contains("Made by its holder"))
        #expect(pass["serialNumber"] == .string("0102"))
        let shown = try ShownCard.verify(copy: wallet.copy, types: [BusinessCard.type], trusting: trust, at: now)
        #expect(BusinessCard.fields(in: shown.claims).map(\.text) == ["Ming \"<b>\" Lee"])
    }

    @Test func aChangedOrExpiredCopyIsRefused() throws {
        let copy = WalletCard(try card(), showing: [.name, .email]).copy
        for spot in stride(from: 0, to: copy.count - 1, by: 7) where copy[spot] != UInt8(ascii: "~") {
            var changed = copy
            changed[spot] = changed[spot] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: PresentationFault.self) {
                try ShownCard.verify(copy: changed, types: [BusinessCard.type], trusting: trust, at: now)
            }
        }
        #expect(throws: PresentationFault.expired) {
            try ShownCard.verify(copy: copy, types: [BusinessCard.type], trusting: trust, at: now + 3 * 86_400)
        }
    }

    /// An old presentation, which a copy's reader would not see to be old.
    @Test func aCardThatWasShownToSomebodyIsNoCopy() throws {
        let key = P256.Signing.PrivateKey()
        let draft = try BusinessCard([.name: "Ming"]).draft(
            for: Array(key.publicKey.compressedRepresentation), until: now + 86_400)
        var generator = SystemRandomNumberGenerator()
        let sign: ([UInt8]) throws -> [UInt8] = { Array(try key.signature(for: $0).rawRepresentation) }
        let held = try HeldCredential(decoding: try draft.issued(using: &generator) { try? sign($0) })
        let shown = try ShownCard.presented(held, disclosing: ["name"], at: now, sign: sign)
        #expect(throws: PresentationFault.bindingAudience) {
            try ShownCard.verify(copy: shown, types: [BusinessCard.type], trusting: trust, at: now)
        }
        #expect(throws: PresentationFault.bindingMissing) {
            try ShownCard.verify(
                WalletCard(held, showing: [.name]).copy, types: [BusinessCard.type], trusting: trust, at: now)
        }
    }
}
