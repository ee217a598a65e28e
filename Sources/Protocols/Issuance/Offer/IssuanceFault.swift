// SPDX-License-Identifier: Apache-2.0

import JOSE

/// The check that an offer, or what an issuer sent for it, does not pass. A retry cannot help.
///
/// The raw value is the check's name in reports.
public enum IssuanceFault: String, Error, Hashable, Sendable, CaseIterable {
    /// Not `openid-credential-offer://?` with either an offer or the address of one, or not the fields of a form.
    case link
    /// A parameter that stands twice in the link.
    case linkDuplicate = "link.duplicate"
    /// Not the text that there must be.
    case form
    /// More bytes, or deeper values, than are read.
    case limits
    /// A part that is not base64url without padding.
    case base64URL = "base64url"
    /// Not JSON, or not an object where there must be one.
    case json
    /// A name that stands twice in one object.
    case duplicateMember = "json.duplicate-member"
    /// The issuer is not `https://` with a host, and at most a port, in lower case.
    case issuer = "credential_issuer"
    /// Not one kind of card, or its name has other characters than letters, digits, `.`, `_` and `-`.
    case configurations = "credential_configuration_ids"
    /// No code that stands for the permission to get the card, or one that has other characters than need no escape.
    case code = "pre-authorized_code"
    /// What it says of the code that the person enters is not a length from 4 to 16.
    case transactionCode = "tx_code"
    /// The offer is at an address of another host than its issuer's.
    case offerAddress = "credential_offer_uri"
    /// The description is of another issuer.
    case anotherIssuer = "metadata.credential_issuer"
    /// The issuer leaves the permission to another server.
    case anotherServer = "metadata.authorization_servers"
    /// A path of the issuer is of another host, or missing.
    case endpoint = "metadata.endpoint"
    /// The issuer does not make the card that it offers.
    case unknownConfiguration = "metadata.configuration"
    /// The card is of another format than SD-JWT VC, or has no type.
    case format = "metadata.format"
    /// The issuer does not bind cards to keys that are proved by an ES256 signature.
    case proofs = "metadata.proof_types"
    /// The issuer does not say that it makes 1 to 200 copies at a time.
    case batchSize = "metadata.batch_size"
    /// The issuer does not take offers of this kind, or does not bind its tokens to a key of the wallet.
    case grants = "metadata.grants"
    /// The answer to the code is not a token that is bound to the wallet's key.
    case token
    /// The issuer gave no nonce that can be signed.
    case nonce
    /// The answer is not a list of cards.
    case credentials
    /// Not one card for each key.
    case count
}

extension IssuanceFault: TokenReadingFault {}
