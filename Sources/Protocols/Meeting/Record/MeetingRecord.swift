// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import KeyTransparency

/// What a device keeps of a meeting: whom its owner met, on which day, and with which identity keys.
///
/// `signet-met/v1` LF; u8 role; u64 day since 1970; own handle, identity key and origin as in ``MeetingPerson``; u8 length and the other
/// person's handle; their identity key, 33 bytes; u8 0, or u8 1, u64 size and the 32-byte root of the largest checkpoint that the device had
/// verified. There is no hour and no place in it.
///
/// Security: nothing in it is signed, so it is evidence for the one who was there, and for nobody else: anyone can make an equal record
/// of any two people. Only ``ConfirmedMeeting/receive(_:knowing:)`` and the device's own seal give one.
public struct MeetingRecord: Hashable, Sendable {
    /// A log's tree that a device had verified.
    public struct KnownTree: Hashable, Sendable {
        /// Number of entries.
        public let size: UInt64
        /// SHA-256 root, 32 bytes.
        public let root: [UInt8]

        /// A tree; nil if the root does not have 32 bytes.
        public init?(size: UInt64, root: [UInt8]) {
            guard root.count == 32 else { return nil }
            (self.size, self.root) = (size, root)
        }
    }

    /// On which side the device was.
    public let role: MeetingRole
    /// This device's day, counted from 1970-01-01.
    public let day: UInt64
    /// Whose device it is, with the identity key of that day.
    public let own: MeetingPerson
    /// Whom they met.
    public let peerHandle: Handle
    /// The identity key that the other person proved to hold, 33 bytes.
    public let peerKey: [UInt8]
    /// The largest checkpoint that the device had verified; nil if none.
    public let checkpoint: KnownTree?

    init(
        role: MeetingRole, day: UInt64, own: MeetingPerson, peerHandle: Handle, peerKey: [UInt8], checkpoint: KnownTree?
    ) {
        (self.role, self.day, self.own) = (role, day, own)
        (self.peerHandle, self.peerKey, self.checkpoint) = (peerHandle, peerKey, checkpoint)
    }

    // MARK: The seal

    /// The length of a seal's nonce, in bytes.
    public static let nonceByteCount = 12
    private static let format = Array("signet-met/v1\n".utf8)

    /// Seals the record for the device that keeps it: nonce, ciphertext and tag of ChaCha20-Poly1305; the other person's handle is the
    /// additional data.
    ///
    /// - Parameter nonce: 12 unpredictable bytes.
    /// - Returns: nil if the nonce has another length.
    public func sealed(under key: SymmetricKey, nonce: [UInt8]) -> [UInt8]? {
        guard let nonce = try? ChaChaPoly.Nonce(data: nonce),
            let box = try? ChaChaPoly.seal(
                encoded, using: key, nonce: nonce, authenticating: Self.format + peerHandle.bytes)
        else { return nil }
        return Array(box.combined)
    }

    /// Opens a record that this device has sealed.
    ///
    /// - Returns: nil if it is none, not of this person, or of another device.
    public init?(opening sealed: [UInt8], with handle: Handle, under key: SymmetricKey) {
        guard let box = try? ChaChaPoly.SealedBox(combined: sealed),
            let bytes = try? ChaChaPoly.open(box, using: key, authenticating: Self.format + handle.bytes),
            let record = try? MeetingRecord(decoding: Array(bytes)), record.peerHandle == handle
        else { return nil }
        self = record
    }

    // MARK: The form

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(role.rawValue)
        writer.write(day)
        writer.write(own.bound)
        writer.write(UInt8(truncatingIfNeeded: peerHandle.bytes.count))
        writer.write(peerHandle.bytes)
        writer.write(peerKey)
        writer.write(UInt8(checkpoint == nil ? 0 : 1))
        if let checkpoint {
            writer.write(checkpoint.size)
            writer.write(checkpoint.root)
        }
        return writer.bytes
    }

    /// Reads what ``encoded`` prints.
    init(decoding bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        guard Array(try reader.bytes(Self.format.count)) == Self.format,
            let role = MeetingRole(rawValue: try reader.uint8())
        else { throw MeetingError.malformed }
        self.role = role
        day = try reader.uint64()
        own = try MeetingPerson(from: &reader)
        peerHandle = try Handle(canonical: Array(try reader.bytes(Int(reader.uint8()))))
        peerKey = Array(try reader.bytes(33))
        switch try reader.uint8() {
        case 0: checkpoint = nil
        case 1: checkpoint = KnownTree(size: try reader.uint64(), root: Array(try reader.bytes(32)))
        default: throw MeetingError.malformed
        }
        try reader.end()
    }
}
