// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// What a client asks: everything the log holds under a handle's label since what it knows of it.
///
/// Wire form, integers big-endian: `signet-history-request/v1` LF; u64 known size; u64 known count; the handle to the
/// end. A known count of 0 asks for the whole history.
public struct HistoryRequest: Hashable, Sendable {
    /// The lookup that the answer begins with.
    public let lookup: LookupRequest

    private static let format = Array("signet-history-request/v1\n".utf8)

    /// A request.
    public init(_ lookup: LookupRequest) { self.lookup = lookup }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(lookup.knownSize)
        writer.write(lookup.knownCount)
        writer.write(lookup.handle.bytes)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``LookupMessageError``.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw LookupMessageError.unknownFormat
            }
            let (size, count) = (try reader.uint64(), try reader.uint64())
            let handle = try Handle(canonical: Array(reader.rest()))
            lookup = LookupRequest(handle: handle, knownSize: size, knownCount: count)
        } catch { throw LookupMessageError(error) }
    }
}

/// What a directory answers: a lookup, and the label's entries between what the client knows and the last one, which
/// the lookup shows.
///
/// Wire form, integers big-endian:
///
/// | bytes | what |
/// |---|---|
/// | 18 | `signet-history/v3` LF |
/// | 4 + n | the lookup's answer, ``LookupResponse``, with its length |
/// | 4 | for how many entries follows in which epoch they were logged, in their order: all steps of recoveries that are shown |
/// | | *each:* ``LoggedStep`` |
/// | 8 | which entry of the label, from 1 |
/// | 8 + 1 + 32n | its index in the log, and its path to the log's root |
/// | 8 + 72 + 1 + 32n | the epoch record: its index in the log, the record as in a lookup, its path |
/// | 2 + n | a checkpoint that the quorum cosigned when the entry was not in the log yet, ``SeenCheckpoint``, with its length; 0 for none |
/// | 1 + 32n | only with a checkpoint: the consistency proof from it to the log |
/// | 2 + n + … | one that it cosigned when the entry was there, in the same form |
/// | 4 | how many entries follow, in the order of the log |
/// | | *each:* its form (1 byte) |
/// | 32 | 0, a device: its key |
/// | 1 + 32 + 2 + n | 1, a state: kind (1 set, 2 reset); opening; state, with its length |
/// | 1 + 8 + 32 | 2, a state that is not shown: kind; version; commitment |
/// | 8 | 3, the end: version of the closing step |
///
/// `signet-history/v2`, in which former logs may be kept, is read as well: it has no such checkpoints.
public struct HistoryResponse: Hashable, Sendable {
    /// No answer is longer, in bytes.
    public static let maximumByteCount = 8 << 20
    /// No answer has more entries.
    public static let maximumEntryCount = 1 << 15
    /// Of so many entries, the newest, it is shown when they were logged.
    public static let maximumStepCount = 256
    /// States are shown, the newest first, until they have so many bytes; older ones are not.
    public static let shownByteCount = 4 << 20

    /// An entry of the label, without what all entries of it have in common.
    public enum Entry: Hashable, Sendable {
        /// A device's Ed25519 key, 32 bytes.
        case device([UInt8])
        /// An account state under the opening of its commitment (32 bytes).
        case state(StateKind, opening: [UInt8], encoded: [UInt8])
        /// A state that is not shown: erased, or too old for one answer.
        case withheld(StateKind, version: UInt64, StateCommitment)
        /// The account was closed at this version.
        case closed(version: UInt64)
    }

    /// The answer to the lookup, as ``LookupVerifier`` takes it.
    public let lookup: [UInt8]
    /// When the steps of recoveries among the entries, and the last, were logged; in the order of the log.
    public let steps: [LoggedStep]
    /// The entries from the known count on, without the last.
    public let entries: [Entry]

    private static let format = Array("signet-history/v3\n".utf8)
    private static let formatBefore = Array("signet-history/v2\n".utf8)

    /// An answer of these parts.
    public init(lookup: [UInt8], steps: [LoggedStep] = [], entries: [Entry]) {
        self.lookup = lookup
        self.steps = steps
        self.entries = entries
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt32(truncatingIfNeeded: lookup.count))
        writer.write(lookup)
        writer.write(UInt32(truncatingIfNeeded: steps.count))
        for step in steps { writer.write(step) }
        writer.write(UInt32(truncatingIfNeeded: entries.count))
        for entry in entries { writer.write(entry) }
        return writer.bytes
    }

    /// Reads the wire form: lengths and form only.
    ///
    /// - Throws: ``LookupMessageError``: the server sent something malformed.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        do {
            var reader = ByteReader(bytes)
            let form = Array(try reader.bytes(Self.format.count))
            guard form == Self.format || form == Self.formatBefore else { throw LookupMessageError.unknownFormat }
            lookup = Array(try reader.bytes(reader.count32()))
            let stepCount = try reader.count32()
            guard stepCount <= Self.maximumEntryCount else { throw LookupMessageError.tooManyEntries(stepCount) }
            var steps: [LoggedStep] = []
            for _ in 0..<stepCount { steps.append(try reader.loggedStep(isSeen: form == Self.format)) }
            self.steps = steps
            let count = try reader.count32()
            guard count <= Self.maximumEntryCount else { throw LookupMessageError.tooManyEntries(count) }
            var entries: [Entry] = []
            for _ in 0..<count { entries.append(try reader.historyEntry()) }
            try reader.end()
            self.entries = entries
        } catch { throw LookupMessageError(error) }
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ entry: HistoryResponse.Entry) {
        switch entry {
        case .device(let key):
            write(UInt8(0))
            write(key)
        case .state(let kind, let opening, let encoded):
            write(UInt8(1))
            write(kind.rawValue)
            write(opening)
            write(UInt16(truncatingIfNeeded: encoded.count))
            write(encoded)
        case .withheld(let kind, let version, let commitment):
            write(UInt8(2))
            write(kind.rawValue)
            write(version)
            write(commitment.bytes)
        case .closed(let version):
            write(UInt8(3))
            write(version)
        }
    }
}

extension ByteReader {
    fileprivate mutating func historyEntry() throws -> HistoryResponse.Entry {
        switch try uint8() {
        case 0: return .device(Array(try bytes(32)))
        case 1:
            let (kind, opening) = (try stateKind(), Array(try bytes(StateCommitment.byteCount)))
            return .state(kind, opening: opening, encoded: Array(try bytes(Int(uint16()))))
        case 2:
            let (kind, version) = (try stateKind(), try uint64())
            guard let commitment = StateCommitment(Array(try bytes(StateCommitment.byteCount))) else {
                throw LookupMessageError.unknownFormat
            }
            return .withheld(kind, version: version, commitment)
        case 3: return .closed(version: try uint64())
        case let byte: throw LookupMessageError.unknownAnswer(byte)
        }
    }

    /// Of a state: set or reset.
    private mutating func stateKind() throws -> StateKind {
        let byte = try uint8()
        guard let kind = StateKind(rawValue: byte), kind != .close else {
            throw LookupMessageError.unknownAnswer(byte)
        }
        return kind
    }
}
