// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// A note's name: 16 random bytes that say nothing.
public struct NoteID: Hashable, Sendable, Comparable {
    /// 16.
    public static let byteCount = 16
    /// The bytes.
    public let bytes: [UInt8]

    /// Takes 16 bytes from a random source; nil for another count.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// In the order of the bytes.
    public static func < (left: NoteID, right: NoteID) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

/// SHA-256 of a record's bytes, by which other records name it.
public struct RecordHash: Hashable, Sendable, Comparable {
    /// 32.
    public static let byteCount = 32
    /// The value in place of a hash if there is no record: 32 zero bytes.
    public static let none = RecordHash(unchecked: [UInt8](repeating: 0, count: byteCount))
    /// The bytes.
    public let bytes: [UInt8]

    /// The hash of a record.
    public init(of record: [UInt8]) { bytes = Array(SHA256.hash(data: record)) }

    /// Takes 32 bytes; nil for another count.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// In the order of the bytes.
    public static func < (left: RecordHash, right: RecordHash) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// What a member may do. Each note has one owner, who may do everything.
public enum NoteRole: UInt8, Hashable, Sendable, Comparable {
    /// Reads, comments, stars.
    case reader = 1
    /// Also writes revisions.
    case writer = 2

    /// A reader is less than a writer.
    public static func < (left: NoteRole, right: NoteRole) -> Bool { left.rawValue < right.rawValue }
}
