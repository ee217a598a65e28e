// SPDX-License-Identifier: Apache-2.0

import CardSigning
import Crypto
import CryptoExtras
import CryptographicMessages
import KeyTransparency
import SignetAPI
import SwiftASN1
import Testing
import TransparencyLog
import X509

@Suite struct CardSignerVerifierTests {
    // MARK: The statement

    @Test func aLoggedStatementIsBelieved() throws {
        let paper = try SignerOnPaper()
        let answer = try paper.logged(try paper.statement().text)
        let verifier = try paper.verifier(answer)
        #expect(verifier.statement == (try paper.statement()))
        #expect(StatementAnswer(decoding: StatementAnswer.statement(answer).encoded) == .statement(answer))
    }

    /// The signer tells one person of a key of their own, by which it would find their tokens again.
    @Test func aTokenKeyForOnePersonAloneIsRefused() throws {
        let paper = try SignerOnPaper()
        let answer = try paper.logged(try paper.statement().text)
        let another = try paper.statement(tokenKey: try TokenSigner().publicKey)
        let shown = LoggedStatement(text: another.text, place: answer.place)
        let fault = try paper.fault(shown)
        guard case .notLogged = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func anOlderStatementIsRefused() throws {
        let paper = try SignerOnPaper()
        let first = try paper.logged(try paper.statement().text)
        let second = try paper.logged(try paper.statement(version: 2).text, version: 2)
        let fault = try paper.fault(LoggedStatement(text: first.text, place: second.place))
        guard case .notLogged = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func aStatementOfAnotherVersionThanItsRecordIsRefused() throws {
        let paper = try SignerOnPaper()
        #expect(try paper.fault(try paper.logged(try paper.statement(version: 2).text)) == .otherVersion)
    }

    @Test func aStatementOfAnotherLogIsRefused() throws {
        let paper = try SignerOnPaper()
        let statement = try paper.statement(origin: try KeyName(Array("other.example/log".utf8)))
        #expect(try paper.fault(try paper.logged(statement.text)) == .otherOrigin)
    }

    @Test func whatIsNoTokenKeyIsRefused() throws {
        let short = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024)).publicKey.derRepresentation
        let long = try _RSA.Signing.PrivateKey(keySize: .init(bitCount: 4352)).publicKey.derRepresentation
        let curve = P256.Signing.PrivateKey().publicKey.derRepresentation
        for key in [Array(short), Array(long), Array(curve), [1, 2, 3]] {
            let paper = try SignerOnPaper()
            #expect(try paper.fault(try paper.logged(try paper.statement(tokenKey: key).text)) == .tokenKey)
        }
    }

    @Test func whatIsNoCertificateForCardsIsRefused() throws {
        let curve = try SignerOnPaper.certificate(for: .init(P384.Signing.PrivateKey()))
        for certificate in [curve, [0x30, 0x03, 1, 2, 3]] {
            let paper = try SignerOnPaper()
            let answer = try paper.logged(try paper.statement(certificates: [certificate]).text)
            #expect(try paper.fault(answer) == .certificate)
        }
    }

    @Test func everyOtherTextIsRefused() throws {
        let paper = try SignerOnPaper()
        let text = String(decoding: try paper.statement().text, as: UTF8.self)
        let wrong = [
            text + "more\n", text.replacing("limit 20", with: "limit 0"), text.replacing("limit 20", with: "limit 101"),
            text.replacing("version 1\n", with: "version 0\n"), text.replacing("/v1", with: "/v2"),
            String(text.dropLast()),
            text.replacing("team ABCDE12345", with: "team A B"), text.replacing("team ABCDE12345", with: "team "),
            text.split(separator: "certificate")[0].description,
            text + String(repeating: "certificate AAAA\n", count: 4),
        ]
        for (count, text) in wrong.enumerated() {
            let answer = try paper.logged(Array(text.utf8), version: UInt64(count) + 1)
            let fault = try paper.fault(answer)
            #expect(fault == .statement, "\(String(describing: fault)) \(text.suffix(60))")
        }
        let long = text + String(repeating: "certificate \(String(repeating: "A", count: 12_000))\n", count: 3)
        #expect(throws: CardSignerFault.statement) { try CardSignerStatement(decoding: Array(long.utf8)) }
    }

