// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// An address of the device that invites. It is a hint where to find the device, and says nothing about who answers there.
public enum MeetingAddress: Hashable, Sendable {
    /// IPv4, 4 bytes in network order.
    case version4([UInt8])
    /// IPv6, 16 bytes in network order.
    case version6([UInt8])

    /// An address of 4 or 16 bytes in network order; nil for any other length.
    public init?(_ bytes: [UInt8]) {
        switch bytes.count {
        case 4: self = .version4(bytes)
        case 16: self = .version6(bytes)
        default: return nil
        }
    }

    /// The 4 or 16 bytes in network order.
    public var bytes: [UInt8] {
        switch self {
        case .version4(let bytes), .version6(let bytes): bytes
        }
    }

    /// u8 4 or 6, and the bytes.
    init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 4: self = .version4(Array(try reader.bytes(4)))
        case 6: self = .version6(Array(try reader.bytes(16)))
        default: throw MeetingError.notAnInvitation
        }
    }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .version4: writer.write(UInt8(4))
        case .version6: writer.write(UInt8(6))
        }
        writer.write(bytes)
    }
}
