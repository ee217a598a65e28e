// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// What the server holds of an account's master key: every wrap of it, as the clients made them.
///
/// Wire form: u64 version; option of a block password wrap; option of a block recovery wrap; u8 count, for each device, in
/// rising order, 32 signing key, block wrap.
public struct AccountKeys: NoteBody {
    /// The most devices.
    public static let maximumDeviceCount = 64
    /// No wrap by password or recovery key is longer, in bytes.
    public static let maximumWrapByteCount = 512
    /// No wrap for a device is longer, in bytes.
    public static let maximumDeviceWrapByteCount = 2048

    /// How often they were changed; 0 if there never were any.
    public let version: UInt64
    /// By the password of the last registration.
    public let password: [UInt8]?
    /// By the recovery key.
    public let recovery: [UInt8]?
    /// By device: its 32-byte signing key, and the wrap.
    public let devices: [[UInt8]: [UInt8]]

    /// A set of wraps.
    public init(version: UInt64, password: [UInt8]? = nil, recovery: [UInt8]? = nil, devices: [[UInt8]: [UInt8]] = [:])
    {
        self.version = version
        self.password = password
        self.recovery = recovery
        self.devices = devices
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(version)
        writer.write(option: password)
        writer.write(option: recovery)
        writer.write(UInt8(truncatingIfNeeded: devices.count))
        for (device, wrap) in devices.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            writer.write(device)
            writer.write(block: wrap)
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        version = try reader.uint64()
        password = try reader.option { try $0.block(atMost: Self.maximumWrapByteCount) }
        recovery = try reader.option { try $0.block(atMost: Self.maximumWrapByteCount) }
        let devices = try reader.list(Int(reader.uint8()), in: 0...Self.maximumDeviceCount) {
            (try $0.fixed(32), try $0.block(atMost: Self.maximumDeviceWrapByteCount))
        }
        guard zip(devices, devices.dropFirst()).allSatisfy({ $0.0.lexicographicallyPrecedes($1.0) }) else {
            throw NoteBodyError.invalidField
        }
        self.devices = Dictionary(devices) { first, _ in first }
    }
}

/// Puts a whole set in the place of the stored one: all wraps of a new master key at once, or one wrap changed and the
/// others as fetched. A set without a password wrap ends the registration with a password.
///
/// Wire form: ``AccountKeys``, whose version is the one that it replaces.
public struct AccountKeysChange: NoteBody {
    /// The wraps as they are to be; the version is the stored one.
    public let keys: AccountKeys

    /// A change.
    public init(_ keys: AccountKeys) { self.keys = keys }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { keys.write(to: &writer) }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws { keys = try AccountKeys(from: &reader) }
}

/// The outcome of a change or a registration. Wire form: u8 kind, then for 1 and 2 u64 version.
public enum AccountKeysOutcome: NoteBody {
    /// Stored, as this version.
    case applied(version: UInt64)
    /// The server has this version: fetch, and try again.
    case conflict(version: UInt64)
    /// A password wrap without a registration: register.
    case notRegistered

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        switch self {
        case .applied(let version):
            writer.write(UInt8(1))
            writer.write(version)
        case .conflict(let version):
            writer.write(UInt8(2))
            writer.write(version)
        case .notRegistered: writer.write(UInt8(3))
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1: self = .applied(version: try reader.uint64())
        case 2: self = .conflict(version: try reader.uint64())
        case 3: self = .notRegistered
        default: throw NoteBodyError.invalidField
        }
    }
}
