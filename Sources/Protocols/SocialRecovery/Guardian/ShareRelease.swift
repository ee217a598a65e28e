// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
public import KeyTransparency
import SecretMemory
import SecretSharing

/// A guardian's share on its way to the new device, which alone can open it, for the one request it answers.
///
/// Wire form: `signet-release/v2` LF; 32-byte hash of the request; scope (36); u8 length and guardian's handle; sealed
/// part; 64-byte signature by the guardian's identity key over everything before. Sealed part: u16 place, 32-byte share,
/// u8 place, 32-byte part of the key to the guardian list, 32-byte part of the seed of the journal's key, with X-Wing to the
/// request's key; purpose `signet-release/v2`, context request hash and scope.
public struct ShareRelease: Hashable, Sendable {
    private static let format: StaticString = "signet-release/v2\n"
    static let sealedByteCount = plaintextByteCount + PublicSealing.overhead
    private static let plaintextByteCount = 2 + 32 + GuardianParts.byteCount

    /// SHA-256 of the request, 32 bytes.
    public let request: [UInt8]
    /// Account and epoch.
    public let scope: RecoveryScope
    /// Who released it.
    public let guardian: Handle
    let sealed: [UInt8]
    let signature: [UInt8]

    /// Nil when the request's key cannot be sealed to, or `sign` fails.
    package init?(
        _ packet: GuardianPacket, for request: RecoveryRequest, signing sign: ([UInt8]) throws -> [UInt8]
    ) {
        var writer = ByteWriter()
        writer.write(packet.share.index.value)
        packet.share.scalar.withBytes { writer.write(span: $0) }
        packet.parts.write(to: &writer)
        var plaintext = writer.bytes
        defer { plaintext.wipe() }
        self.request = request.hash
        scope = packet.scope
        guardian = packet.guardian
        guard
            let sealed = PublicSealing.seal(
                plaintext, to: request.sealingKey, purpose: "signet-release/v2",
                context: self.request + scope.encoded),
            let signature = try? sign(Self.unsigned(self.request, scope, guardian, sealed)), signature.count == 64
        else { return nil }
        self.sealed = sealed
        self.signature = signature
    }

    /// Reads the wire form; the new device verifies it when it takes it.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in try ShareRelease(from: &reader) }
    }

    private init(from reader: inout ByteReader) throws {
        request = try reader.array(32)
        scope = try RecoveryScope(from: &reader)
        guardian = try reader.handle()
        sealed = try reader.array(Self.sealedByteCount)
        signature = try reader.array(64)
    }

    /// The wire form.
    public var encoded: [UInt8] { Self.unsigned(request, scope, guardian, sealed) + signature }

    private static func unsigned(
        _ request: [UInt8], _ scope: RecoveryScope, _ guardian: Handle, _ sealed: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(request)
        writer.write(scope.encoded)
        writer.short(guardian.bytes)
        writer.write(sealed)
        return writer.bytes
    }

    /// Whether the guardian's identity key, 33 bytes, signed it.
    func isSigned(by identityKey: [UInt8]) -> Bool {
        P256Text.isValid(signature, over: Self.unsigned(request, scope, guardian, sealed), by: identityKey)
    }

    /// The share and the parts; nil when it was not sealed to this device for its request, or is not a share.
    func open(with key: SealingKey) -> (share: SecretShare, parts: GuardianParts)? {
        guard
            var plaintext = PublicSealing.open(
                sealed, with: key, purpose: "signet-release/v2", context: request + scope.encoded)
        else { return nil }
        defer { plaintext.wipe() }
        return try? RecoveryFormat.read(plaintext, "") { reader in
            guard let index = ShareIndex(try reader.uint16()) else { throw RecoveryFormatError.invalidField }
            let share = SecretShare(index: index, scalar: try SecretScalar(reader.array(32)))
            return (share, try GuardianParts(from: &reader))
        }
    }
}
