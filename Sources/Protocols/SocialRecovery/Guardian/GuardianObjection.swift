// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency

/// "This was not me", by a device of the owner, for guardians: what the log says too, on a way that its server cannot close.
///
/// An owner to whom the server does not show the request objects to *any* request: permanently to those made before
/// ``time``, and to every request that a guardian's device handles within a day after it.
///
/// Wire form: `signet-objection/v1` LF; u8 length and owner's handle; 32-byte hash of the request; u16 number of the device;
/// u64 time in seconds since 1970; 64-byte Ed25519 signature by the device over all before.
public struct GuardianObjection: Hashable, Sendable {
    private static let format: StaticString = "signet-objection/v1\n"

    /// Whose identity is asked for.
    public let owner: Handle
    /// SHA-256 of the request, 32 bytes; ``anything`` for any request.
    public let request: [UInt8]
    /// Number of the device that objects and signs.
    public let device: UInt16
    /// In seconds since 1970.
    public let time: UInt64
    let signature: [UInt8]

    /// Instead of a hash: 32 zero bytes, which belong to no request.
    public static let anything = [UInt8](repeating: 0, count: 32)
    /// For how long an objection to anything stops requests that are made after it, in seconds: as long as the server takes no
    /// new start after an objection that it logged.
    public static let lifetime = RecoveryStop.freeze
    /// How far a device's clock may be ahead of a guardian's, in seconds.
    static let clockSkew: UInt64 = 3600

    /// Whether it is about a request.
    ///
    /// - Parameters:
    ///   - request: of the owner's account.
    ///   - now: the guardian's clock, in seconds since 1970.
    public func covers(_ request: RecoveryRequest, of owner: Handle, at now: UInt64) -> Bool {
        guard owner == self.owner else { return false }
        guard self.request == Self.anything else { return self.request == request.hash }
        guard time <= now + Self.clockSkew else { return false }
        return request.created < time || now < time + Self.lifetime
    }

    /// An objection of a device.
    ///
    /// - Parameters:
    ///   - request: SHA-256 of the request, 32 bytes.
    ///   - sign: gives the device's 64-byte Ed25519 signature.
    /// - Throws: any error that `sign` throws.
    public init<Failure: Error>(
        to request: [UInt8], of owner: Handle, by device: UInt16, at time: UInt64,
        signing sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        self.owner = owner
        self.request = request
        self.device = device
        self.time = time
        signature = try sign(Self.unsigned(owner, request, device, time))
    }

    /// Reads the wire form; ``isSigned(by:)`` says whether it counts.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in try GuardianObjection(from: &reader) }
    }

    private init(from reader: inout ByteReader) throws {
        owner = try reader.handle()
        request = try reader.array(32)
        device = try reader.uint16()
        time = try reader.uint64()
        signature = try reader.array(64)
    }

    /// The wire form.
    public var encoded: [UInt8] { Self.unsigned(owner, request, device, time) + signature }

    /// Whether a device that this state lists signed it.
    ///
    /// - Parameter state: the owner's last state, from a verified lookup, however old.
    public func isSigned(by state: AccountState) -> Bool {
        guard state.handle == owner, let device = state.devices.first(where: { $0.number == device }),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: device.keys.signing)
        else { return false }
        return key.isValidSignature(signature, for: Self.unsigned(owner, request, self.device, time))
    }

    private static func unsigned(_ owner: Handle, _ request: [UInt8], _ device: UInt16, _ time: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.short(owner.bytes)
        writer.write(request)
        writer.write(device)
        writer.write(time)
        return writer.bytes
    }
}
