// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto

/// What a state record says of the step it logs.
public enum StateKind: UInt8, Hashable, Sendable, CaseIterable {
    /// An ordinary next state, signed by the identity key.
    case set = 1
    /// The identity key changed without a signature by the old one.
    case reset = 2
    /// The account ends: nothing of it is held any more, and its label is used up.
    case close = 3

    /// The word in the log entry.
    public var text: [UInt8] {
        switch self {
        case .set: Array("set".utf8)
        case .reset: Array("reset".utf8)
        case .close: Array("close".utf8)
        }
    }
}

/// HMAC-SHA-256 over a state's encoding under a random 32-byte opening: what the log holds of it.
///
/// Without the opening, a reader cannot tell which state was committed to, not even by guessing; erasing opening and
/// state erases the person, and the log stays complete.
public struct StateCommitment: Hashable, Sendable {
    /// The length of a commitment and of an opening, in bytes.
    public static let byteCount = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Commits to a state.
    ///
    /// - Parameter opening: 32 random bytes, never used for another state.
    public init(to state: AccountState, opening: [UInt8]) {
        bytes = Array(
            HMAC<SHA256>.authenticationCode(for: state.encoded, using: SymmetricKey(data: opening)))
    }

    /// Takes 32 stored or received bytes; nil for any other count.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// SHA-256 of something that is not secret: of a ``NotesRoot``.
    init(hashing bytes: [UInt8]) { self.bytes = Array(SHA256.hash(data: bytes)) }

    /// What the record of a closed account carries: 32 zero bytes, since there is no state to commit to.
    public static let toNothing = StateCommitment(unchecked: [UInt8](repeating: 0, count: byteCount))

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}

/// The log entry for one step of an account's state.
///
/// ```
/// kt-state/v1
/// <base64 of the 32-byte label index>
/// <version>
/// set
/// <base64 of the 32-byte commitment>
/// ```
/// The first line holds a `-`, which no base64 does, so it is never a device leaf.
public struct StateRecord: Hashable, Sendable {
    /// The account's place in the index.
    public let label: LabelIndex
    /// The state's version, from 1.
    public let version: UInt64
    /// What kind of step it is.
    public let kind: StateKind
    /// The commitment to the state; ``StateCommitment/toNothing`` at the end.
    public let commitment: StateCommitment

    static let format = Array("kt-state/v1".utf8)

    /// A record of these parts.
    public init(label: LabelIndex, version: UInt64, kind: StateKind, commitment: StateCommitment) {
        self.label = label
        self.version = version
        self.kind = kind
        self.commitment = commitment
    }

    /// The record that closes an account.
    public init(closing label: LabelIndex, version: UInt64) {
        self.init(label: label, version: version, kind: .close, commitment: .toNothing)
    }

    /// The raw log entry, five lines.
    public var entry: [UInt8] {
        var writer = ByteWriter()
        for line in [
            Self.format, Base64.encode(label.bytes), Decimal.encode(version), kind.text,
            Base64.encode(commitment.bytes),
        ] {
            writer.write(line)
            writer.write(UInt8(ascii: "\n"))
        }
        return writer.bytes
    }

    /// Reads a raw log entry.
    ///
    /// - Throws: ``LogEntryError``: not exactly what ``entry`` prints.
    public init(decoding entry: [UInt8]) throws(LogEntryError) {
        var reader = FormatReader<LogEntryError>(entry)
        guard try reader.line(maximumLength: 16).elementsEqual(Self.format) else {
            throw .notAStateRecord
        }
        let label = LabelIndex(try reader.base64(maximumLength: 64))
        version = try reader.decimal(maximumLength: 20)
        let word = try reader.line(maximumLength: 8)
        let commitment = StateCommitment(try reader.base64(maximumLength: 64))
        try reader.end()
        guard let label, let commitment, version > 0,
            let kind = StateKind.allCases.first(where: { $0.text.elementsEqual(word) }),
            kind != .close || commitment == .toNothing
        else { throw .invalidField }
        self.label = label
        self.kind = kind
        self.commitment = commitment
    }
}

extension LogEntryError: FormatError {}

/// Why a log entry is not what it should be.
public enum LogEntryError: Error, Hashable, Sendable {
    /// Its lines do not have the form.
    case malformed(CanonicalCodingError)
    /// The first line is not `kt-state/v1`.
    case notAStateRecord
    /// The first line is not `kt-epoch/v1`.
    case notAnEpochRecord
    /// The first line is not `kt-key/v1`.
    case notASuccessionRecord
    /// The first line is not `kt-origin/v1`.
    case notAPredecessorRecord
    /// A line decodes to another length, or a word is not known.
    case invalidField
}

extension StateRecord {
    /// What a log entry says of a step, without reading of which account and to what; nil for an entry of another kind.
    ///
    /// Security: of an entry whose other fields are known to be sound, and nothing about those.
    ///
    /// - Throws: ``LogEntryError``.
    package static func step(
        in entry: ArraySlice<UInt8>
    ) throws(LogEntryError) -> (version: UInt64, kind: StateKind)? {
        guard entry.starts(with: format) else { return nil }
        var reader = FormatReader<LogEntryError>(ByteReader(entry))
        _ = try reader.line(maximumLength: 16)
        _ = try reader.line(maximumLength: 64)
        let version = try reader.decimal(maximumLength: 20)
        let word = try reader.line(maximumLength: 8)
        guard version > 0, let kind = StateKind.allCases.first(where: { $0.isSpelled(word) }) else {
            throw .invalidField
        }
        return (version, kind)
    }
}

extension StateKind {
    fileprivate func isSpelled(_ word: ArraySlice<UInt8>) -> Bool {
        let spelling: StaticString =
            switch self {
            case .set: "set"
            case .reset: "reset"
            case .close: "close"
            }
        return spelling.withUTF8Buffer { word.elementsEqual($0) }
    }
}
