// SPDX-License-Identifier: Apache-2.0

package import JOSE

/// The check that a status list does not pass. Another copy of the list may pass it; this one will not.
///
/// The raw value is the check's name in reports and vectors.
public enum StatusFault: String, Error, Hashable, Sendable, CaseIterable {
    /// The credential refers to no entry of a list over https.
    case reference
    /// Not three parts with full stops between.
    case form
    /// More bytes, or deeper values, than are read.
    case limits
    /// A part that is not base64url without padding.
    case base64URL = "base64url"
    /// Not JSON, or not an object where there must be one.
    case json
    /// A name that stands twice in one object.
    case duplicateMember = "json.duplicate-member"
    /// An algorithm other than ES256.
    case algorithm = "alg"
    /// A type other than `statuslist+jwt`.
    case type = "typ"
    /// An extension that the reader must understand.
    case critical = "crit"
    /// Not signed by the issuer's key.
    case signature
    /// The list of another address.
    case subject = "sub"
    /// Expired, or its expiry is not a whole number of seconds.
    case expiry = "exp"
    /// It does not say when it was issued, or says a time in the future.
    case issueTime = "iat"
    /// Older than the verifier accepts.
    case stale
    /// Its time to live is not a positive whole number of seconds.
    case timeToLive = "ttl"
    /// No list, or entries of a size other than 1, 2, 4 or 8 bits.
    case bits
    /// Not one zlib stream in base64url, whole and with nothing after it.
    case list = "lst"
    /// More entries than the verifier has room for.
    case listSize = "lst.size"
    /// The list has no such entry.
    case index
}

extension StatusFault: TokenReadingFault {}
