// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency

/// Who a device says that its owner is, inside of a meeting.
public struct MeetingPerson: Hashable, Sendable {
    /// The longest name of a directory's log, in bytes.
    public static let maximumOriginByteCount = 255

    /// Their handle.
    public let handle: Handle
    /// Their identity key: P-256, 33 bytes, compressed.
    public let identityKey: [UInt8]
    /// The name of the log of the directory at which the account is: its origin, 1 to 255 bytes.
    public let origin: [UInt8]

    /// Names a person; nil if a length is wrong. Nothing is verified here.
    public init?(handle: Handle, identityKey: [UInt8], origin: [UInt8]) {
        guard identityKey.count == 33, (1...Self.maximumOriginByteCount).contains(origin.count) else { return nil }
        self.handle = handle
        self.identityKey = identityKey
        self.origin = origin
    }

    /// u8 length and handle, identity key, u8 length and origin.
    var bound: [UInt8] {
        [UInt8(truncatingIfNeeded: handle.bytes.count)] + handle.bytes + identityKey
            + [UInt8(truncatingIfNeeded: origin.count)] + origin
    }

    init(from reader: inout ByteReader) throws {
        let handle = try Handle(canonical: Array(try reader.bytes(Int(reader.uint8()))))
        let key = Array(try reader.bytes(33))
        let origin = Array(try reader.bytes(Int(reader.uint8())))
        guard let person = MeetingPerson(handle: handle, identityKey: key, origin: origin) else {
            throw MeetingError.malformed
        }
        self = person
    }
}

/// A side's message about itself, as it is inside of the seal: the person, their day, their signature, and what binds all to this
/// meeting.
///
/// The person (``MeetingPerson/bound``); u64 day since 1970; signature, 64 bytes; binding, 32; zeros up to 704 bytes, so that the length
/// says nothing about the name.
struct MeetingProof: Hashable, Sendable {
    static let byteCount = 704

    let person: MeetingPerson
    let day: UInt64
    let signature: [UInt8]
    let binding: [UInt8]

    var plaintext: [UInt8] {
        var writer = ByteWriter()
        writer.write(person.bound)
        writer.write(day)
        writer.write(signature)
        writer.write(binding)
        return writer.bytes + [UInt8](repeating: 0, count: max(0, Self.byteCount - writer.bytes.count))
    }

    /// - Throws: ``MeetingError/malformed``.
    init(plaintext: [UInt8]) throws(MeetingError) {
        do { self = try Self.read(plaintext) } catch { throw .malformed }
    }

    init(_ person: MeetingPerson, day: UInt64, signature: [UInt8], binding: [UInt8]) {
        (self.person, self.day, self.signature, self.binding) = (person, day, signature, binding)
    }

    private static func read(_ plaintext: [UInt8]) throws -> MeetingProof {
        guard plaintext.count == byteCount else { throw MeetingError.malformed }
        var reader = ByteReader(plaintext)
        let person = try MeetingPerson(from: &reader)
        let day = try reader.uint64()
        let (signature, binding) = (Array(try reader.bytes(64)), Array(try reader.bytes(32)))
        guard reader.rest().allSatisfy({ $0 == 0 }) else { throw MeetingError.malformed }
        return MeetingProof(person, day: day, signature: signature, binding: binding)
    }
}
