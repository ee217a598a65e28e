// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import KeyTransparency

/// Asks for the newest of the directory's public statements of one kind, in an epoch. Wire form: u64 size of the log that the epoch ends.
public struct StatementRequest: Hashable, Sendable {
    /// In bytes.
    public static let byteCount = 8

    /// The size of the log that the asker has verified.
    public let size: UInt64

    /// A question.
    public init(size: UInt64) { self.size = size }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(size)
        return writer.bytes
    }

    /// Reads the wire form, all of it.
    ///
    /// - Throws: `CanonicalCodingError`.
    public init(decoding bytes: [UInt8]) throws(CanonicalCodingError) {
        var reader = ByteReader(bytes)
        size = try reader.uint64()
        try reader.end()
    }
}

/// A statement and its place in the log. Wire form: u32 length and text, `NewestRecordProof`.
public struct LoggedStatement: Hashable, Sendable {
    /// The longest text of any kind, in bytes.
    public static let maximumByteCount = 32_768

    /// The text.
    public let text: [UInt8]
    /// That it is the newest.
    public let place: NewestRecordProof

    /// A statement in its place.
    public init(text: [UInt8], place: NewestRecordProof) { (self.text, self.place) = (text, place) }
}

/// Wire form: u8 1 and a ``LoggedStatement``; u8 2; or u8 3.
public enum StatementAnswer: Hashable, Sendable {
    /// In bytes.
    public static let maximumByteCount = LoggedStatement.maximumByteCount + 32_768

    /// This one.
    case statement(LoggedStatement)
    /// There is none in that epoch: make another lookup to get a newer one, and ask again.
    case anotherEpoch
    /// This server makes no such statement.
    case none

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .statement(let logged):
            writer.write(UInt8(1))
            writer.write(UInt32(truncatingIfNeeded: logged.text.count))
            writer.write(logged.text)
            logged.place.write(to: &writer)
        case .anotherEpoch: writer.write(UInt8(2))
        case .none: writer.write(UInt8(3))
        }
        return writer.bytes
    }

    /// Reads the wire form, all of it; nil if it is none.
    public init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let kind = try? reader.uint8() else { return nil }
        switch kind {
        case 1:
            guard let count = try? reader.uint32(), count <= LoggedStatement.maximumByteCount,
                let text = try? reader.bytes(Int(count)), let place = try? NewestRecordProof(from: &reader)
            else { return nil }
            self = .statement(LoggedStatement(text: Array(text), place: place))
        case 2: self = .anotherEpoch
        case 3: self = .none
        default: return nil
        }
        guard (try? reader.end()) != nil else { return nil }
    }
}
