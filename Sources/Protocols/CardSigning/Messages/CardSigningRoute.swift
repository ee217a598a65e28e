// SPDX-License-Identifier: Apache-2.0

public import SignetAPI

/// The routes of the signer of wallet cards.
public enum CardSigningRoute: PartRoute {
    /// What the signer says of itself, as the log has it: body `StatementRequest`, answer `StatementAnswer` with the
    /// text of a ``CardSignerStatement``.
    case signer
    /// Tokens for the account that asks: body ``TokensRequest``, answer ``TokensAnswer``. Signed.
    case tokens
    /// A signature for a token, from anyone: body ``CardDigestRequest``, answer ``CardDigestAnswer``.
    case sign

    /// The path, without a query.
    public var path: String {
        switch self {
        case .signer: "/v1/cards/signer"
        case .tokens: "/v1/cards/tokens"
        case .sign: "/v1/cards/sign"
        }
    }

    /// Only tokens are for accounts: whoever has one needs no name.
    public var access: PartAccess { self == .tokens ? .signed : .open }
    /// As how many requests it counts for its address: signatures with RSA keys take a while.
    public var cost: UInt64 { self == .signer ? 1 : 5 }

    /// The longest body of a request, in bytes.
    public var maximumRequestByteCount: Int {
        switch self {
        case .signer: StatementRequest.byteCount
        case .tokens: TokensRequest.maximumByteCount
        case .sign: CardDigestRequest.maximumByteCount
        }
    }

    /// The longest body of an honest answer, in bytes.
    public var maximumAnswerByteCount: Int {
        switch self {
        case .signer: StatementAnswer.maximumByteCount
        case .tokens: TokensRequest.maximumByteCount
        case .sign: 1024
        }
    }
}
