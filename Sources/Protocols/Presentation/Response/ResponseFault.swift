// SPDX-License-Identifier: Apache-2.0

import JOSE

/// The check that an answer to a request does not pass. The wallet has to answer again.
///
/// The raw value is the check's name in reports and vectors.
public enum ResponseFault: String, Error, Hashable, Sendable, CaseIterable {
    /// Not five parts, or parts of other lengths.
    case form
    /// More bytes, or deeper values, than are read.
    case limits
    /// A part that is not base64url without padding.
    case base64URL = "base64url"
    /// Not JSON, or not an object where there must be one.
    case json
    /// A name that stands twice in one object.
    case duplicateMember = "json.duplicate-member"
    /// A key management algorithm other than ECDH-ES.
    case algorithm = "alg"
    /// An encryption that was not offered.
    case encryption = "enc"
    /// Compressed contents.
    case compressed = "zip"
    /// An extension that the reader must understand.
    case critical = "crit"
    /// The header names a key other than the request's.
    case keyID = "kid"
    /// No ephemeral P-256 key, or a point that is not on the curve.
    case ephemeralKey = "epk"
    /// Encrypted to another key, or changed since.
    case tag
    /// The answer to another request.
    case state
    /// Not one presentation for each credential that was asked for, and no other.
    case presentations = "vp_token"
    /// A sign-in that is not base64url.
    case signIn = "signet_sign_in"
    /// Digits that are not two.
    case digits = "signet_digits"
}

extension ResponseFault: TokenReadingFault {
    init(_ fault: EncryptedTokenFault) {
        switch fault {
        case .tooLong: self = .limits
        case .parts, .lengths: self = .form
        case .encoding: self = .base64URL
        case .header(let fault): self.init(fault)
        case .algorithm: self = .algorithm
        case .critical: self = .critical
        case .compressed: self = .compressed
        case .encryption: self = .encryption
        case .keyID: self = .keyID
        case .ephemeralKey: self = .ephemeralKey
        case .tag: self = .tag
        }
    }
}
