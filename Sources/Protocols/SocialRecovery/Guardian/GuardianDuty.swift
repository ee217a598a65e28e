// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import KeyTransparency

/// What a guardian's device keeps for one person: the sealed packets of the sets that the log names, and the newest of one that is
/// not in force yet.
///
/// Wire form: `signet-duty/v2` LF; u8 length and owner's handle; u8 count, 1 to 3; for each packet, newest first: scope
/// (36), u16 length and the sealed packet. In version 1 the packets had 1105 bytes each and no length; they are kept and shown,
/// and open nothing any more.
public struct GuardianDuty: Hashable, Sendable {
    private static let format: StaticString = "signet-duty/v2\n"
    private static let firstFormat: StaticString = "signet-duty/v1\n"
    private static let firstSealedByteCount = 1105

    /// Whose identity.
    public let owner: Handle
    /// The sealed packets by epoch, newest first; one to three.
    private var packets: [(scope: RecoveryScope, sealed: [UInt8])] {
        get { zip(scopes, sealed).map { ($0, $1) } }
        set { (scopes, sealed) = (newValue.map(\.scope), newValue.map(\.sealed)) }
    }
    private var scopes: [RecoveryScope]
    private var sealed: [[UInt8]]

    /// Takes on a duty, once the packet opened.
    public init(keeping packet: GuardianPacket, sealed: [UInt8]) {
        owner = packet.owner
        scopes = [packet.scope]
        self.sealed = [sealed]
    }

    /// The epochs of which a packet is kept, newest first.
    public var epochs: [UInt32] { scopes.map(\.epoch) }

    /// Keeps a packet beside those of the sets that the log names, in the place of any other.
    ///
    /// - Parameter named: epochs of the sets that the owner's log names. A holder of one of the owner's devices can
    ///   send any number of packets, and they displace none of these.
    /// - Throws: ``GuardianDutyError``: of another account, or not newer than what the log names.
    public mutating func keep(
        _ packet: GuardianPacket, sealed: [UInt8], beside named: Set<UInt32>
    ) throws(GuardianDutyError) {
        // The label may be another one: a log that goes on from another hides handles under a key of its own.
        guard packet.owner == owner else { throw .anotherAccount }
        if packet.scope == scopes[0], sealed == self.sealed[0] { return }
        let kept = packets.filter { named.contains($0.scope.epoch) }
        let held = kept.map(\.scope.epoch).max() ?? 0
        guard packet.scope.epoch > held, kept.count <= 2 else { throw .notNewer(held: held) }
        packets = [(packet.scope, sealed)] + kept
    }

    /// The owner's account committed to an epoch: packets of earlier ones go.
    ///
    /// - Throws: ``GuardianDutyError/notKept(epoch:)``: no packet of this epoch is here; nothing is deleted.
    public mutating func retire(before epoch: UInt32) throws(GuardianDutyError) {
        guard scopes.contains(where: { $0.epoch == epoch }) else { throw .notKept(epoch: epoch) }
        packets = packets.filter { $0.scope.epoch >= epoch }
    }

    /// Opens the packet of an epoch; see ``GuardianPacket``.
    ///
    /// - Throws: ``GuardianDutyError``.
    public func packet(
        epoch: UInt32, with key: SealingKey, as guardian: Handle, identityKey: [UInt8]
    ) throws(GuardianDutyError) -> GuardianPacket {
        guard let kept = packets.first(where: { $0.scope.epoch == epoch }) else { throw .notKept(epoch: epoch) }
        do throws(GuardianPacketError) {
            return try GuardianPacket(
                opening: kept.sealed, with: key, scope: kept.scope, as: guardian, from: owner,
                identityKey: identityKey)
        } catch { throw .packet(error) }
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.short(owner.bytes)
        writer.write(UInt8(scopes.count))
        for packet in packets {
            writer.write(packet.scope.encoded)
            writer.write(UInt16(truncatingIfNeeded: packet.sealed.count))
            writer.write(packet.sealed)
        }
        return writer.bytes
    }

    /// Reads what the guardian's device kept.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        do throws(RecoveryFormatError) {
            self = try RecoveryFormat.read(bytes, Self.format) { reader in
                try GuardianDuty(from: &reader) { reader in try reader.array(Int(reader.uint16())) }
            }
        } catch {
            guard error == .anotherVersion else { throw error }
            self = try RecoveryFormat.read(bytes, Self.firstFormat) { reader in
                try GuardianDuty(from: &reader) { reader in try reader.array(Self.firstSealedByteCount) }
            }
        }
    }

    private init(
        from reader: inout ByteReader, packet: (inout ByteReader) throws -> [UInt8]
    ) throws {
        owner = try reader.handle()
        (scopes, sealed) = ([], [])
        for _ in 0..<(try reader.uint8()) {
            scopes.append(try RecoveryScope(from: &reader))
            sealed.append(try packet(&reader))
        }
        guard (1...3).contains(scopes.count),
            zip(scopes, scopes.dropFirst()).allSatisfy({ $0.epoch > $1.epoch })
        else { throw RecoveryFormatError.invalidField }
    }
}

/// Why a guardian's device does not keep or open a packet.
public enum GuardianDutyError: Error, Hashable, Sendable {
    /// The packet is another account's.
    case anotherAccount
    /// The log names a set of this epoch, whose packet is kept: an old packet came again.
    case notNewer(held: UInt32)
    /// No packet of this epoch is kept.
    case notKept(epoch: UInt32)
    /// The packet does not open.
    case packet(GuardianPacketError)
}
