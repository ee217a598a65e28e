// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

// A state together with the X-Wing keys of its devices, of which it has the hash alone: `signet-account-keys/v1` LF; u8
// count; the X-Wing keys, 1216 bytes each, one for each device in the order of the devices; the state to the end. Signature,
// hash and commitment are of the state without them.
extension AccountState {
    private static let keysFormat = Array("signet-account-keys/v1\n".utf8)
    /// No state with its keys is longer, in bytes.
    public static let maximumByteCountWithKeys = 40_960

    /// Reads a state with the X-Wing keys of its devices beside it, or without.
    ///
    /// Security: keys that come beside a state are those whose hash it lists, one for each device, or all is refused. Without
    /// them the state is the same, and nothing can be sealed to its devices with X-Wing.
    ///
    /// - Throws: ``AccountStateError``; ``AccountStateError/anotherDeviceKey(_:)``,
    ///   ``AccountStateError/deviceKeyCount(_:)``.
    public init(decodingWithKeys bytes: [UInt8]) throws(AccountStateError) {
        guard bytes.starts(with: Self.keysFormat) else {
            try self.init(decoding: bytes)
            return
        }
        guard bytes.count <= Self.maximumByteCountWithKeys else { throw .tooLong(bytes.count) }
        var reader = ByteReader(bytes.dropFirst(Self.keysFormat.count))
        var keys: [[UInt8]] = []
        do throws(CanonicalCodingError) {
            for _ in 0..<(try reader.uint8()) { keys.append(Array(try reader.bytes(DeviceKeys.kemByteCount))) }
        } catch { throw .malformed(error) }
        self = try AccountState(decoding: Array(reader.rest())).with(keys)
    }

    /// The state with a key for each device.
    private func with(_ keys: [[UInt8]]) throws(AccountStateError) -> AccountState {
        guard form == .hashedKeys, keys.count == devices.count else { throw .deviceKeyCount(keys.count) }
        var complete: [DeviceRecord] = []
        for (device, key) in zip(devices, keys) {
            guard let listed = device.keys.with(kem: key) else { throw .anotherDeviceKey(device.number) }
            complete.append(DeviceRecord(number: device.number, addedAt: device.addedAt, listed: listed))
        }
        return AccountState(self, devices: complete)
    }

    /// Whether the X-Wing key of each device is there.
    public var hasAllKeys: Bool { devices.allSatisfy { $0.keys.kem != nil } }

    /// The state with keys that are at hand; it keeps those that it has, and leaves out what does not have the hash that it
    /// lists.
    ///
    /// - Parameter find: gives the X-Wing key of the device whose keys have this hash, or nil.
    package func completed(_ find: ([UInt8]) -> [UInt8]?) -> AccountState {
        let devices = devices.map { device in
            guard device.keys.kem == nil, let listed = find(device.keys.hash).flatMap(device.keys.with(kem:)) else {
                return device
            }
            return DeviceRecord(number: device.number, addedAt: device.addedAt, listed: listed)
        }
        return AccountState(self, devices: devices)
    }

    /// The X-Wing keys that come beside the state, by the hash that it lists; none of a state that has them inside.
    package var keysByHash: [[UInt8]: [UInt8]] {
        guard form == .hashedKeys else { return [:] }
        return devices.reduce(into: [:]) { keys, device in keys[device.keys.hash] = device.keys.kem }
    }

    /// The state with the keys beside it, as a directory keeps it; without them if one is missing or it has them inside.
    package var encodedWithKeys: [UInt8] {
        let keys = devices.compactMap { $0.keys.kem }
        guard form == .hashedKeys, keys.count == devices.count else { return encoded }
        var writer = ByteWriter()
        writer.write(Self.keysFormat)
        writer.write(UInt8(truncatingIfNeeded: keys.count))
        for key in keys { writer.write(key) }
        writer.write(encoded)
        return writer.bytes
    }

    /// What is signed and committed to of a state that was written with or without its keys.
    package static func withoutKeys(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.starts(with: keysFormat), bytes.count > keysFormat.count else { return bytes }
        let count = Int(bytes[keysFormat.count])
        return Array(bytes.dropFirst(keysFormat.count + 1 + count * DeviceKeys.kemByteCount))
    }
}
