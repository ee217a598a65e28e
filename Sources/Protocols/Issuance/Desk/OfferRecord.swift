// SPDX-License-Identifier: Apache-2.0

import Crypto
public import JOSE
public import StrictJSON

/// What an issuer keeps of an offer that it made. The code itself is not in it.
public struct OfferRecord: Hashable, Sendable {
    /// So many wrong codes may be entered before only a new offer helps.
    public static let attemptCount = 5
    /// For how long a token counts, in seconds.
    public static let tokenLifetime: Int64 = 300

    /// SHA-256 of the code of the offer, 32 bytes.
    public let codeHash: [UInt8]
    /// What the person has to enter, hashed together with the code, 32 bytes; nil if nothing.
    public let transactionCodeHash: [UInt8]?
    /// When the offer expires, in seconds since 1970.
    public let expiry: Int64
    /// So many wrong codes may still be entered.
    public var attemptsLeft: Int
    /// The thumbprint of the key of the wallet that used the code, 32 bytes; nil if none has.
    public var wallet: [UInt8]?
    /// SHA-256 of the newest token, 32 bytes.
    public var tokenHash: [UInt8]?
    /// When that token expires, in seconds since 1970.
    public var tokenExpiry: Int64
    /// The thumbprints of the keys that the copies are bound to, 32 bytes each; none before the card is made.
    public var keys: Set<[UInt8]>
    /// Whether the issuer has withdrawn the card.
    public var isWithdrawn: Bool

    /// A record as a database keeps it.
    public init(
        codeHash: [UInt8], transactionCodeHash: [UInt8]?, expiry: Int64, attemptsLeft: Int = attemptCount,
        wallet: [UInt8]? = nil, tokenHash: [UInt8]? = nil, tokenExpiry: Int64 = 0, keys: Set<[UInt8]> = [],
        isWithdrawn: Bool = false
    ) {
        self.codeHash = codeHash
        self.transactionCodeHash = transactionCodeHash
        self.expiry = expiry
        self.attemptsLeft = attemptsLeft
        self.wallet = wallet
        self.tokenHash = tokenHash
        self.tokenExpiry = tokenExpiry
        self.keys = keys
        self.isWithdrawn = isWithdrawn
    }

    /// The record of a new offer.
    ///
    /// - Parameters:
    ///   - transactionCode: what the person has to enter; nil for nothing.
    ///   - expiry: in seconds since 1970.
    public init(code: JSONText, transactionCode: JSONText?, expiry: Int64) {
        self.init(
            codeHash: Self.hash(of: code),
            transactionCodeHash: transactionCode.map { Self.hash(of: $0, under: code) }, expiry: expiry)
    }

    /// What stands for a code or token in a database, so that a copy of the database is worth no card.
    public static func hash(of code: JSONText) -> [UInt8] { Array(SHA256.hash(data: code.utf8)) }

    /// A short code cannot be guessed from its hash without the long one.
    static func hash(of transactionCode: JSONText, under code: JSONText) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: transactionCode.utf8, using: SymmetricKey(data: code.utf8)))
    }

    // MARK: Decisions

    /// Gives a token for the code of this offer. This function is the whole decision. It remembers a wrong attempt although it throws.
    ///
    /// The wallet that used the code first may use it again until the offer expires, because its answer may have been lost; no other may.
    ///
    /// Spec: OpenID for Verifiable Credential Issuance 1.0, sections 3.5, 6.1 and 13.6.
    ///
    /// - Parameters:
    ///   - wallet: the key that ``SenderProof`` proved.
    ///   - token: the token to give, at least 128 random bits.
    ///   - now: seconds since 1970.
    /// - Throws: ``TokenRefusal``, the first check that fails.
    public mutating func redeem(
        _ request: TokenRequest, by wallet: WebKey, for token: JSONText, at now: Int64
    ) throws(TokenRefusal) -> TokenAnswer {
        guard Self.hash(of: request.code) == codeHash else { throw .unknown }
        guard now < expiry else { throw .expired }  // section 13.6.1: the code is short-lived
        guard !isWithdrawn else { throw .withdrawn }
        guard attemptsLeft > 0 else { throw .locked }  // section 13.6.2: attempts are limited
        guard self.wallet.map({ $0 == wallet.thumbprint }) ?? true else { throw .used }  // section 4.1.1: single use
        try checkTransactionCode(request)  // section 6.1, tx_code
        self.wallet = wallet.thumbprint
        tokenHash = Self.hash(of: token)
        tokenExpiry = now + Self.tokenLifetime
        return TokenAnswer(accessToken: token, lifetime: Self.tokenLifetime)
    }

    private mutating func checkTransactionCode(_ request: TokenRequest) throws(TokenRefusal) {
        guard (request.transactionCode == nil) == (transactionCodeHash == nil) else { throw .transactionCodePresence }
        guard let code = request.transactionCode else { return }
        guard Self.hash(of: code, under: request.code) == transactionCodeHash else {
            attemptsLeft -= 1
            throw .transactionCode
        }
    }

    /// Decides for which keys the card of this offer is made. This function is the whole decision.
    ///
    /// The card is made for the same keys as often as the wallet asks, because an answer may have been lost, and for no others.
    ///
    /// Spec: OpenID for Verifiable Credential Issuance 1.0, sections 8.2 and 8.3; RFC 9449, section 7.1.
    ///
    /// - Parameters:
    ///   - wallet: the key that ``SenderProof`` proved for this request and this token.
    ///   - token: what came along.
    ///   - issuer: what the issuer says of itself.
    ///   - nonces: the issuer's.
    ///   - now: seconds since 1970.
    /// - Returns: the keys, in the order of their proofs.
    /// - Throws: ``CopiesRefusal``, the first check that fails.
    public mutating func keys(
        for request: CopiesRequest, by wallet: WebKey, with token: JSONText, from issuer: IssuerMetadata,
        nonces: IssuanceNonce, at now: Int64
    ) throws(CopiesRefusal) -> [WebKey] {
        guard Self.hash(of: token) == tokenHash, now < tokenExpiry else { throw .token }  // RFC 6750, section 3.1
        guard wallet.thumbprint == self.wallet else { throw .anotherSender }  // RFC 9449, section 7.1
        guard !isWithdrawn else { throw .withdrawn }
        guard request.configuration == issuer.configuration else { throw .unknownConfiguration }  // section 8.2
        let proved: [WebKey]
        do throws(WalletTokenFault) {
            proved = try KeyProof.verify(
                batch: request.proofs, batchSize: issuer.batchSize, for: issuer.issuer,
                isFresh: { nonces.isFresh($0, at: now) }, at: now)  // appendix F.4
        } catch { throw .proof(error) }
        let thumbprints = Set(proved.map(\.thumbprint))
        guard keys.isEmpty || keys == thumbprints else { throw .made }  // section 4.1.1: one offer, one card
        keys = thumbprints
        return proved
    }
}
