// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A datagram between a device and the relay of frames.
///
/// A device says hello with its ticket, is asked to repeat it with a cookie, which only the receiver at its address
/// gets, and is admitted. From then on its address stands for it, and every packet carries a code that only the device
/// and the relay can make (``RelayKey``).
///
/// Wire form: u8 kind, then the fields of the kind up to the end of the datagram. Kinds 1 to 6 were packets without codes.
///
/// Security: an observer of the packets learns neither the call nor a long-term key of a device, and cannot send or end
/// anything in the name of a device. Frames are encrypted by SFrame; the relay itself can drop and repeat them.
public enum RelayPacket: Hashable, Sendable {
    /// 11. A device wants in, or stays in: cookie (8, zeros before one is known), code (8), ticket (1 to
    /// ``maximumTicketByteCount``).
    case hello(cookie: UInt64, code: UInt64, ticket: [UInt8])
    /// 12. The relay wants the hello again with this cookie (8).
    case challenge(UInt64)
    /// 13. The device is in: the number of its stay (8), code (8).
    case welcome(stay: UInt64, code: UInt64)
    /// 14. A frame, for all others in the call: code (8), frame.
    case frame(code: UInt64, [UInt8])
    /// 15. The device leaves: code (8).
    case farewell(code: UInt64)
    /// 16. The ticket is not valid or has expired, or there is no room.
    case refused
    /// 17. A frame of another device: whom the relay let in (8), code (8), frame.
    case relayed(from: MemberAlias, code: UInt64, [UInt8])
    /// 18. Something sealed, for one other in the call: for whom (8), code (8), at most as many bytes as a frame has.
    case sealed(to: MemberAlias, code: UInt64, [UInt8])
    /// 19. The same as it comes: whom the relay let in (8), code (8), the bytes.
    case relayedSealed(from: MemberAlias, code: UInt64, [UInt8])

    /// No datagram is longer, in bytes: it fits into one packet of any network.
    public static let maximumByteCount = 1400
    /// No frame is longer, in bytes.
    public static let maximumFrameByteCount = maximumByteCount - 17
    /// No ticket is longer, in bytes.
    public static let maximumTicketByteCount = 128

    /// The first byte of a packet that is not sealed for any device: a frame that a relay is asked to pass on in the
    /// name of a member, for tests of how it is handled. A box begins with 4.
    package static let forgeryMark: UInt8 = 0xFF

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(kind)
        switch self {
        case .hello(let cookie, let code, let ticket):
            writer.write(cookie)
            writer.write(code)
            writer.write(ticket)
        case .challenge(let cookie): writer.write(cookie)
        case .welcome(let stay, let code):
            writer.write(stay)
            writer.write(code)
        case .frame(let code, let frame):
            writer.write(code)
            writer.write(frame)
        case .farewell(let code): writer.write(code)
        case .refused: break
        case .relayed(let alias, let code, let bytes), .sealed(let alias, let code, let bytes),
            .relayedSealed(let alias, let code, let bytes):
            writer.write(alias.bytes)
            writer.write(code)
            writer.write(bytes)
        }
        return writer.bytes
    }

    var kind: UInt8 {
        switch self {
        case .hello: 11
        case .challenge: 12
        case .welcome: 13
        case .frame: 14
        case .farewell: 15
        case .refused: 16
        case .relayed: 17
        case .sealed: 18
        case .relayedSealed: 19
        }
    }

    /// Reads a datagram; nil if it is none of these.
    public init?(decoding bytes: [UInt8]) {
        guard (1...Self.maximumByteCount).contains(bytes.count) else { return nil }
        let rest = bytes[1...]
        let (first, second) = (Self.number(rest.prefix(8)), Self.number(rest.dropFirst(8).prefix(8)))
        switch bytes[0] {
        case 11 where (17...16 + Self.maximumTicketByteCount).contains(rest.count):
            self = .hello(cookie: first, code: second, ticket: Array(rest.dropFirst(16)))
        case 12 where rest.count == 8: self = .challenge(first)
        case 13 where rest.count == 16: self = .welcome(stay: first, code: second)
        case 14 where (9...8 + Self.maximumFrameByteCount).contains(rest.count):
            self = .frame(code: first, Array(rest.dropFirst(8)))
        case 15 where rest.count == 8: self = .farewell(code: first)
        case 16 where rest.isEmpty: self = .refused
        case 17...19 where rest.count > 16:
            guard let alias = MemberAlias(Array(rest.prefix(8))) else { return nil }
            let content = Array(rest.dropFirst(16))
            switch bytes[0] {
            case 17: self = .relayed(from: alias, code: second, content)
            case 18: self = .sealed(to: alias, code: second, content)
            default: self = .relayedSealed(from: alias, code: second, content)
            }
        default: return nil
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
