// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import StrictJSON

/// The nonces of an issuer, of which it remembers none: each holds its time, under a key that the issuer alone has.
///
/// Spec: OpenID for Verifiable Credential Issuance 1.0, section 7.
///
/// Security: a nonce counts for ``lifetime`` seconds, and as often as it is used. What is done with it is done once because the token is
/// bound to one wallet, and a card to the keys that were first asked for.
public struct IssuanceNonce: Sendable {
    /// For how long a nonce counts, in seconds.
    public static let lifetime: Int64 = 300

    private let key: SymmetricKey

    /// The nonces under a key.
    ///
    /// - Parameter key: 32 random bytes, which outlive a restart of the issuer.
    public init(key: SymmetricKey) { self.key = key }

    /// A new nonce: 54 characters.
    ///
    /// - Parameters:
    ///   - random: 16 unpredictable bytes.
    ///   - now: seconds since 1970.
    public func nonce(random: [UInt8], at now: Int64) -> JSONText {
        var writer = ByteWriter()
        writer.write(UInt64(clamping: now))
        writer.write(random)
        let body = writer.bytes
        return JSONText(String(decoding: Base64URL.encode(body + tag(body)), as: UTF8.self))
    }

    /// Whether a text is a nonce of this issuer that still counts.
    public func isFresh(_ text: JSONText, at now: Int64) -> Bool {
        guard let bytes = try? Base64URL.decode(text.utf8), bytes.count == 40 else { return false }
        let body = Array(bytes[..<24])
        var reader = ByteReader(body)
        guard let time = (try? reader.uint64()).map({ Int64(clamping: $0) }), bytes[24...].elementsEqual(tag(body))
        else { return false }
        return time <= now && now - time <= Self.lifetime
    }

    private func tag(_ body: [UInt8]) -> [UInt8] {
        let message = Array("signet-issuance-nonce/v1\n".utf8) + body
        return Array(HMAC<SHA256>.authenticationCode(for: message, using: key)).prefix(16).map { $0 }
    }
}
