public import CanonicalCoding
import Crypto
public import KeyTransparency

/// What a new device needs besides the guardians, under the hash of the account's commitment to it. Opaque and padded.
///
/// Wire form: 32-byte hash of the commitment, then the file, a multiple of 8192 bytes.
public struct RecoveryFile: Hashable, Sendable {
    /// The longest file, in bytes.
    public static let maximumByteCount = 1_048_576
    /// A file is a multiple of this, in bytes.
    public static let paddingStep = 8192

    /// The 32 bytes that the account's state holds as `recoveryCommitment`.
    public let commitment: [UInt8]
    /// The file.
    public let bytes: [UInt8]

    /// A file under its commitment.
    public init(commitment: [UInt8], bytes: [UInt8]) {
        self.commitment = commitment
        self.bytes = bytes
    }

    /// The wire form.
    public var encoded: [UInt8] { commitment + bytes }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        let length = bytes.count - 32
        guard length > 0, length <= Self.maximumByteCount, length.isMultiple(of: Self.paddingStep) else {
            throw .invalidLength
        }
        self.init(commitment: Array(bytes.prefix(32)), bytes: Array(bytes.dropFirst(32)))
    }
}

/// A sealed letter, all of one length.
public struct RecoveryLetter: Hashable, Sendable {
    /// Every letter's length, in bytes.
    public static let bodyByteCount = 4096

    /// A letter that is to be sent. Wire form: u8 length and handle of the recipient, body.
    public struct Draft: Hashable, Sendable {
        /// To whom.
        public let recipient: Handle
        /// 4096 bytes.
        public let body: [UInt8]

        /// A letter to somebody.
        public init(to recipient: Handle, body: [UInt8]) {
            self.recipient = recipient
            self.body = body
        }

        /// The wire form.
        public var encoded: [UInt8] { [UInt8(truncatingIfNeeded: recipient.bytes.count)] + recipient.bytes + body }

        /// Reads the wire form.
        ///
        /// - Throws: ``RecoveryMessageError``.
        public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
            (recipient, body) = try RecoveryMessageError.reading(bytes) { reader in
                (try Handle(canonical: reader.shortBytes()), Array(try reader.bytes(RecoveryLetter.bodyByteCount)))
            }
        }
    }

    /// The server's running number.
    public let number: UInt64
    /// Who sent it, as the server says.
    public let sender: Handle
    /// When the server took it, in seconds since 1970.
    public let time: UInt64
    /// 4096 bytes.
    public let body: [UInt8]

    /// A letter.
    public init(number: UInt64, sender: Handle, time: UInt64, body: [UInt8]) {
        self.number = number
        self.sender = sender
        self.time = time
        self.body = body
    }
}

/// Letters in order of number. Wire form: u16 count; for each u64 number, u64 time, u8 length and sender, body.
public struct RecoveryLetterList: Hashable, Sendable {
    /// So many letters at most; ask again from the last.
    public static let maximumCount = 128
    /// The longest wire form, in bytes.
    public static let maximumByteCount = 2 + maximumCount * (17 + 255 + RecoveryLetter.bodyByteCount)

    /// The letters.
    public let letters: [RecoveryLetter]

    /// A list.
    public init(_ letters: [RecoveryLetter]) { self.letters = letters }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt16(truncatingIfNeeded: letters.count))
        for letter in letters {
            writer.write(letter.number)
            writer.write(letter.time)
            writer.write(UInt8(truncatingIfNeeded: letter.sender.bytes.count))
            writer.write(letter.sender.bytes)
            writer.write(letter.body)
        }
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        letters = try RecoveryMessageError.reading(bytes) { reader in
            let count = Int(try reader.uint16())
            guard count <= Self.maximumCount else { throw RecoveryMessageError.invalidLength }
            var letters: [RecoveryLetter] = []
            for _ in 0..<count {
                let (number, time) = (try reader.uint64(), try reader.uint64())
                letters.append(
                    RecoveryLetter(
                        number: number, sender: try Handle(canonical: reader.shortBytes()), time: time,
                        body: Array(try reader.bytes(RecoveryLetter.bodyByteCount))))
            }
            guard zip(letters, letters.dropFirst()).allSatisfy({ $0.number < $1.number }) else {
                throw RecoveryMessageError.invalidLength
            }
            return letters
        }
    }
}

/// Whether a letter or an answer was taken. Wire form: one byte.
public enum RecoveryVerdict: UInt8, Hashable, Sendable, CaseIterable {
    /// It is kept.
    case taken = 0
    /// The recipient's box is full, or this sender's share of it.
    case full = 1
    /// There is no such account or request.
    case nobody = 2
}

/// A new device asks. Wire form: u8 length and owner's handle; 32-byte SHA-256 of the secret by which answers are
/// collected; 153 bytes of `RecoveryStart`; the request to the end.
public struct RecoveryAsking: Hashable, Sendable {
    /// The longest request, in bytes.
    public static let maximumRequestByteCount = 2048
    /// The longest list of numbers that a device reveals, in bytes: 32 of 289.
    public static let maximumRevealByteCount = 32 * 289

    /// Whose identity.
    public let owner: Handle
    /// SHA-256 of a random secret of 32 bytes.
    public let box: [UInt8]
    /// What the log holds of it.
    public let start: RecoveryStart
    /// The request, of which the start holds the SHA-256.
    public let request: [UInt8]

