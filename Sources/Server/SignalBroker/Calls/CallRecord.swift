// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import CanonicalCoding

/// What a broker knows of a call: who started it, who may come in, who is in it.
///
/// Wire form: 16-byte call, 32-byte starter, u8 1 if any device that knows the id may join, u16 count of the invited,
/// 32 bytes each, u16 count of members, 32 bytes each; devices in rising order; u64 account of the starter, left out if
/// it is unknown and no device was removed; u16 count of the removed, left out if there are none, 32 bytes each.
public struct CallRecord: Hashable, Sendable {
    /// Which call.
    public let id: CallID
    /// Who started it.
    public let starter: CallDevice
    /// The starter's account; 0 in records from before accounts were written.
    public let account: Int64
    /// Whether it was started without naming anyone.
    public let isOpen: Bool
    var invited: Set<CallDevice>
    var members: Set<CallDevice> = []
    /// The devices that must not come in again.
    var removed: Set<CallDevice> = []
    /// When a device last did something in it, in milliseconds of the uptime.
    var touchedAt: UInt64

    init(_ id: CallID, by starter: CallDevice, of account: Int64, inviting devices: [CallDevice], at uptime: UInt64) {
        self.id = id
        self.account = account
        self.starter = starter
        isOpen = devices.isEmpty
        invited = Set(devices)
        members = [starter]
        touchedAt = uptime
    }

    /// Whether a device may come in.
    func admits(_ device: CallDevice) -> Bool {
        !removed.contains(device) && (isOpen || device == starter || invited.contains(device))
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(id.bytes)
        writer.write(starter.signingKey)
        writer.write(UInt8(isOpen ? 1 : 0))
        for devices in [invited, members] {
            writer.write(UInt16(truncatingIfNeeded: devices.count))
            for device in devices.sorted() { writer.write(device.signingKey) }
        }
        if account != 0 || !removed.isEmpty { writer.write(UInt64(bitPattern: account)) }
        if !removed.isEmpty {
            writer.write(UInt16(truncatingIfNeeded: removed.count))
            for device in removed.sorted() { writer.write(device.signingKey) }
        }
        return writer.bytes
    }

    /// Reads the wire form; nil if it is none.
    public init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let id = (try? reader.bytes(16)).flatMap({ CallID(Array($0)) }), let starter = Self.device(&reader),
            let mark = try? reader.uint8(), let invited = Self.devices(&reader), let members = Self.devices(&reader),
            let (account, removed) = Self.additions(&reader), (try? reader.end()) != nil, mark <= 1
        else { return nil }
        self.account = account
        self.removed = removed
        self.id = id
        self.starter = starter
        isOpen = mark == 1
        self.invited = invited
        self.members = members
        touchedAt = 0
    }

    private static func device(_ reader: inout ByteReader) -> CallDevice? {
        (try? reader.bytes(32)).flatMap { CallDevice(Array($0)) }
    }

    private static func additions(_ reader: inout ByteReader) -> (Int64, Set<CallDevice>)? {
        guard reader.remaining > 0 else { return (0, []) }
        guard let account = try? reader.uint64() else { return nil }
        guard reader.remaining > 0 else { return account == 0 ? nil : (Int64(bitPattern: account), []) }
        guard let removed = devices(&reader), !removed.isEmpty else { return nil }
        return (Int64(bitPattern: account), removed)
    }

    private static func devices(_ reader: inout ByteReader) -> Set<CallDevice>? {
        guard let count = try? reader.uint16() else { return nil }
        var devices: [CallDevice] = []
        for _ in 0..<count {
            guard let device = device(&reader), devices.last.map({ $0 < device }) ?? true else { return nil }
            devices.append(device)
        }
        return Set(devices)
    }
}
