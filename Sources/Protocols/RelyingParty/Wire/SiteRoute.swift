// SPDX-License-Identifier: Apache-2.0

/// What a site answers to: five paths, all POST, with binary bodies of one length each.
///
/// | route | body | answer |
/// |---|---|---|
/// | challenge | nothing | 32 bytes, good once and for five minutes |
/// | register | `SiteRegistration`, 162 bytes | ``SiteAnswer`` |
/// | sign-in | ``SignedChallenge``, 129 bytes | ``SiteAnswer`` |
/// | recover | ``SiteRecoveryRequest``, 259 bytes | ``SiteAnswer`` |
/// | object | ``SignedChallenge``, 129 bytes | ``SiteAnswer`` |
public enum SiteRoute: String, Hashable, Sendable, CaseIterable {
    /// Asks for 32 bytes to sign.
    case challenge
    /// A person becomes known.
    case register
    /// A person who is known comes back.
    case signIn = "sign-in"
    /// A person who lost their key brings a new one, signed by the recovery key that the site has.
    case recover
    /// The present key says no to a recovery that waits.
    case object

    /// The only media type of bodies and answers.
    public static let mediaType = "application/octet-stream"

    /// The path, ASCII.
    public var path: String { "/.well-known/signet/\(rawValue)" }

    /// The only length that a body may have, in bytes.
    public var byteCount: Int {
        switch self {
        case .challenge: 0
        case .register: 162
        case .signIn, .object: SignedChallenge.byteCount
        case .recover: SiteRecoveryRequest.byteCount
        }
    }

    /// The longest answer, in bytes.
    public var maximumAnswerByteCount: Int { self == .challenge ? 32 : SiteAnswer.maximumByteCount }
}