    /// An asking.
    public init(owner: Handle, box: [UInt8], start: RecoveryStart, request: [UInt8]) {
        self.owner = owner
        self.box = box
        self.start = start
        self.request = request
    }

    /// The wire form.
    public var encoded: [UInt8] {
        [UInt8(truncatingIfNeeded: owner.bytes.count)] + owner.bytes + box + start.encoded + request
    }

    /// Reads the wire form. The request is the one that the start names.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        (owner, box, start, request) = try RecoveryMessageError.reading(bytes) { reader in
            let owner = try Handle(canonical: reader.shortBytes())
            let box = Array(try reader.bytes(32))
            let start = try RecoveryStart(decoding: Array(reader.bytes(RecoveryStart.byteCount)))
            let request = Array(reader.rest())
            guard request.count <= Self.maximumRequestByteCount else { throw RecoveryMessageError.invalidLength }
            guard Array(SHA256.hash(data: request)) == start.request else { throw RecoveryMessageError.anotherRequest }
            return (owner, box, start, request)
        }
    }
}

/// The request that an account has under way. Wire form: `RecoveryStart`; u16 length and the numbers that the device revealed
/// for the spoken code, each to one guardian; the request to the end.
public struct RecoveryAsked: Hashable, Sendable {
    /// What the log should hold of it.
    public let start: RecoveryStart
    /// What the device revealed so far, one number after the other.
    public let reveal: [UInt8]
    /// The request.
    public let request: [UInt8]

    /// A request that is under way.
    public init(start: RecoveryStart, reveal: [UInt8], request: [UInt8]) {
        self.start = start
        self.reveal = reveal
        self.request = request
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(start.encoded)
        writer.write(UInt16(truncatingIfNeeded: reveal.count))
        writer.write(reveal)
        writer.write(request)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        (start, reveal, request) = try RecoveryMessageError.reading(bytes) { reader in
            let start = try RecoveryStart(decoding: Array(reader.bytes(RecoveryStart.byteCount)))
            return (start, try reader.revealed(), Array(reader.rest()))
        }
    }
}

/// A guardian's answer. Wire form: 32-byte hash of the request, body.
public struct RecoveryAnswer: Hashable, Sendable {
    /// SHA-256 of the request.
    public let request: [UInt8]
    /// 4096 bytes.
    public let body: [UInt8]

    /// An answer to a request.
    public init(to request: [UInt8], body: [UInt8]) {
        self.request = request
        self.body = body
    }

    /// The wire form.
    public var encoded: [UInt8] { request + body }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        guard bytes.count == 32 + RecoveryLetter.bodyByteCount else { throw .invalidLength }
        self.init(to: Array(bytes.prefix(32)), body: Array(bytes.dropFirst(32)))
    }
}

/// The new device collects answers. Wire form: 32-byte hash of the request, 32-byte secret, u64 the last number that is
/// known, u16 length and the numbers that the device reveals: those from before, and what is new behind them.
public struct RecoveryCollection: Hashable, Sendable {
    /// SHA-256 of the request.
    public let request: [UInt8]
    /// Of which the request's box is the SHA-256.
    public let secret: [UInt8]
    /// Answers after this one.
    public let after: UInt64
    /// What the device reveals by now.
    public let reveal: [UInt8]

    /// A collection.
    public init(request: [UInt8], secret: [UInt8], after: UInt64, reveal: [UInt8]) {
        self.request = request
        self.secret = secret
        self.after = after
        self.reveal = reveal
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(request)
        writer.write(secret)
        writer.write(after)
        writer.write(UInt16(truncatingIfNeeded: reveal.count))
        writer.write(reveal)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        (request, secret, after, reveal) = try RecoveryMessageError.reading(bytes) { reader in
            let (request, secret) = (Array(try reader.bytes(32)), Array(try reader.bytes(32)))
            return (request, secret, try reader.uint64(), try reader.revealed())
        }
    }
}

/// Why a message about a recovery is refused. The sender has to correct it.
public enum RecoveryMessageError: Error, Hashable, Sendable {
    /// Cut short, too long, or not canonical.
    case malformed(CanonicalCodingError)
    /// Not a handle in its one spelling.
    case invalidHandle(HandleError)
    /// The start is none.
    case invalidStart(RecoveryStepFault)
    /// A part has another length than it should, or letters are out of order.
    case invalidLength
    /// The start names another request.
    case anotherRequest

    static func reading<Value>(
        _ bytes: [UInt8], _ body: (inout ByteReader) throws -> Value
    ) throws(RecoveryMessageError) -> Value {
        do {
            var reader = ByteReader(bytes)
            let value = try body(&reader)
            try reader.end()
            return value
        } catch let error as RecoveryMessageError {
            throw error
        } catch let error as HandleError {
            throw .invalidHandle(error)
        } catch let error as RecoveryStepFault {
            throw .invalidStart(error)
        } catch let error as CanonicalCodingError { throw .malformed(error) } catch { throw .invalidLength }
    }
}

extension ByteReader {
    /// Revealed numbers behind their length in two bytes.
    fileprivate mutating func revealed() throws -> [UInt8] {
        let count = Int(try uint16())
        guard count <= RecoveryAsking.maximumRevealByteCount else { throw RecoveryMessageError.invalidLength }
        return Array(try bytes(count))
    }

    /// Bytes behind their length in one byte.
    fileprivate mutating func shortBytes() throws(CanonicalCodingError) -> [UInt8] { Array(try bytes(Int(uint8()))) }
}
