// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// What a person hands to a site to become known: a key, and the key that will succeed it after a recovery.
///
/// Wire form, 162 bytes: 32-byte challenge, 33-byte key, 33-byte recovery key, 64-byte signature by the key.
public struct SiteRegistration: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 162
    /// The site's, 32 random bytes for one use.
    public let challenge: [UInt8]
    /// P-256, 33 bytes.
    public let publicKey: [UInt8]
    /// P-256, 33 bytes.
    public let recoveryKey: [UInt8]
    /// 64 bytes, r || s.
    public let signature: [UInt8]

    /// Signs a registration with the key of this site.
    ///
    /// - Throws: ``SiteStatementError``; what `sign` throws is ``SiteStatementError/signingFailed``.
    public init(
        at host: VerifiedHost, challenge: [UInt8], publicKey: [UInt8], recoveryKey: [UInt8],
        signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(SiteStatementError) {
        let message = Self.message(host, challenge, publicKey, recoveryKey)
        guard let signature = try? sign(message) else { throw .signingFailed }
        try self.init(challenge, publicKey, recoveryKey, signature, at: host)
    }

    /// Reads and verifies the wire form, for the site.
    ///
    /// - Throws: ``SiteStatementError``: another challenge or site, or not signed by the key it names.
    public init(decoding bytes: [UInt8], at host: VerifiedHost, challenge: [UInt8]) throws(SiteStatementError) {
        guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
        guard bytes.prefix(32).elementsEqual(challenge) else { throw .anotherChallenge }
        try self.init(challenge, Array(bytes[32..<65]), Array(bytes[65..<98]), Array(bytes[98...]), at: host)
    }

    /// The wire form.
    public var encoded: [UInt8] { challenge + publicKey + recoveryKey + signature }

    package init(
        _ challenge: [UInt8], _ publicKey: [UInt8], _ recoveryKey: [UInt8], _ signature: [UInt8],
        at host: VerifiedHost
    ) throws(SiteStatementError) {
        guard challenge.count == 32 else { throw .invalidChallenge(challenge.count) }
        guard P256Text.isKey(publicKey), P256Text.isKey(recoveryKey), publicKey != recoveryKey else {
            throw .invalidKey
        }
        let message = Self.message(host, challenge, publicKey, recoveryKey)
        guard P256Text.isValid(signature, over: message, by: publicKey) else { throw .invalidSignature }
        self.challenge = challenge
        self.publicKey = publicKey
        self.recoveryKey = recoveryKey
        self.signature = signature
    }

    /// The text that the key signs.
    package static func message(
        _ host: VerifiedHost, _ challenge: [UInt8], _ publicKey: [UInt8], _ recoveryKey: [UInt8]
    ) -> [UInt8] {
        SiteStatement.message("signet-site-register/v1\n", host, challenge, [publicKey, recoveryKey])
    }
}

/// What a person signs in with: a signature over the site's challenge by the key that this site knows.
public struct SiteSignIn: Hashable, Sendable {
    /// 64 bytes, r || s.
    public let signature: [UInt8]

    /// Signs a challenge of 32 bytes.
    ///
    /// - Throws: ``SiteStatementError``.
    public init(
        at host: VerifiedHost, challenge: [UInt8], publicKey: [UInt8], signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(SiteStatementError) {
        guard let signature = try? sign(Self.message(host, challenge, publicKey)) else { throw .signingFailed }
        try self.init(signature, at: host, challenge: challenge, publicKey: publicKey)
    }

    /// Verifies 64 received bytes, for the site.
    ///
    /// - Parameter publicKey: what the site has on file.
    /// - Throws: ``SiteStatementError``: not signed by this key for this challenge and site.
    public init(
        _ signature: [UInt8], at host: VerifiedHost, challenge: [UInt8], publicKey: [UInt8]
    ) throws(SiteStatementError) {
        guard challenge.count == 32 else { throw .invalidChallenge(challenge.count) }
        guard P256Text.isValid(signature, over: Self.message(host, challenge, publicKey), by: publicKey) else {
            throw .invalidSignature
        }
        self.signature = signature
    }

    /// The text that the key signs.
    package static func message(_ host: VerifiedHost, _ challenge: [UInt8], _ publicKey: [UInt8]) -> [UInt8] {
        SiteStatement.message("signet-site-sign-in/v1\n", host, challenge, [publicKey])
    }
}

/// What a person hands to a site after a recovery: new keys, signed by the recovery key that the site has on file.
///
/// Nothing in it is equal to what another site gets.
///
/// Wire form, 226 bytes: 32-byte challenge, 33-byte new key, 33-byte new recovery key, 64-byte signature by the old
/// recovery key, 64-byte signature by the new key.
public struct SiteRecovery: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 226
    /// The site's, 32 random bytes for one use.
    public let challenge: [UInt8]
    /// P-256, 33 bytes.
    public let publicKey: [UInt8]
    /// P-256, 33 bytes.
    public let recoveryKey: [UInt8]
    /// By the recovery key that the site has on file, 64 bytes.
    public let recoverySignature: [UInt8]
    /// By the new key, 64 bytes.
    public let signature: [UInt8]

