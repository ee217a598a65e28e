// SPDX-License-Identifier: Apache-2.0

public import CardSigning
public import KeyTransparency

/// Gives accounts tokens, and signs a digest for each token. It gets no card, and links no code that could open one.
public struct SigningDesk: Sendable {
    /// What it says of itself.
    public let statement: CardSignerStatement
    private let key: CardSigningKey
    private let tokens: TokenSigner
    private let tokenKey: TokenKey
    private let ledger: TokenLedger

    /// A signer; nil if the keys are not those of the statement.
    public init?(
        _ statement: CardSignerStatement, signing key: CardSigningKey, tokens: TokenSigner, ledger: TokenLedger
    ) {
        guard statement.tokenKey == tokens.publicKey, let tokenKey = TokenKey(statement.tokenKey) else { return nil }
        self.statement = statement
        self.key = key
        self.tokens = tokens
        self.tokenKey = tokenKey
        self.ledger = ledger
    }

    /// Signs requests of an account, as long as it has not had all tokens of the month.
    ///
    /// - Returns: nil if a request is none for this key; nothing is counted then.
    /// - Throws: ``TokenLedgerError``.
    public func tokens(
        for request: TokensRequest, of account: Handle, at now: UInt64
    ) async throws(TokenLedgerError) -> TokensAnswer? {
        var signatures: [[UInt8]] = []
        for one in request.requests {
            guard let signature = tokens.signature(for: one) else { return nil }
            signatures.append(signature)
        }
        let left = try await ledger.take(
            UInt64(request.requests.count), of: account, within: statement.limit, at: now)
        return left.map { .left(UInt8(clamping: $0)) } ?? .signed(signatures)
    }

    /// Signs a digest. The same token with the same digest is answered again with the time of the first answer.
    ///
    /// - Returns: nil if the library cannot sign.
    /// - Throws: ``TokenLedgerError``.
    public func answer(
        to request: CardDigestRequest, at now: UInt64
    ) async throws(TokenLedgerError) -> CardDigestAnswer? {
        guard tokenKey.isValid(request.token) else { return .unknown }
        let first = try await ledger.spend(request.token.number, for: request.digest, at: now - now % 60)
        guard let first else { return .used }
        return key.signed(request.digest, at: first).map(CardDigestAnswer.signed)
    }

    /// Forgets how many tokens an account has had that is closed for good. The tokens keep their worth: nobody knows which they are.
    ///
    /// - Throws: ``TokenLedgerError``.
    public func erase(_ account: Handle) async throws(TokenLedgerError) { try await ledger.erase(account) }

    /// Lets go of the ledger.
    public func close() { ledger.close() }
}
