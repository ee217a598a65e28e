import CanonicalCoding
import Crypto
import DeviceIdentity
public import KeyTransparency

/// One of the owner's own devices stops a recovery: "this was not me".
///
/// Wire form, 158 bytes: `signet-objection/v1` LF; 32-byte label index; 32-byte hash of the request; u16 device number;
/// u64 time in seconds since 1970; 64-byte Ed25519 signature by the device over everything before.
public struct RecoveryObjection: Hashable, Sendable {
    private static let format: StaticString = "signet-objection/v1\n"

    /// The account.
    public let label: LabelIndex
    /// Against which request, 32 bytes.
    public let request: [UInt8]
    /// Number of the device that objects.
    public let device: UInt16
    /// In seconds since 1970.
    public let time: UInt64
    let signature: [UInt8]

    /// Signs an objection with a device's key.
    ///
    /// - Throws: ``RecoveryObjectionError/signingFailed``.
    public init(
        label: LabelIndex, request: [UInt8], device: UInt16, time: UInt64, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoveryObjectionError) {
        self.label = label
        self.request = request
        self.device = device
        self.time = time
        guard let signature = try? sign(Self.unsigned(label, request, device, time)), signature.count == 64 else {
            throw .signingFailed
        }
        self.signature = signature
    }

    /// Reads the wire form; ``verify(by:against:)`` verifies it.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in try RecoveryObjection(from: &reader) }
    }

    private init(from reader: inout ByteReader) throws {
        guard let label = LabelIndex(try reader.array(32)) else { throw RecoveryFormatError.invalidField }
        self.label = label
        request = try reader.array(32)
        device = try reader.uint16()
        time = try reader.uint64()
        signature = try reader.array(64)
    }

    /// Demands that a device of the account objects to the request that is under way. The entry for the log comes out.
    ///
    /// - Parameter state: the account's last state.
    /// - Throws: ``RecoveryObjectionError``.
    public func verify(
        by state: AccountState, against logged: RecoveryTimeline, at now: UInt64
    ) throws(RecoveryObjectionError) -> RecoveryLogEntry {
        guard logged.label == label, logged.logged(at: now)?.request == request else { throw .noSuchRequest }
        guard let record = state.devices.first(where: { $0.number == device }) else { throw .noSuchDevice(device) }
        let message = Self.unsigned(label, request, device, time)
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: record.keys.signing),
            key.isValidSignature(signature, for: message)
        else { throw .invalidSignature }
        return .cancel(label, request: request)
    }

    /// The wire form.
    public var encoded: [UInt8] { Self.unsigned(label, request, device, time) + signature }

    private static func unsigned(
        _ label: LabelIndex, _ request: [UInt8], _ device: UInt16, _ time: UInt64
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(label.bytes)
        writer.write(request)
        writer.write(device)
        writer.write(time)
        return writer.bytes
    }
}

/// Why an objection is refused.
public enum RecoveryObjectionError: Error, Hashable, Sendable {
    /// The caller's signing closure threw.
    case signingFailed
    /// No such request is under way.
    case noSuchRequest
    /// The account has no device of this number.
    case noSuchDevice(UInt16)
    /// The device did not sign it.
    case invalidSignature
}