    /// Signs new keys with the old recovery key and the new key.
    ///
    /// - Throws: ``SiteStatementError``.
    public init(
        at host: VerifiedHost, challenge: [UInt8], oldRecoveryKey: [UInt8], publicKey: [UInt8], recoveryKey: [UInt8],
        recovering: ([UInt8]) throws -> [UInt8], signing: ([UInt8]) throws -> [UInt8]
    ) throws(SiteStatementError) {
        let message = Self.message(host, challenge, [oldRecoveryKey, publicKey, recoveryKey])
        guard let first = try? recovering(message), let second = try? signing(message) else {
            throw .signingFailed
        }
        let bytes = challenge + publicKey + recoveryKey + first + second
        try self.init(decoding: bytes, at: host, challenge: challenge, oldRecoveryKey: oldRecoveryKey)
    }

    /// Reads and verifies the wire form, for the site.
    ///
    /// - Parameter oldRecoveryKey: what the site has on file.
    /// - Throws: ``SiteStatementError``.
    public init(
        decoding bytes: [UInt8], at host: VerifiedHost, challenge: [UInt8], oldRecoveryKey: [UInt8]
    ) throws(SiteStatementError) {
        guard challenge.count == 32 else { throw .invalidChallenge(challenge.count) }
        guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
        guard bytes.prefix(32).elementsEqual(challenge) else { throw .anotherChallenge }
        self.challenge = challenge
        publicKey = Array(bytes[32..<65])
        recoveryKey = Array(bytes[65..<98])
        recoverySignature = Array(bytes[98..<162])
        signature = Array(bytes[162...])
        guard P256Text.isKey(publicKey), P256Text.isKey(recoveryKey),
            Set([publicKey, recoveryKey, oldRecoveryKey]).count == 3
        else { throw .invalidKey }
        let message = Self.message(host, challenge, [oldRecoveryKey, publicKey, recoveryKey])
        guard P256Text.isValid(recoverySignature, over: message, by: oldRecoveryKey),
            P256Text.isValid(signature, over: message, by: publicKey)
        else { throw .invalidSignature }
    }

    /// The wire form.
    public var encoded: [UInt8] { challenge + publicKey + recoveryKey + recoverySignature + signature }

    /// The text that both keys sign; `keys` are the old recovery key, the new key and the new recovery key.
    package static func message(_ host: VerifiedHost, _ challenge: [UInt8], _ keys: [[UInt8]]) -> [UInt8] {
        SiteStatement.message("signet-site-recover/v1\n", host, challenge, keys)
    }
}

/// How a person stops a ``SiteRecovery`` that waits at a site: signed by the key that still counts there.
public struct SiteObjection: Hashable, Sendable {
    /// 64 bytes, r || s.
    public let signature: [UInt8]

    /// Verifies 64 received bytes.
    ///
    /// - Parameter publicKey: what the site has on file.
    /// - Throws: ``SiteStatementError``: not signed by this key for this challenge and site.
    public init(
        _ signature: [UInt8], at host: VerifiedHost, challenge: [UInt8], publicKey: [UInt8]
    ) throws(SiteStatementError) {
        guard challenge.count == 32 else { throw .invalidChallenge(challenge.count) }
        guard P256Text.isValid(signature, over: Self.message(host, challenge, publicKey), by: publicKey) else {
            throw .invalidSignature
        }
        self.signature = signature
    }

    /// The text that the key signs.
    package static func message(_ host: VerifiedHost, _ challenge: [UInt8], _ publicKey: [UInt8]) -> [UInt8] {
        SiteStatement.message("signet-site-object/v1\n", host, challenge, [publicKey])
    }
}

/// The signed text of all four: first line, u16 length and host, challenge, keys.
private enum SiteStatement {
    static func message(
        _ format: StaticString, _ host: VerifiedHost, _ challenge: [UInt8], _ keys: [[UInt8]]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(UInt16(host.text.count))
        writer.write(host.text)
        writer.write(challenge)
        for key in keys { writer.write(key) }
        return writer.bytes
    }
}

/// Why a statement to a site is refused. None is worth a retry with the same bytes.
public enum SiteStatementError: Error, Hashable, Sendable {
    /// The wire form has this many bytes, which is not its length.
    case invalidLength(Int)
    /// The caller's challenge is not 32 bytes.
    case invalidChallenge(Int)
    /// The statement answers another challenge.
    case anotherChallenge
    /// The keys are not different P-256 points.
    case invalidKey
    /// Not signed by the key it has to be, for this site.
    case invalidSignature
    /// The caller's signing closure threw.
    case signingFailed
}
