// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Which call.
public struct CallID: Hashable, Sendable {
    /// 16 random bytes.
    public let bytes: [UInt8]

    /// An id from 16 bytes; nil for another length.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// A fresh id.
    public init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    init(from reader: inout ByteReader) throws(CanonicalCodingError) { bytes = Array(try reader.bytes(16)) }
}

/// Which device: its Ed25519 key, so that a signature needs nothing else to be checked.
///
/// Security: whose device it is, only a verified lookup says.
public struct CallDevice: Hashable, Sendable, Comparable {
    /// The 32-byte Ed25519 key.
    public let signingKey: [UInt8]

    /// A device from the 32 bytes of its key; nil for another length.
    public init?(_ signingKey: [UInt8]) {
        guard signingKey.count == 32 else { return nil }
        self.signingKey = signingKey
    }

    init(from reader: inout ByteReader) throws(CanonicalCodingError) { signingKey = Array(try reader.bytes(32)) }

    /// In order of the key's bytes.
    public static func < (left: CallDevice, right: CallDevice) -> Bool {
        left.signingKey.lexicographicallyPrecedes(right.signingKey)
    }
}

/// 16 bytes that their maker never used before: the name of a request or of an attempt to join.
public struct SignalNonce: Hashable, Sendable {
    /// 16 random bytes.
    public let bytes: [UInt8]

    /// A nonce from 16 bytes; nil for another length.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// A fresh nonce.
    public init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    init(from reader: inout ByteReader) throws(CanonicalCodingError) { bytes = Array(try reader.bytes(16)) }
}
