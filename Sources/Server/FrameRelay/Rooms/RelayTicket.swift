// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import CanonicalCoding
import Crypto

// swift-crypto's boxes speak `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes and reads the tickets by which devices come into a room. A key lives as long as the process: after a restart
/// every device needs another ticket.
///
/// Wire form of a ticket: a box of ChaCha20-Poly1305: 12-byte nonce, 64 bytes, 16-byte tag. In it: 16-byte call, 32-byte device, u64
/// account, u64 end in milliseconds of the uptime.
///
/// Security: for all but the relay, a ticket is noise; two of one device, or of one call, have nothing in common.
public struct TicketKey: Sendable {
    private static let contentByteCount = 64
    private let key = SymmetricKey(size: .bits256)

    /// A fresh key.
    public init() {}

    /// A ticket for a device of a call.
    ///
    /// - Parameter end: until when it lets the device in, in milliseconds of the relay's uptime.
    public func ticket(for device: CallDevice, of account: Int64, in call: CallID, until end: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(call.bytes)
        writer.write(device.signingKey)
        writer.write(UInt64(bitPattern: account))
        writer.write(end)
        // Sealing fails for a nonce of another length only, and this one is made by the library: then there is no ticket.
        return (try? ChaChaPoly.seal(writer.bytes, using: key)).map { Array($0.combined) } ?? []
    }

    /// What a ticket says; nil if this key did not make it.
    func read(_ ticket: [UInt8]) -> RelayTicket? {
        guard let box = try? ChaChaPoly.SealedBox(combined: ticket),
            let content = try? ChaChaPoly.open(box, using: key),
            content.count == Self.contentByteCount
        else { return nil }
        let bytes = Array(content)
        guard let call = CallID(Array(bytes[..<16])), let device = CallDevice(Array(bytes[16..<48])) else { return nil }
        return RelayTicket(
            place: RelayPlace(call: call, device: device), account: Int64(bitPattern: Self.number(bytes[48..<56])),
            end: Self.number(bytes[56...]))
    }

    /// What the device and the relay have in common, 16 bytes: the same for as long as the relay lives.
    public func sessionKey(of device: CallDevice, in call: CallID) -> [UInt8] {
        Array(tag(Array("session".utf8) + call.bytes + device.signingKey).prefix(RelayKey.byteCount))
    }

    /// What the receiver at an address must repeat; it is known to that receiver and unknown to others.
    func cookie(for address: [UInt8]) -> UInt64 { Self.number(tag(Array("cookie".utf8) + address).prefix(8)) }

    private func tag(_ bytes: [UInt8]) -> [UInt8] { Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)) }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// A device in a call.
struct RelayPlace: Hashable {
    let call: CallID
    let device: CallDevice
}

/// The device that may enter a room, the room, and the time until which it may.
struct RelayTicket: Hashable {
    let place: RelayPlace
    let account: Int64
    let end: UInt64
}
