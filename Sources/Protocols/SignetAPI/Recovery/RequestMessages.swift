// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency

/// The device whose request the log shows fetches what guardians open. Wire form: 32-byte hash of the request, 32-byte
/// secret by which it also collects answers.
public struct RecoveryFetch: Hashable, Sendable {
    /// SHA-256 of the request.
    public let request: [UInt8]
    /// Of which the request's box is the SHA-256.
    public let secret: [UInt8]

    /// A fetch for a request.
    public init(request: [UInt8], secret: [UInt8]) {
        self.request = request
        self.secret = secret
    }

    /// The wire form.
    public var encoded: [UInt8] { request + secret }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        guard bytes.count == 64 else { throw .invalidLength }
        self.init(request: Array(bytes.prefix(32)), secret: Array(bytes.dropFirst(32)))
    }
}

/// A new device asks. Wire form: u8 length and owner's handle; 32-byte SHA-256 of the secret by which answers are
/// collected; 104-byte `RecoveryCommitment`; u8 0, or 1 and 257 bytes of `RecoveryStart` once the log shows it; the request
/// to the end.
public struct RecoveryAsking: Hashable, Sendable {
    /// The longest request, in bytes.
    public static let maximumRequestByteCount = 2048
    /// The longest list of numbers that a device reveals, in bytes: ``RecoveryReveal/maximumCount`` of them.
    public static let maximumRevealByteCount = RecoveryReveal.maximumCount * (256 + RecoveryReveal.byteCount)

    /// Whose identity.
    public let owner: Handle
    /// SHA-256 of a random secret of 32 bytes.
    public let box: [UInt8]
    /// By which commitment of the account.
    public let commitment: RecoveryCommitment
    /// What the log holds of it; nil before it does.
    public let start: RecoveryStart?
    /// The request.
    public let request: [UInt8]

    /// An asking.
    public init(
        owner: Handle, box: [UInt8], commitment: RecoveryCommitment, start: RecoveryStart?, request: [UInt8]
    ) {
        self.owner = owner
        self.box = box
        self.commitment = commitment
        self.start = start
        self.request = request
    }

    /// SHA-256 of the request, 32 bytes.
    public var requestHash: [UInt8] { Array(SHA256.hash(data: request)) }

    /// The wire form.
    public var encoded: [UInt8] {
        [UInt8(truncatingIfNeeded: owner.bytes.count)] + owner.bytes + box + commitment.encoded + start.wire + request
    }

    /// Reads the wire form. A start names this request and this commitment.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        self = try RecoveryMessageError.reading(bytes) { reader in
            let owner = try Handle(canonical: reader.shortBytes())
            let box = Array(try reader.bytes(32))
            let commitment = try RecoveryCommitment(decoding: Array(reader.bytes(RecoveryCommitment.byteCount)))
            let start = try reader.start()
            let request = Array(reader.rest())
            guard request.count <= Self.maximumRequestByteCount else { throw RecoveryMessageError.invalidLength }
            let asking = RecoveryAsking(
                owner: owner, box: box, commitment: commitment, start: start, request: request)
            guard start.map({ $0.request == asking.requestHash && $0.commitment == commitment }) ?? true else {
                throw RecoveryMessageError.anotherRequest
            }
            return asking
        }
    }
}

/// A guardian's answer. Wire form: 32-byte hash of the request, body, 64-byte signature by the ask key: a sender
/// without a part of the account cannot put anything into its box.
public struct RecoveryAnswer: Hashable, Sendable {
    /// The wire form's length in bytes.
    public static let byteCount = 32 + RecoveryLetter.bodyByteCount + 64
    /// SHA-256 of the request.
    public let request: [UInt8]
    /// 4096 bytes.
    public let body: [UInt8]
    /// Ed25519, 64 bytes, over ``statement(_:_:from:)``.
    public let tag: [UInt8]

    /// An answer to a request.
    ///
    /// - Parameters:
    ///   - sender: the account that sends it.
    ///   - sign: gives the ask key's 64-byte signature.
    public init(
        to request: [UInt8], body: [UInt8], from sender: Handle, signing sign: ([UInt8]) -> [UInt8]
    ) {
        self.request = request
        self.body = body
        tag = sign(Self.statement(request, body, from: sender))
    }

    /// What the ask key signs: `signet-recovery-answer/v1` LF, hash of the request, u8 length and handle of the sender,
    /// SHA-256 of the body.
    static func statement(_ request: [UInt8], _ body: [UInt8], from sender: Handle) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-recovery-answer/v1\n")
        writer.write(request)
        writer.write(UInt8(truncatingIfNeeded: sender.bytes.count))
        writer.write(sender.bytes)
        writer.write(Array(SHA256.hash(data: body)))
        return writer.bytes
    }

    /// Whether a holder of this commitment's ask key authorised this sender's answer.
    public func isTagged(by commitment: RecoveryCommitment, from sender: Handle) -> Bool {
        guard let key = commitment.askKey, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else {
            return false
        }
        return key.isValidSignature(tag, for: Self.statement(request, body, from: sender))
    }

    /// The wire form.
    public var encoded: [UInt8] { request + body + tag }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        guard bytes.count == Self.byteCount else { throw .invalidLength }
        request = Array(bytes.prefix(32))
        body = Array(bytes.dropFirst(32).dropLast(64))
        tag = Array(bytes.suffix(64))
    }
}

/// The new device collects answers. Wire form: 32-byte hash of the request, 32-byte secret, u64 the last number that is
/// known, u16 length and each ``RecoveryReveal``: those from before, and what is new behind them.
public struct RecoveryCollection: Hashable, Sendable {
    /// SHA-256 of the request.
    public let request: [UInt8]
    /// Of which the request's box is the SHA-256.
    public let secret: [UInt8]
    /// Answers after this one.
    public let after: UInt64
    /// What the device reveals by now, each to one guardian.
    public let reveals: [RecoveryReveal]

    /// A collection.
    public init(request: [UInt8], secret: [UInt8], after: UInt64, reveals: [RecoveryReveal]) {
        self.request = request
        self.secret = secret
        self.after = after
        self.reveals = reveals
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(request)
        writer.write(secret)
        writer.write(after)
        let list = RecoveryReveal.encoded(reveals)
        writer.write(UInt16(truncatingIfNeeded: list.count))
        writer.write(list)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        (request, secret, after, reveals) = try RecoveryMessageError.reading(bytes) { reader in
            let (request, secret) = (Array(try reader.bytes(32)), Array(try reader.bytes(32)))
            let (after, count) = (try reader.uint64(), Int(try reader.uint16()))
            guard count <= RecoveryAsking.maximumRevealByteCount else { throw RecoveryMessageError.invalidLength }
            return (request, secret, after, try RecoveryReveal.list(decoding: Array(reader.bytes(count))))
        }
    }
}

extension RecoveryStart? {
    /// u8 0, or 1 and the start.
    var wire: [UInt8] { map { [1] + $0.encoded } ?? [0] }
}

extension ByteReader {
    mutating func start() throws -> RecoveryStart? {
        switch try uint8() {
        case 0: nil
        case 1: try RecoveryStart(decoding: Array(bytes(RecoveryStart.byteCount)))
        default: throw RecoveryMessageError.invalidLength
        }
    }
}
