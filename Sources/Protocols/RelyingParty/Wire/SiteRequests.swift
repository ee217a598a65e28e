// SPDX-License-Identifier: Apache-2.0

/// A key, a challenge, and the key's signature for it: what signing in and objecting take.
///
/// Wire form, 129 bytes: 33-byte P-256 key, 32-byte challenge, 64-byte signature.
public struct SignedChallenge: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 129
    /// P-256, 33 bytes, compressed.
    public let publicKey: [UInt8]
    /// The site's, 32 bytes.
    public let challenge: [UInt8]
    /// r || s, 64 bytes; not verified.
    public let signature: [UInt8]

    /// A signed challenge of parts with their lengths; nothing is verified.
    public init(publicKey: [UInt8], challenge: [UInt8], signature: [UInt8]) {
        self.publicKey = publicKey
        self.challenge = challenge
        self.signature = signature
    }

    /// Reads the wire form; nil for another length. Verifies nothing.
    public init?(decoding bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(
            publicKey: Array(bytes[..<33]), challenge: Array(bytes[33..<65]), signature: Array(bytes[65...]))
    }

    /// The wire form.
    public var encoded: [UInt8] { publicKey + challenge + signature }

    /// The answer to a challenge that the site keeps, 97 bytes: 33-byte key, 64-byte signature.
    public var answer: [UInt8] { publicKey + signature }

    /// Reads the answer to a challenge.
    ///
    /// - Parameters:
    ///   - answer: 97 bytes. Verifies nothing.
    ///   - challenge: the site's own, 32 bytes. An answer to another one has no valid signature then.
    /// - Returns: nil for other lengths.
    public init?(answer: [UInt8], to challenge: [UInt8]) {
        guard challenge.count == 32 else { return nil }
        self.init(decoding: answer.prefix(33) + challenge + answer.dropFirst(33))
    }
}

/// The recovery key that the site has on file, and what it signed.
///
/// Wire form, 259 bytes: 33-byte P-256 key, then the 226 bytes of a `SiteRecovery`.
public struct SiteRecoveryRequest: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 33 + 226
    /// P-256, 33 bytes, compressed.
    public let recoveryKey: [UInt8]
    /// A `SiteRecovery` that was not verified, 226 bytes.
    public let statement: [UInt8]

    /// A request of parts with their lengths; nothing is verified.
    public init(recoveryKey: [UInt8], statement: [UInt8]) {
        self.recoveryKey = recoveryKey
        self.statement = statement
    }

    /// Reads the wire form; nil for another length. Verifies nothing.
    public init?(decoding bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(recoveryKey: Array(bytes[..<33]), statement: Array(bytes[33...]))
    }

    /// The wire form.
    public var encoded: [UInt8] { recoveryKey + statement }
}
