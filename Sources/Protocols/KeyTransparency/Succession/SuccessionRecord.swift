// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog
public import VRF

/// The log entry by which a directory changes its keys or its policy, or hands over to another log.
///
/// ```
/// kt-key/v1
/// keys                                 or: log
/// <number, from 1>
/// <base64 of the 32-byte VRF key>
/// <base64 of the policy's text>
/// ```
/// `keys`: from here on the log of the same origin is trusted under this policy; the VRF key stays. `log`: the log ends
/// here, and another one, which the policy names, goes on; only an epoch record may follow.
public struct SuccessionRecord: Hashable, Sendable {
    /// What changes.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// Log key or policy of the same log.
        case keys
        /// The log itself, and perhaps the VRF key.
        case log

        var word: [UInt8] {
            switch self {
            case .keys: Array("keys".utf8)
            case .log: Array("log".utf8)
            }
        }
    }

    /// The longest policy that a record holds, in bytes.
    public static let maximumPolicyByteCount = 32_768

    /// What changes.
    public let kind: Kind
    /// One more than in the record before, from 1.
    public let number: UInt64
    /// The key under which handles become labels from here on.
    public let vrfKey: VRFPublicKey
    /// Whose signatures a checkpoint needs from here on.
    public let policy: Policy

    static let format = Array("kt-key/v1".utf8)

    /// A record of these parts.
    public init(kind: Kind, number: UInt64, vrfKey: VRFPublicKey, policy: Policy) {
        self.kind = kind
        self.number = number
        self.vrfKey = vrfKey
        self.policy = policy
    }

    /// The raw log entry, five lines.
    public var entry: [UInt8] {
        var writer = ByteWriter()
        for line in [
            Self.format, kind.word, Decimal.encode(number), Base64.encode(vrfKey.bytes), Base64.encode(policy.encoded),
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
            throw .notASuccessionRecord
        }
        let word = try reader.line(maximumLength: 8)
        number = try reader.decimal(maximumLength: 20)
        let keyBytes = try reader.base64(maximumLength: 64)
        do throws(VRFKeyError) { vrfKey = try VRFPublicKey(keyBytes) } catch { throw .invalidField }
        let text = try reader.base64(maximumLength: 2 * Self.maximumPolicyByteCount)
        try reader.end()
        guard number > 0, text.count <= Self.maximumPolicyByteCount,
            let kind = Kind.allCases.first(where: { $0.word.elementsEqual(word) })
        else { throw .invalidField }
        self.kind = kind
        do throws(PolicyError) { policy = try Policy(decoding: text) } catch { throw .invalidField }
        guard policy.encoded == text else { throw .invalidField }
    }
}

/// The first entry of a log that goes on where another one ended: the last checkpoint of that one.
///
/// ```
/// kt-origin/v1
/// <base64 of the signed note>
/// ```
public struct PredecessorRecord: Hashable, Sendable {
    /// The last checkpoint of the log before, with its signatures. Nothing of it is verified by reading the record.
    public let note: SignedNote

    static let format = Array("kt-origin/v1".utf8)

    /// A record of this checkpoint.
    public init(note: SignedNote) { self.note = note }

    /// The raw log entry, two lines.
    public var entry: [UInt8] {
        var writer = ByteWriter()
        for line in [Self.format, Base64.encode(note.encoded)] {
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
            throw .notAPredecessorRecord
        }
        let text = try reader.base64(maximumLength: 60_000)
        do throws(NoteError) { note = try SignedNote(decoding: text) } catch { throw .invalidField }
        try reader.end()
    }
}
