public import CallSignalling
import CanonicalCoding
import Crypto

/// Makes and reads the tickets by which devices come into a room. A key lives as long as the process: after a restart
/// everybody needs another ticket.
///
/// Wire form of a ticket: 16-byte call, 32-byte device, u64 end in milliseconds of the uptime, 16-byte HMAC-SHA256 over these.
public struct TicketKey: Sendable {
    private static let tagByteCount = 16
    private let key = SymmetricKey(size: .bits256)

    /// A fresh key.
    public init() {}

    /// A ticket for a device of a call.
    ///
    /// - Parameter end: until when it lets the device in, in milliseconds of the relay's uptime.
    public func ticket(for device: CallDevice, in call: CallID, until end: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(call.bytes)
        writer.write(device.signingKey)
        writer.write(end)
        return writer.bytes + tag(writer.bytes)
    }

    /// What a ticket says; nil if this key did not make it.
    func read(_ ticket: [UInt8]) -> RelayTicket? {
        guard ticket.count == 56 + Self.tagByteCount else { return nil }
        let code = HMAC<SHA256>.authenticationCode(for: ticket[..<56], using: key)
        let difference = zip(code, ticket[56...]).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) }
        guard difference == 0, let call = CallID(Array(ticket[..<16])), let device = CallDevice(Array(ticket[16..<48]))
        else { return nil }
        return RelayTicket(call: call, device: device, end: ticket[48..<56].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// What whoever receives at an address must say; not secret from them, and unknown to others.
    func cookie(for address: [UInt8]) -> UInt64 {
        tag(Array("cookie".utf8) + address).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func tag(_ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key).prefix(Self.tagByteCount))
    }
}

/// Who may come into which room, and until when.
struct RelayTicket: Hashable {
    let call: CallID
    let device: CallDevice
    let end: UInt64
}