    // MARK: The signature

    @Test(arguments: [true, false]) func aSignatureOfTheDigestIsBelieved(isRSA: Bool) throws {
        let paper = try SignerOnPaper(
            isRSA ? .init(try _RSA.Signing.PrivateKey(keySize: .bits2048)) : .init(P256.Signing.PrivateKey()))
        let verifier = try paper.verifier(try paper.logged(try paper.statement().text))
        let signed = try signed(paper)
        #expect(signed.time == SignerOnPaper.minute)
        let message = try verifier.verify(signed, of: SignerOnPaper.digest, at: SignerOnPaper.now)
        #expect(message.attributes.time == SignerOnPaper.minute)
        #expect(CardDigestAnswer(decoding: CardDigestAnswer.signed(signed).encoded) == .signed(signed))
    }

    private func signed(_ paper: SignerOnPaper, at time: UInt64 = SignerOnPaper.now) throws -> SignedCardDigest {
        let pem = try paper.key.serializeAsPEM().pemString
        let key = try SignerOnPaper.present(CardSigningKey(pem: pem, of: paper.certificate))
        return try SignerOnPaper.present(key.signed(SignerOnPaper.digest, at: time))
    }

    @Test func aSignatureOfAnotherDigestOrKeyIsRefused() throws {
        let paper = try SignerOnPaper()
        let verifier = try paper.verifier(try paper.logged(try paper.statement().text))
        let signed = try signed(paper)
        let other = [UInt8](repeating: 8, count: 32)
        #expect(throws: CardSignerFault.signature) { try verifier.verify(signed, of: other, at: SignerOnPaper.now) }
        let anothers = try self.signed(try SignerOnPaper())
        #expect(throws: CardSignerFault.signature) {
            try verifier.verify(anothers, of: SignerOnPaper.digest, at: SignerOnPaper.now)
        }
        let earlier = SignedCardDigest(time: signed.time - 60, signature: signed.signature)
        #expect(throws: CardSignerFault.signature) {
            try verifier.verify(earlier, of: SignerOnPaper.digest, at: SignerOnPaper.now)
        }
    }

    @Test func aSignatureOfAnotherTimeIsRefused() throws {
        let paper = try SignerOnPaper()
        let verifier = try paper.verifier(try paper.logged(try paper.statement().text))
        let signed = try signed(paper)
        for now in [SignerOnPaper.minute + 301, SignerOnPaper.minute - 301] {
            #expect(throws: CardSignerFault.time) { try verifier.verify(signed, of: SignerOnPaper.digest, at: now) }
        }
        for now in [SignerOnPaper.minute + 300, SignerOnPaper.minute - 300] {
            _ = try verifier.verify(signed, of: SignerOnPaper.digest, at: now)
        }
    }

    /// By the second of each card the signer could find it again.
    @Test func aSignatureThatSaysTheSecondIsRefused() throws {
        let paper = try SignerOnPaper()
        let verifier = try paper.verifier(try paper.logged(try paper.statement().text))
        let attributes = try SignedAttributes(digest: SignerOnPaper.digest, time: SignerOnPaper.minute + 7)
        let signature = try paper.key.sign(bytes: attributes.encoded, signatureAlgorithm: .ecdsaWithSHA256)
        let marked = SignedCardDigest(time: attributes.time, signature: Array(signature.rawRepresentation))
        #expect(throws: CardSignerFault.time) {
            try verifier.verify(marked, of: SignerOnPaper.digest, at: SignerOnPaper.now)
        }
    }

    @Test func aKeyOfAnotherCertificateIsNone() throws {
        let (one, other) = (try SignerOnPaper(), try SignerOnPaper())
        #expect(CardSigningKey(pem: try one.key.serializeAsPEM().pemString, of: other.certificate) == nil)
        let large = try SignerOnPaper(.init(P384.Signing.PrivateKey()))
        #expect(CardSigningKey(pem: try large.key.serializeAsPEM().pemString, of: large.certificate) == nil)
    }
}
