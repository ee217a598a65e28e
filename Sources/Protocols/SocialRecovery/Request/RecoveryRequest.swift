// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity

/// A new device asks for an identity back. Its hash goes into the log; the request itself to the guardians.
///
/// Wire form: `signet-recovery-request/v2` LF; scope (36); 33-byte new identity key; 1216-byte X-Wing key and 32-byte
/// Ed25519 signing key of the new device; 32-byte root of the numbers that it reveals for the spoken code, one a place
/// (``SpokenNumbers``); u64 created and u64 expires, in seconds since 1970; u8 length and name that the device gives itself;
/// 64-byte signature by the new identity key.
public struct RecoveryRequest: Hashable, Sendable {
    /// The longest name, in bytes.
    public static let maximumNameByteCount = 64
    private static let format: StaticString = "signet-recovery-request/v2\n"

    /// Account, and the epoch whose guardians are asked.
    public let scope: RecoveryScope
    /// P-256, 33 bytes: the identity key to be.
    public let identityKey: [UInt8]
    /// X-Wing, 1216 bytes: what shares are sealed to.
    public let sealingKey: [UInt8]
    /// Ed25519, 32 bytes: the new device's.
    public let signingKey: [UInt8]
    /// The root of the numbers that are revealed later, each to one guardian, for ``SpokenCode``; 32 bytes.
    public let revealRoot: [UInt8]
    /// In seconds since 1970.
    public let created: UInt64
    /// In seconds since 1970.
    public let expires: UInt64
    /// What the device calls itself, UTF-8; claimed, not proven.
    public let claimedName: [UInt8]
    let signature: [UInt8]

    /// Makes a request and signs it with the new identity key.
    ///
    /// - Throws: ``RecoveryRequestError``.
    public init(
        scope: RecoveryScope, identityKey: [UInt8], sealingKey: [UInt8], signingKey: [UInt8], revealRoot: [UInt8],
        created: UInt64, expires: UInt64, claimedName: [UInt8], signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoveryRequestError) {
        self.scope = scope
        self.identityKey = identityKey
        self.sealingKey = sealingKey
        self.signingKey = signingKey
        self.revealRoot = revealRoot
        self.created = created
        self.expires = expires
        self.claimedName = claimedName
        let unsigned = Self.unsigned(
            scope, identityKey, sealingKey, signingKey, revealRoot, created, expires, claimedName)
        guard let signature = try? sign(unsigned) else { throw .signingFailed }
        self.signature = signature
        try check(unsigned)
    }

    /// Reads and verifies the wire form.
    ///
    /// - Throws: ``RecoveryRequestError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryRequestError) {
        do throws(RecoveryFormatError) {
            self = try RecoveryFormat.read(bytes, Self.format) { reader in try RecoveryRequest(from: &reader) }
        } catch { throw .malformed(error) }
        try check(Array(bytes.dropLast(64)))
    }

    private init(from reader: inout ByteReader) throws {
        scope = try RecoveryScope(from: &reader)
        identityKey = try reader.array(33)
        sealingKey = try reader.array(PublicSealing.keyByteCount)
        signingKey = try reader.array(32)
        revealRoot = try reader.array(32)
        created = try reader.uint64()
        expires = try reader.uint64()
        claimedName = try reader.short()
        signature = try reader.array(64)
    }

    private func check(_ unsigned: [UInt8]) throws(RecoveryRequestError) {
        guard P256Text.isKey(identityKey), PublicSealing.isKey(sealingKey), signingKey.count == 32,
            revealRoot.count == 32
        else { throw .invalidKey }
        guard created < expires else { throw .invalidTimes }
        guard claimedName.count <= Self.maximumNameByteCount, String(validating: claimedName, as: UTF8.self) != nil
        else { throw .invalidName }
        guard P256Text.isValid(signature, over: unsigned, by: identityKey) else { throw .invalidSignature }
    }

    /// The wire form.
    public var encoded: [UInt8] {
        Self.unsigned(scope, identityKey, sealingKey, signingKey, revealRoot, created, expires, claimedName)
            + signature
    }

    /// SHA-256 of the wire form, 32 bytes: what the log holds, and what shares are bound to.
    public var hash: [UInt8] { Array(SHA256.hash(data: encoded)) }

    private static func unsigned(
        _ scope: RecoveryScope, _ identityKey: [UInt8], _ sealingKey: [UInt8], _ signingKey: [UInt8],
        _ revealRoot: [UInt8], _ created: UInt64, _ expires: UInt64, _ claimedName: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(scope.encoded)
        writer.write(identityKey)
        writer.write(sealingKey)
        writer.write(signingKey)
        writer.write(revealRoot)
        writer.write(created)
        writer.write(expires)
        writer.short(claimedName)
        return writer.bytes
    }
}

/// Why a request is refused.
public enum RecoveryRequestError: Error, Hashable, Sendable {
    /// It does not have the form.
    case malformed(RecoveryFormatError)
    /// A key is none, or the root of the numbers.
    case invalidKey
    /// It expires before it begins.
    case invalidTimes
    /// The name is too long or not UTF-8.
    case invalidName
    /// The new identity key did not sign it.
    case invalidSignature
    /// The caller's signing closure threw.
    case signingFailed
}
