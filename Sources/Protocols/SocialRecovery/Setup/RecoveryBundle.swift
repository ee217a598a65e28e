// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
public import KeyTransparency
import SecretSharing

/// Everything that a new device needs besides the guardians, in one file that reveals little to its storage server.
///
/// Wire form: `signet-bundle/v2` LF; scope (36); u64 time; u32 delay in seconds; 1216-byte X-Wing key to which the journal is
/// sealed; the sealed guardian list; 32-byte head and u32 count of the journal when it was made; 64-byte signature by the
/// owner's identity key.
///
/// Security: all bundles have one length. Its holder learns neither the guardians, nor their number, nor how many are
/// needed, nor the recovery key. Two guardians together learn them, and so does the new device once two have helped.
public struct RecoveryBundle: Hashable, Sendable {
    /// A bundle's length in bytes.
    public static let byteCount =
        17 + 36 + 8 + 4 + PublicSealing.keyByteCount + GuardianDirectory.sealedByteCount + 32 + 4 + 64
    private static let format: StaticString = "signet-bundle/v2\n"

    /// Account and epoch.
    public let scope: RecoveryScope
    /// When it was made, in seconds since 1970.
    public let created: UInt64
    /// How long a recovery is open to objection, in seconds.
    public let delay: UInt32
    /// X-Wing, 1216 bytes: what the journal is sealed to.
    public let journalKey: [UInt8]
    /// The list of guardians, which two of them have to help to open.
    public let directory: GuardianDirectory
    /// The journal's head then, 32 bytes.
    public let journalHead: [UInt8]
    /// How many records the journal had then.
    public let journalCount: UInt32
    let signature: [UInt8]

    init(
        scope: RecoveryScope, created: UInt64, delay: UInt32, journalKey: [UInt8], directory: GuardianDirectory,
        journalHead: [UInt8], journalCount: UInt32, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoverySetupError) {
        self.scope = scope
        self.created = created
        self.delay = delay
        self.journalKey = journalKey
        self.directory = directory
        self.journalHead = journalHead
        self.journalCount = journalCount
        let unsigned = Self.unsigned(scope, created, delay, journalKey, directory, journalHead, journalCount)
        guard let signature = try? sign(unsigned), signature.count == 64 else { throw .signingFailed }
        self.signature = signature
    }

    /// The wire form.
    public var encoded: [UInt8] {
        Self.unsigned(scope, created, delay, journalKey, directory, journalHead, journalCount) + signature
    }

    /// SHA-256 of the wire form, 32 bytes.
    public var hash: [UInt8] { Array(SHA256.hash(data: encoded)) }

    private static func unsigned(
        _ scope: RecoveryScope, _ created: UInt64, _ delay: UInt32, _ journalKey: [UInt8],
        _ directory: GuardianDirectory, _ journalHead: [UInt8], _ journalCount: UInt32
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(scope.encoded)
        writer.write(created)
        writer.write(delay)
        writer.write(journalKey)
        writer.write(directory.sealed)
        writer.write(journalHead)
        writer.write(journalCount)
        return writer.bytes
    }

    /// Reads a bundle and demands that it is the one that the account committed to.
    ///
    /// - Parameter commitment: whose hash the account's verified state holds.
    /// - Throws: ``RecoveryBundleError``: malformed, or an older or another bundle.
    public init(decoding bytes: [UInt8], commitment: RecoveryCommitment) throws(RecoveryBundleError) {
        guard bytes.count <= 2 * Self.byteCount else { throw .tooLong(bytes.count) }
        guard Array(SHA256.hash(data: bytes)) == commitment.bundleHash else { throw .notCommitted }
        do throws(RecoveryFormatError) { try self.init(unchecked: bytes) } catch { throw .malformed(error) }
        guard scope.epoch == commitment.epoch, delay == commitment.delay else { throw .notCommitted }
    }

    init(unchecked bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in try RecoveryBundle(from: &reader) }
    }

    private init(from reader: inout ByteReader) throws {
        scope = try RecoveryScope(from: &reader)
        created = try reader.uint64()
        delay = try reader.uint32()
        guard delay <= RecoveryCommitment.maximumDelay else { throw RecoveryFormatError.invalidField }
        journalKey = try reader.array(PublicSealing.keyByteCount)
        directory = GuardianDirectory(sealed: try reader.array(GuardianDirectory.sealedByteCount))
        journalHead = try reader.array(32)
        journalCount = try reader.uint32()
        signature = try reader.array(64)
    }

    /// Demands the signature of an identity key.
    ///
    /// - Throws: ``RecoveryBundleError/invalidSignature``.
    public func verify(signedBy identityKey: [UInt8]) throws(RecoveryBundleError) {
        let unsigned = Array(encoded.dropLast(64))
        guard P256Text.isValid(signature, over: unsigned, by: identityKey) else { throw .invalidSignature }
    }
}

/// Why a bundle is not used.
public enum RecoveryBundleError: Error, Hashable, Sendable {
    /// More than twice ``RecoveryBundle/byteCount`` bytes.
    case tooLong(Int)
    /// It is not the bundle that the account committed to, but an older or newer one, or another person's. Stop, and
    /// fetch again.
    case notCommitted
    /// It does not have the form.
    case malformed(RecoveryFormatError)
    /// The identity key did not sign it.
    case invalidSignature
}
