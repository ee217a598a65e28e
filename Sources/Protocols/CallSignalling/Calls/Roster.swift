// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// One member of a call.
public struct RosterMember: Hashable, Sendable {
    /// The number that the member's frames carry; given once in a generation.
    public let index: UInt16
    /// Which device.
    public let device: CallDevice

    /// A member.
    public init(index: UInt16, device: CallDevice) {
        self.index = index
        self.device = device
    }
}

/// Who is in the call, as its host says. Each roster names the one before, so that two versions of a call cannot be merged unseen.
///
/// Wire form: 16-byte call, u32 term, u32 number, 32-byte hash of the previous roster (zeros in the first), u16 index of the
/// host, u16 count, then each member in rising order of index: u16 index, 32-byte key; u16 count of the excluded, 32 bytes each, in
/// rising order.
public struct Roster: Hashable, Sendable {
    /// The most devices that are in a call at once. Broker, host and relay of frames let no more in.
    public static let maximumPresentCount = 64
    /// The most members that a roster may name, and the most removed devices: a bound of its form.
    public static let maximumMemberCount = 256

    /// The last number of a roster: far from where the number after it would be none.
    public static let lastNumber: UInt32 = 0x7FFF_FFFF

    /// Which call.
    public let callID: CallID
    /// The tenure of ``host``: its number and, in the low 16 bits, the host's index.
    public let term: UInt32
    /// 1 to ``lastNumber``, one more each time.
    public let number: UInt32
    /// Hash of the roster before, 32 bytes.
    public let previous: [UInt8]
    /// Who may change it.
    public let host: CallDevice
    /// In rising order of index; the host is one of them.
    public let members: [RosterMember]
    /// The devices that were removed and must not come back unasked, in rising order; at most ``maximumMemberCount``,
    /// none of them a member.
    public let excluded: [CallDevice]

    /// A roster.
    ///
    /// - Throws: ``SignalDecodingError/invalidRoster``: no host, too many, out of order, or a device twice.
    public init(
        callID: CallID, term: UInt32, number: UInt32, previous: [UInt8], host: CallDevice, members: [RosterMember],
        excluded: [CallDevice] = []
    ) throws(SignalDecodingError) {
        self.callID = callID
        self.term = term
        self.number = number
        self.previous = previous
        self.host = host
        self.members = members
        self.excluded = excluded
        guard term > 0, (1...Self.lastNumber).contains(number), previous.count == 32,
            members.count <= Self.maximumMemberCount,
            zip(members, members.dropFirst()).allSatisfy({ $0.index < $1.index }),
            Set(members.map(\.device)).count == members.count, contains(host),
            excluded.count <= Self.maximumMemberCount, zip(excluded, excluded.dropFirst()).allSatisfy({ $0 < $1 }),
            !excluded.contains(where: contains)
        else { throw .invalidRoster }
    }

    /// SHA-256 of the wire form: what the next roster's ``previous`` must be, 32 bytes.
    public var hash: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return Array(SHA256.hash(data: writer.bytes))
    }

    /// Whether the device is a member.
    public func contains(_ device: CallDevice) -> Bool { members.contains { $0.device == device } }

    /// The number that the device's frames carry.
    public func index(of device: CallDevice) -> UInt16? { members.first { $0.device == device }?.index }

    /// The device whose frames carry this number.
    public func device(at index: UInt16) -> CallDevice? { members.first { $0.index == index }?.device }

    /// The members that take over when the host falls silent, the first one first.
    public var successors: [CallDevice] {
        let place = members.firstIndex { $0.device == host } ?? 0
        return (members[(place + 1)...] + members[..<place]).map(\.device)
    }

    /// The term of the first host, whose index is 0.
    public static let firstTerm: UInt32 = 1 << 16

    /// The term in which a member hosts that takes over from this roster: the next number, and the member's index, so
    /// that no term ever has two hosts. Nil for the host, and for a device that is not a member.
    public func termOfSuccession(of device: CallDevice) -> UInt32? {
        guard device != host, let index = index(of: device), term >> 16 < 0xFFFF else { return nil }
        return (term >> 16 + 1) << 16 | UInt32(index)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        let callID: CallID
        let (term, number, hostIndex): (UInt32, UInt32, UInt16)
        let previous: [UInt8]
        var members: [RosterMember] = []
        var excluded: [CallDevice] = []
        do throws(CanonicalCodingError) {
            callID = try CallID(from: &reader)
            (term, number) = (try reader.uint32(), try reader.uint32())
            previous = Array(try reader.bytes(32))
            hostIndex = try reader.uint16()
            for _ in 0..<(try reader.uint16()) {
                members.append(RosterMember(index: try reader.uint16(), device: try CallDevice(from: &reader)))
            }
            for _ in 0..<(try reader.uint16()) { excluded.append(try CallDevice(from: &reader)) }
        } catch { throw .malformed(error) }
        guard let host = members.first(where: { $0.index == hostIndex })?.device else { throw .invalidRoster }
        try self.init(
            callID: callID, term: term, number: number, previous: previous, host: host, members: members,
            excluded: excluded)
    }

    func write(to writer: inout ByteWriter) {
        writer.write(callID.bytes)
        writer.write(term)
        writer.write(number)
        writer.write(previous)
        writer.write(index(of: host) ?? 0)
        writer.write(UInt16(truncatingIfNeeded: members.count))
        for member in members {
            writer.write(member.index)
            writer.write(member.device.signingKey)
        }
        writer.write(UInt16(truncatingIfNeeded: excluded.count))
        for device in excluded { writer.write(device.signingKey) }
    }
}
