// SPDX-License-Identifier: Apache-2.0

import JOSE

/// The check that a presentation of an SD-JWT VC does not pass. The sender has to correct it; a retry cannot help.
///
/// The raw value is the check's name in reports and vectors.
public enum PresentationFault: String, Error, Hashable, Sendable, CaseIterable {
    /// Not an issuer's token, disclosures and perhaps a key binding between tildes.
    case form
    /// More bytes, or deeper values, than are read.
    case limits
    /// A part of a token that is not base64url without padding.
    case base64URL = "base64url"
    /// Not JSON, or not an object where there must be one.
    case json
    /// A name that stands twice in one object.
    case duplicateMember = "json.duplicate-member"
    /// The issuer's token names an algorithm other than ES256.
    case issuerAlgorithm = "issuer.alg"
    /// The issuer's token has a type other than `dc+sd-jwt`.
    case issuerType = "issuer.typ"
    /// The issuer's token demands an extension.
    case issuerCritical = "issuer.crit"
    /// The verifier does not trust the issuer for this type.
    case issuerUntrusted = "iss.untrusted"
    /// A did:key that is not a P-256 key, or not the key that the credential is bound to.
    case issuerDID = "iss.did"
    /// The issuer's certificates lead to no trusted root.
    case issuerChain = "iss.x5c"
    /// One of the issuer's certificates is not yet or no longer valid.
    case issuerChainValidity = "iss.x5c.validity"
    /// The token is not signed by the issuer's key.
    case issuerSignature = "issuer.signature"
    /// The digests are of an algorithm other than SHA-256.
    case digestAlgorithm = "sd_alg"
    /// A place for digests that holds something else.
    case digestForm = "digest.form"
    /// A digest that stands at two places.
    case digestDuplicate = "digest.duplicate"
    /// A disclosure that is not base64url without padding.
    case disclosureEncoding = "disclosure.base64url"
    /// Not a salt and a value, or a salt, a name and a value, or at a place for the other kind.
    case disclosureForm = "disclosure.form"
    /// One disclosure sent twice.
    case disclosureDuplicate = "disclosure.duplicate"
    /// A claim whose name is reserved for digests, or is there already.
    case disclosureName = "disclosure.name"
    /// A claim that every verifier must be able to read comes from a disclosure.
    case disclosureReserved = "disclosure.reserved"
    /// A disclosure that no digest refers to.
    case disclosureUnreferenced = "disclosure.unreferenced"
    /// Not the type of credential that was asked for.
    case type = "vct"
    /// A time that is not a whole number of seconds.
    case timeForm = "time.form"
    /// No longer valid.
    case expired = "time.expired"
    /// Not yet valid.
    case notYet = "time.not-yet"
    /// A claim that was asked for is not there.
    case claimsMissing = "claims.missing"
    /// The credential names no key of its holder, or not in the one form that is read.
    case confirmation = "cnf"
    /// The holder's signature was asked for and is not there.
    case bindingMissing = "kb.missing"
    /// The holder's token names an algorithm other than ES256.
    case bindingAlgorithm = "kb.alg"
    /// The holder's token has a type other than `kb+jwt`.
    case bindingType = "kb.typ"
    /// The holder's token demands an extension.
    case bindingCritical = "kb.crit"
    /// The holder's token is not signed by the holder's key.
    case bindingSignature = "kb.signature"
    /// Signed too long ago, in the future, or at no time.
    case bindingTime = "kb.iat"
    /// Meant for another verifier.
    case bindingAudience = "kb.aud"
    /// Signed for another request.
    case bindingNonce = "kb.nonce"
    /// Signed for other disclosures or another credential.
    case bindingHash = "kb.sd_hash"
}

extension PresentationFault: TokenReadingFault {}
