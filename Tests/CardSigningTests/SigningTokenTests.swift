// SPDX-License-Identifier: Apache-2.0

import CardSigning
import SignetAPI
import Testing

@Suite struct SigningTokenTests {
    private func begun() throws -> (signer: TokenSigner, key: TokenKey, token: BlindedToken) {
        let signer = try SignerOnPaper.tokens.get()
        let key = try SignerOnPaper.present(TokenKey(signer.publicKey))
        return (signer, key, try SignerOnPaper.present(key.begin()))
    }

    private func token(_ signer: TokenSigner, _ begun: BlindedToken) throws -> SigningToken {
        let signature = try SignerOnPaper.present(signer.signature(for: begun.request))
        return try SignerOnPaper.present(begun.token(signed: signature))
    }

    @Test func aTokenThatWasSignedUnseenIsValid() throws {
        let (signer, key, begun) = try begun()
        let token = try token(signer, begun)
        #expect(key.isValid(token))
        let again = try SignerOnPaper.present(TokenSigner(pem: signer.pem))
        #expect(again.publicKey == signer.publicKey)
    }

    /// What the signer saw and signed, and what it gets later, have no eight bytes in common, in twenty tokens.
    @Test func nothingOfATokenWasSeenWhenItWasMade() throws {
        let signer = try SignerOnPaper.tokens.get()
        let key = try SignerOnPaper.present(TokenKey(signer.publicKey))
        var seen: Set<[UInt8]> = []
        var spent: [[UInt8]] = []
        for _ in 0..<20 {
            let begun = try SignerOnPaper.present(key.begin())
            let signature = try SignerOnPaper.present(signer.signature(for: begun.request))
            seen.formUnion(runs(begun.request))
            seen.formUnion(runs(signature))
            let token = try SignerOnPaper.present(begun.token(signed: signature))
            spent += runs(token.number) + runs(token.signature)
        }
        #expect(!spent.contains(where: seen.contains))
        #expect(Set(spent).count == spent.count)
    }

    private func runs(_ bytes: [UInt8]) -> [[UInt8]] { (0...bytes.count - 8).map { Array(bytes[$0..<$0 + 8]) } }

    @Test func aTokenOfAnotherKeyOrNumberIsRefused() throws {
        let (signer, key, begun) = try begun()
        let token = try token(signer, begun)
        let other = try TokenSigner()
        let othersKey = try SignerOnPaper.present(TokenKey(other.publicKey))
        #expect(!othersKey.isValid(token))
        #expect(!key.isValid(SigningToken(number: [UInt8](repeating: 1, count: 32), signature: token.signature)))
        #expect(!key.isValid(SigningToken(number: token.number, signature: Array(token.signature.dropLast()))))
        #expect(!key.isValid(SigningToken(number: token.number + [0], signature: token.signature)))
    }

    /// The client asks for a number of its choice to be signed, of another length than tokens have.
    @Test func aNumberOfAnotherLengthIsNoToken() throws {
        let (_, key, _) = try begun()
        #expect(!key.isValid(SigningToken(number: [], signature: [UInt8](repeating: 1, count: 256))))
    }

    @Test func aSignatureOfAnotherRequestMakesNoToken() throws {
        let (signer, key, first) = try begun()
        let second = try SignerOnPaper.present(key.begin())
        let signature = try SignerOnPaper.present(signer.signature(for: second.request))
        #expect(first.token(signed: signature) == nil)
        #expect(first.token(signed: []) == nil)
        #expect(signer.signature(for: [1, 2, 3]) == nil)
        #expect(signer.signature(for: [UInt8](repeating: 255, count: 256)) == nil)
    }

    // MARK: Messages

    @Test func messagesAreReadAsTheyAreWritten() throws {
        let requests = try SignerOnPaper.present(TokensRequest([[1, 2], [3, 4]]))
        #expect(TokensRequest(decoding: requests.encoded) == requests)
        for answer in [TokensAnswer.signed([[1, 2], [3, 4]]), .left(3)] {
            #expect(TokensAnswer(decoding: answer.encoded) == answer)
        }
        let token = SigningToken(number: [UInt8](repeating: 1, count: 32), signature: [1, 2, 3])
        let request = try SignerOnPaper.present(CardDigestRequest(token: token, digest: SignerOnPaper.digest))
        #expect(CardDigestRequest(decoding: request.encoded) == request)
        for answer in [CardDigestAnswer.signed(SignedCardDigest(time: 60, signature: [1])), .used, .unknown] {
            #expect(CardDigestAnswer(decoding: answer.encoded) == answer)
        }
        for answer in [StatementAnswer.anotherEpoch, .none] {
            #expect(StatementAnswer(decoding: answer.encoded) == answer)
        }
        #expect(try StatementRequest(decoding: StatementRequest(size: 9).encoded).size == 9)
    }

    @Test func messagesOfAnotherFormAreRefused() throws {
        #expect(TokensRequest([]) == nil)
        #expect(TokensRequest([[1], [2, 3]]) == nil)
        #expect(TokensRequest([[UInt8]](repeating: [1], count: 21)) == nil)
        #expect(TokensRequest([[UInt8](repeating: 1, count: 513)]) == nil)
        let requests = try SignerOnPaper.present(TokensRequest([[1, 2], [3, 4]])).encoded
        let token = SigningToken(number: [UInt8](repeating: 1, count: 32), signature: [1, 2, 3])
        #expect(CardDigestRequest(token: token, digest: [1]) == nil)
        let digest = try SignerOnPaper.present(CardDigestRequest(token: token, digest: SignerOnPaper.digest)).encoded
        let signed = CardDigestAnswer.signed(SignedCardDigest(time: 60, signature: [1, 2])).encoded
        let tokens = TokensAnswer.signed([[1, 2]]).encoded
        for count in 0..<requests.count { #expect(TokensRequest(decoding: Array(requests.prefix(count))) == nil) }
        for count in 0..<digest.count { #expect(CardDigestRequest(decoding: Array(digest.prefix(count))) == nil) }
        for count in 0..<signed.count { #expect(CardDigestAnswer(decoding: Array(signed.prefix(count))) == nil) }
        for count in 0..<tokens.count { #expect(TokensAnswer(decoding: Array(tokens.prefix(count))) == nil) }
        #expect(TokensRequest(decoding: requests + [0]) == nil)
        #expect(CardDigestRequest(decoding: digest + [0]) == nil)
        #expect(CardDigestAnswer(decoding: signed + [0]) == nil)
        #expect(TokensAnswer(decoding: tokens + [0]) == nil)
        #expect(StatementAnswer(decoding: [2, 0]) == nil)
        #expect(StatementAnswer(decoding: [4]) == nil)
        #expect(throws: (any Error).self) { try StatementRequest(decoding: [1]) }
    }
}
