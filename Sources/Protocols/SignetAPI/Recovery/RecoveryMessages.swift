// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto
public import KeyTransparency

/// What a new device needs besides the guardians, under the hash of the account's commitment to it; padded. The storage
/// server cannot open what is sealed in it; ``parts`` is what it sees.
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

        /// A letter to a person.
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
    /// The sender, as the server says.
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
    /// At most this many letters; ask again from the last one.
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

/// Letters that are done with, by number. Wire form: 1 to 128 u64 numbers, rising.
public struct RecoveryDrop: Hashable, Sendable {
    /// At most this many at once.
    public static let maximumCount = 128
    /// The server's running numbers.
    public let numbers: [UInt64]

    /// Letters of these numbers, 1 to ``maximumCount``, rising.
    public init(_ numbers: [UInt64]) { self.numbers = numbers }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        for number in numbers { writer.write(number) }
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``RecoveryMessageError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryMessageError) {
        numbers = try RecoveryMessageError.reading(bytes) { reader in
            var numbers: [UInt64] = []
            for _ in 0..<bytes.count / 8 { numbers.append(try reader.uint64()) }
            guard (1...Self.maximumCount).contains(numbers.count),
                zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 })
            else { throw RecoveryMessageError.invalidLength }
            return numbers
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
    /// The sender of the answer holds no part of the account.
    case notGuardian = 3
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
    /// A commitment is none.
    case invalidCommitment(RecoveryCommitmentError)
    /// The start names another request, or another commitment.
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
        } catch let error as RecoveryCommitmentError {
            throw .invalidCommitment(error)
        } catch let error as CanonicalCodingError { throw .malformed(error) } catch { throw .invalidLength }
    }
}

extension ByteReader {
    /// Bytes behind their length in one byte.
    mutating func shortBytes() throws(CanonicalCodingError) -> [UInt8] { Array(try bytes(Int(uint8()))) }
}
