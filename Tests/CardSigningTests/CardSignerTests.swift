// SPDX-License-Identifier: Apache-2.0

import CardSigner
import CardSigning
import EngineLab
import KeyTransparency
import SQLStores
import SwiftASN1
import Testing
import X509

/// The server's side: who has an account asks for too much, and who has none asks at all.
@Suite(.everyEngine) struct CardSignerTests {
    private let month: UInt64 = 30 * 86_400
    private let now = SignerOnPaper.now

    /// A signer with a ledger of its own.
    private final class Desk {
        let signer: SigningDesk
        let key: TokenKey
        let tokens: TokenSigner
        let statement: CardSignerStatement
        let signing: CardSigningKey
        let place: LabPlace
        let ming: Handle
        let ana: Handle

        init() throws {
            let paper = try SignerOnPaper()
            tokens = try SignerOnPaper.tokens.get()
            key = try SignerOnPaper.present(TokenKey(tokens.publicKey))
            place = try LabPlace()
            statement = try paper.statement()
            let pem = try paper.key.serializeAsPEM().pemString
            signing = try SignerOnPaper.present(CardSigningKey(pem: pem, of: paper.certificate))
            signer = try SignerOnPaper.present(
                SigningDesk(
                    statement, signing: signing, tokens: tokens,
                    ledger: TokenLedger(on: try place.open(TokenLedger.schema))))
            ming = try Handle(canonical: Array("ming@example.org".utf8))
            ana = try Handle(canonical: Array("ana@example.org".utf8))
        }

        deinit { signer.close() }

        func begun(_ count: Int) throws -> [BlindedToken] {
            try (0..<count).map { _ in try SignerOnPaper.present(key.begin()) }
        }

        func request(_ count: Int) throws -> TokensRequest {
            try SignerOnPaper.present(TokensRequest(try begun(count).map(\.request)))
        }

        func token(at now: UInt64) async throws -> SigningToken {
            let begun = try begun(1)
            let request = try SignerOnPaper.present(TokensRequest(begun.map(\.request)))
            guard case .signed(let signatures) = try await signer.tokens(for: request, of: ming, at: now) else {
                throw TestFault.noToken
            }
            return try SignerOnPaper.present(begun[0].token(signed: signatures[0]))
        }
    }

    private enum TestFault: Error { case noToken }

    private func digest(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    private func question(_ token: SigningToken, _ byte: UInt8) throws -> CardDigestRequest {
        try SignerOnPaper.present(CardDigestRequest(token: token, digest: digest(byte)))
    }

    @Test func anAccountGetsNoMoreTokensThanItsLimit_andAnotherMonthBegins() async throws {
        let desk = try Desk()
        for count in [15, 5] {
            let answer = try await desk.signer.tokens(for: try desk.request(count), of: desk.ming, at: now)
            guard case .signed(let signatures) = answer else {
                Issue.record("\(count) tokens are refused")
                return
            }
            #expect(signatures.count == count)
        }
        let one = try desk.request(1)
        #expect(try await desk.signer.tokens(for: one, of: desk.ming, at: now) == .left(0))
        let others = try await desk.signer.tokens(for: one, of: desk.ana, at: now)
        guard case .signed = others else {
            Issue.record("one account uses up another's tokens")
            return
        }
        let next = try await desk.signer.tokens(for: one, of: desk.ming, at: now + month)
        guard case .signed = next else {
            Issue.record("the next month has no tokens")
            return
        }
    }

    /// Who had how many tokens long ago is nobody's business, whoever asks next.
    @Test func earlierMonthsAreForgotten() async throws {
        let desk = try Desk()
        for (account, time) in [(desk.ming, now), (desk.ana, now + month)] {
            _ = try await desk.signer.tokens(for: try desk.request(1), of: account, at: time)
        }
        let database = try desk.place.open(TokenLedger.schema)
        defer { database.close() }
        let left = try await database.read { database in
            try database.rows("SELECT account FROM given").map { try $0.bytes(0) }
        }
        #expect(left == [desk.ana.bytes])
    }

    @Test func aRequestForMoreThanIsLeftCountsNothing() async throws {
        let desk = try Desk()
        _ = try await desk.signer.tokens(for: try desk.request(18), of: desk.ming, at: now)
        #expect(try await desk.signer.tokens(for: try desk.request(3), of: desk.ming, at: now) == .left(2))
        let answer = try await desk.signer.tokens(for: try desk.request(2), of: desk.ming, at: now)
        guard case .signed = answer else {
            Issue.record("the last two are refused")
            return
        }
    }

    @Test func aRequestThatIsNoneCountsNothing() async throws {
        let desk = try Desk()
        let large = [UInt8](repeating: 255, count: 256)
        let mixed = try SignerOnPaper.present(TokensRequest(try desk.begun(1).map(\.request) + [large]))
        #expect(try await desk.signer.tokens(for: mixed, of: desk.ming, at: now) == nil)
        let answer = try await desk.signer.tokens(for: try desk.request(20), of: desk.ming, at: now)
        guard case .signed = answer else {
            Issue.record("something was counted")
            return
        }
    }

    @Test func aTokenIsGoodForOneDigest_alsoWhenItsAnswerWasLost() async throws {
        let desk = try Desk()
        let token = try await desk.token(at: now)
        guard case .signed(let first) = try await desk.signer.answer(to: try question(token, 1), at: now) else {
            Issue.record("a good token is refused")
            return
        }
        #expect(first.time == SignerOnPaper.minute)
        #expect(try await desk.signer.answer(to: try question(token, 2), at: now) == .used)
        let again = try await desk.signer.answer(to: try question(token, 1), at: now + 600)
        guard case .signed(let second) = again else {
            Issue.record("the lost answer does not come again")
            return
        }
        #expect(second.time == first.time)
    }

    @Test func aTokenOfAnotherSignerIsUnknown() async throws {
        let desk = try Desk()
        let other = try TokenSigner()
        let begun = try SignerOnPaper.present(SignerOnPaper.present(TokenKey(other.publicKey)).begin())
        let signature = try SignerOnPaper.present(other.signature(for: begun.request))
        let forged = try SignerOnPaper.present(begun.token(signed: signature))
        #expect(try await desk.signer.answer(to: try question(forged, 1), at: now) == .unknown)
        let good = try await desk.token(at: now)
        guard case .signed = try await desk.signer.answer(to: try question(good, 1), at: now) else {
            Issue.record("a good token is refused")
            return
        }
    }

    @Test func anErasedAccountLeavesNothing_andUsedTokensStayUsed() async throws {
        let desk = try Desk()
        let token = try await desk.token(at: now)
        _ = try await desk.signer.answer(to: try question(token, 1), at: now)
        try await desk.signer.erase(desk.ming)
        let answer = try await desk.signer.tokens(for: try desk.request(20), of: desk.ming, at: now)
        guard case .signed = answer else {
            Issue.record("something of the account is still there")
            return
        }
        #expect(try await desk.signer.answer(to: try question(token, 2), at: now) == .used)
    }

    @Test func keysThatAreNotThoseOfTheStatementSignNothing() throws {
        let desk = try Desk()
        let ledger = TokenLedger(on: try LabPlace().open(TokenLedger.schema))
        defer { ledger.close() }
        #expect(
            SigningDesk(desk.statement, signing: desk.signing, tokens: try TokenSigner(), ledger: ledger) == nil)
    }
}
