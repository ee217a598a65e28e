// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency

/// Which request of an account a guardian wants to see. Wire form: u8 length and owner's handle; u8 0 for the request that the
/// log shows, 1 and u32 ``RequestNumber``, or 2 and 32-byte hash of the request; 64-byte signature by the ask key: a
/// sender who holds no part of the account learns nothing about the requester.
public struct RecoveryQuery: Hashable, Sendable {
    /// Which of them.
    public enum Wanted: Hashable, Sendable {
        /// The one that the log shows.
        case logged
        /// The one of the number that the person read.
        case number(RequestNumber)
        /// The one that this guardian has looked at: SHA-256 of it, 32 bytes.
        case request([UInt8])

        fileprivate var encoded: [UInt8] {
            var writer = ByteWriter()
            switch self {
            case .logged: writer.write(UInt8(0))
            case .number(let number):
                writer.write(UInt8(1))
                writer.write(number.encoded)
            case .request(let hash):
                writer.write(UInt8(2))
                writer.write(hash)
            }
            return writer.bytes
        }
    }

    /// Whose identity.
    public let owner: Handle
    /// Which request.
    public let wanted: Wanted
    /// Ed25519, 64 bytes, over ``statement(from:)``.
    public let tag: [UInt8]

    /// A question for one request.
    ///
    /// - Parameters:
    ///   - sender: the account that asks.
    ///   - sign: gives the ask key's 64-byte signature.
    public init(_ wanted: Wanted, for owner: Handle, from sender: Handle, signing sign: ([UInt8]) -> [UInt8]) {
        self.owner = owner
        self.wanted = wanted
        tag = sign(Self.statement(wanted, owner, sender))
    }

    /// What the ask key signs: `signet-recovery-query/v1` LF, u8 length and owner's handle, which request as above, u8 length
    /// and handle of the sender.
    private static func statement(_ wanted: Wanted, _ owner: Handle, _ sender: Handle) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-recovery-query/v1\n")
        writer.short(owner.bytes)
        writer.write(wanted.encoded)
        writer.short(sender.bytes)
        return writer.bytes
    }

    /// Whether a holder of this commitment's ask key authorised this sender's query.
    public func isTagged(by commitment: RecoveryCommitment, from sender: Handle) -> Bool {
        guard let key = commitment.askKey, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else {
            return false
        }
        return key.isValidSignature(tag, for: Self.statement(wanted, owner, sender))
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.short(owner.bytes)
        writer.write(wanted.encoded)
        writer.write(tag)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        (owner, wanted, tag) = try RecoveryMessageError.reading(bytes) { reader in
            let owner = try Handle(canonical: reader.shortBytes())
            return (owner, try Wanted(from: &reader), Array(try reader.bytes(64)))
        }
    }
}

extension RecoveryQuery.Wanted {
    fileprivate init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 0: self = .logged
        case 1: self = .number(try RequestNumber(from: &reader))
        case 2: self = .request(Array(try reader.bytes(32)))
        default: throw RecoveryMessageError.invalidLength
        }
    }
}

/// A request for an account. Wire form: 104-byte `RecoveryCommitment`; u8 0, or 1 and 257 bytes of
/// `RecoveryStart`; u8 0, or 1 and the 289 bytes that the device revealed to the guardian who asks; the request to the end.
public struct RecoveryAsked: Hashable, Sendable {
    /// By which commitment.
    public let commitment: RecoveryCommitment
    /// What the log should hold of it; nil before it does.
    public let start: RecoveryStart?
    /// What the device revealed to this guardian for the spoken code; nil before it did.
    public let reveal: [UInt8]?
    /// The request.
    public let request: [UInt8]

    /// A request that is under way.
    public init(commitment: RecoveryCommitment, start: RecoveryStart?, reveal: [UInt8]?, request: [UInt8]) {
        self.commitment = commitment
        self.start = start
        self.reveal = reveal
        self.request = request
    }

    /// The wire form.
    public var encoded: [UInt8] {
        commitment.encoded + start.wire + (reveal.map { [1] + $0 } ?? [0]) + request
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        self = try RecoveryMessageError.reading(bytes) { reader in
            let commitment = try RecoveryCommitment(decoding: Array(reader.bytes(RecoveryCommitment.byteCount)))
            let start = try reader.start()
            let reveal: [UInt8]?
            switch try reader.uint8() {
            case 0: reveal = nil
            case 1: reveal = Array(try reader.bytes(RecoveryReveal.byteCount))
            default: throw RecoveryMessageError.invalidLength
            }
            return RecoveryAsked(
                commitment: commitment, start: start, reveal: reveal, request: Array(reader.rest()))
        }
    }
}

/// A number that a new device shows one guardian, for the spoken code. Wire form: u8 length and guardian's handle, 289 bytes.
public struct RecoveryReveal: Hashable, Sendable {
    /// The number's length in bytes, with its place and its path.
    public static let byteCount = 289
    /// At most this many guardians are shown one.
    public static let maximumCount = 64

    /// To whom.
    public let guardian: Handle
    /// 289 bytes.
    public let number: [UInt8]

    /// A number for a guardian.
    public init(to guardian: Handle, number: [UInt8]) {
        self.guardian = guardian
        self.number = number
    }

    /// The wire forms of a list, one after the other.
    public static func encoded(_ list: [RecoveryReveal]) -> [UInt8] {
        var writer = ByteWriter()
        for reveal in list {
            writer.short(reveal.guardian.bytes)
            writer.write(reveal.number)
        }
        return writer.bytes
    }

    /// Reads a list.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public static func list(decoding bytes: [UInt8]) throws(RecoveryMessageError) -> [RecoveryReveal] {
        try RecoveryMessageError.reading(bytes) { reader in
            var list: [RecoveryReveal] = []
            while reader.remaining > 0 {
                let guardian = try Handle(canonical: reader.shortBytes())
                list.append(RecoveryReveal(to: guardian, number: Array(try reader.bytes(byteCount))))
            }
            guard list.count <= maximumCount else { throw RecoveryMessageError.invalidLength }
            return list
        }
    }
}

extension ByteWriter {
    /// Bytes behind their length in one byte.
    fileprivate mutating func short(_ bytes: [UInt8]) {
        write(UInt8(truncatingIfNeeded: bytes.count))
        write(bytes)
    }
}
