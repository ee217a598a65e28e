import CanonicalCoding

/// A datagram between a device and the relay of frames.
///
/// A device says hello with its ticket, is asked to say it again with a cookie, which only whoever receives at its address
/// gets, and is let in. From then on its address stands for it.
///
/// Wire form: u8 kind, then the fields of the kind up to the end of the datagram.
///
/// Security: nothing here is authenticated beyond the address. Frames are, by SFrame; the relay and whoever forges an address
/// can drop, repeat and invent packets, and open none.
public enum RelayPacket: Hashable, Sendable {
    /// 1. A device wants in, or stays in: cookie (8, zeros before one is known), ticket (1 to ``maximumTicketByteCount``).
    case hello(cookie: UInt64, ticket: [UInt8])
    /// 2. The relay wants the hello again with this cookie (8).
    case challenge(UInt64)
    /// 3. The device is in.
    case welcome
    /// 4. A frame, for all others in the call.
    case frame([UInt8])
    /// 5. The device goes.
    case farewell
    /// 6. The ticket is none, is over, or there is no room.
    case refused

    /// No datagram is longer, in bytes: it fits into one packet of any network.
    public static let maximumByteCount = 1400
    /// No ticket is longer, in bytes.
    public static let maximumTicketByteCount = 128

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .hello(let cookie, let ticket):
            writer.write(1 as UInt8)
            writer.write(cookie)
            writer.write(ticket)
        case .challenge(let cookie):
            writer.write(2 as UInt8)
            writer.write(cookie)
        case .welcome: writer.write(3 as UInt8)
        case .frame(let frame):
            writer.write(4 as UInt8)
            writer.write(frame)
        case .farewell: writer.write(5 as UInt8)
        case .refused: writer.write(6 as UInt8)
        }
        return writer.bytes
    }

    /// Reads a datagram; nil if it is none of these.
    public init?(decoding bytes: [UInt8]) {
        guard (1...Self.maximumByteCount).contains(bytes.count) else { return nil }
        let rest = bytes[1...]
        switch bytes[0] {
        case 1 where (9...8 + Self.maximumTicketByteCount).contains(rest.count):
            self = .hello(cookie: Self.number(rest.prefix(8)), ticket: Array(rest.dropFirst(8)))
        case 2 where rest.count == 8: self = .challenge(Self.number(rest))
        case 3 where rest.isEmpty: self = .welcome
        case 4 where !rest.isEmpty: self = .frame(Array(rest))
        case 5 where rest.isEmpty: self = .farewell
        case 6 where rest.isEmpty: self = .refused
        default: return nil
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
