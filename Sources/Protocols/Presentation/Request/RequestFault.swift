// SPDX-License-Identifier: Apache-2.0

import JOSE

/// The check that a request for a presentation does not pass. The requester has to correct it; a retry cannot help.
///
/// The raw value is the check's name in reports and vectors.
public enum RequestFault: String, Error, Hashable, Sendable, CaseIterable {
    /// Not a link of the scheme `openid4vp`, or an address in it that is not https.
    case link
    /// A parameter twice in the link.
    case linkDuplicate = "link.duplicate"
    /// A way to fetch the request object that is neither `get` nor `post`.
    case requestMethod = "request_uri_method"
    /// More bytes, or deeper values, than are read.
    case limits
    /// Not three parts with full stops between.
    case form
    /// A part that is not base64url without padding.
    case base64URL = "base64url"
    /// Not JSON, or not an object where there must be one.
    case json
    /// A name that stands twice in one object.
    case duplicateMember = "json.duplicate-member"
    /// An algorithm other than ES256.
    case algorithm = "alg"
    /// A type other than `oauth-authz-req+jwt`.
    case type = "typ"
    /// An extension that the reader must understand.
    case critical = "crit"
    /// Not signed by the client that it names.
    case signature
    /// A client identifier of a kind that is not accepted.
    case clientPrefix = "client_id.prefix"
    /// Link and request object name two clients.
    case clientMismatch = "client_id.mismatch"
    /// The certificate does not name the host that asks.
    case clientHost = "client_id.san"
    /// Not the certificate that the identifier names.
    case clientHash = "client_id.hash"
    /// A did:key that is not a P-256 key.
    case clientDID = "client_id.did"
    /// A signed request of a client that cannot sign.
    case clientUnsignedOnly = "client_id.unsigned-only"
    /// The header names a key other than the client's.
    case keyID = "kid"
    /// Certificates that lead to no trusted root, or none.
    case chain = "x5c"
    /// A certificate that is not yet or no longer valid.
    case chainValidity = "x5c.validity"
    /// An unsigned request of a client that must sign.
    case unsigned
    /// Meant for another wallet.
    case audience = "aud"
    /// No longer valid.
    case expired
    /// Not the nonce that this wallet sent: a stored request.
    case walletNonce = "wallet_nonce"
    /// A request within the request.
    case nested
    /// It asks for an answer other than a presentation.
    case responseType = "response_type"
    /// It asks for the answer by another way than a POST.
    case responseMode = "response_mode"
    /// A redirect address in addition to the response address.
    case redirectAddress = "redirect_uri"
    /// The response address is not the client's own, over https.
    case responseAddress = "response_uri"
    /// A nonce that can be guessed, or is not 22 to 512 characters that need no escape.
    case nonce
    /// A state of more than 512 characters, or of characters that need an escape.
    case state
    /// A predefined set of claims, which is not known here.
    case scope
    /// A transaction to agree to, which is not known here.
    case transactionData = "transaction_data"
    /// A query that asks for nothing, or whose form is not known here.
    case query = "dcql"
    /// A format of credentials that is not known here.
    case queryFormat = "dcql.format"
    /// A sign-in for a browser's session without a challenge of 32 bytes, or digits without a sign-in.
    case signIn = "signet_sign_in"
    /// No key to encrypt the answer to, or no encryption that is known here.
    case encryption
}

extension RequestFault: TokenReadingFault {
    init(_ fault: CertificateTrustFault) {
        self = fault == .validity ? .chainValidity : .chain
    }
}
