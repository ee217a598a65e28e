// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import LogEngine
import VerifiableMap

/// Which label each of the log's first entries belongs to. Without it, a start decodes each entry and looks its label up.
///
/// | Bytes | What | Covered by |
/// |---|---|---|
/// | 25 | `signet-index-snapshot/v1`, LF | compared |
/// | 8 | size: how many entries of the log, big-endian as all numbers here | at most the size that is shown |
/// | 8 | how many labels | as many as the entries have; the length of the file |
/// | 32 each | labels, in the order of their first entries | the index roots in the log |
/// | 4 each | entries: the number of the label of each, from 0; 2^32 - 1: of none | the same; an entry that has no label is decoded, and must have none |
/// | 32 | SHA-256 of everything before | compared |
///
/// Nothing else of the index is in the file. The entries, their leaf hashes, the versions and ends of accounts come from the
/// write-ahead log, which is read whole at every start and whose root is compared with the one that was signed. From them and from
/// the file follow the labels' histories and the index of each day's first epoch and of the last epoch. The log's records of these
/// epochs name its root, and the checkpoint that is shown first covers at least one of them; if a root differs, the start
/// discards everything and replays the log without the file.
///
/// Why the roots cover every number: the index has for each label the root over the leaf hashes of its entries in their order, and
/// each entry has one number. Only entries with equal leaf hashes could change places; those are equal, and so of the same label.
///
/// Security: the checksum finds a damaged file before it costs a replay. The index roots stop an attacker who can write the file. Entries beyond the checkpoint that is shown are never taken from the file.
struct IndexSnapshot: Sendable {
    static let firstLine: StaticString = "signet-index-snapshot/v1\n"
    static let headerByteCount = 25 + 8 + 8
    /// The number of an entry that belongs to no label.
    static let none = UInt32.max

    /// How many entries of the log are covered.
    let size: UInt64
    let labels: [MapKey]
    /// For each entry, the place of its label in ``labels``.
    let numbers: [UInt32]

    /// Why a start does not use the file, or stopped using it.
    enum Fault: Error, Hashable, Sendable {
        /// There is none.
        case missing
        /// It could not be read.
        case file(LogFileError)
        /// The first line is another one.
        case unknownFormat
        /// It is shorter or longer than its counts say.
        case wrongLength
        /// The bytes are not those that were written.
        case checksumMismatch
        /// It is of a larger log than the one that is shown first.
        case ahead(size: UInt64, shown: UInt64)
        /// This entry's number is beyond the next label's.
        case skipsLabel(entry: UInt64)
        /// A label has two numbers.
        case repeatsLabel(entry: UInt64)
        /// This entry is said to be of no label, and is of one.
        case hidesLabel(entry: UInt64)
        /// There are labels that no entry has.
        case unusedLabels(count: Int)
        /// What follows from it is not what the log says: the root of its index above all.
        case contradictsLog(IndexFault)
    }

    init(size: UInt64, labels: [MapKey], numbers: [UInt32]) {
        (self.size, self.labels, self.numbers) = (size, labels, numbers)
    }
}

// MARK: Reading

extension IndexSnapshot {
    /// How many labels, and how many entries, are read or written at a time.
    static let labelsAPiece = 8192
    static let entriesAPiece = 65_536

    /// Reads the file of a log. It allocates memory for what the file holds, not for what its first bytes claim.
    ///
    /// - Throws: ``Fault``.
    init(in files: any LogFileSystem) throws(Fault) {
        var input = try SnapshotInput(files)
        guard try Self.firstLine.withUTF8Buffer({ Array($0) }) == input.take(25) else { throw .unknownFormat }
        let (size, count) = (try input.number(), try input.number())
        guard size > 0, size < UInt64(Self.none), count <= size,
            input.byteCount == Self.fileByteCount(size: size, labelCount: count)
        else { throw .wrongLength }
        var labels: [MapKey] = []
        labels.reserveCapacity(Int(count))
        while labels.count < Int(count) {
            let piece = try input.take(32 * min(Self.labelsAPiece, Int(count) - labels.count))
            for start in stride(from: 0, to: piece.count, by: 32) {
                // Nil for other lengths only.
                if let label = MapKey(piece[start..<start + 32]) { labels.append(label) }
            }
        }
        var numbers: [UInt32] = []
        numbers.reserveCapacity(Int(size))
        while numbers.count < Int(size) {
            let piece = try input.take(4 * min(Self.entriesAPiece, Int(size) - numbers.count))
            piece.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: 4) {
                    numbers.append(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)))
                }
            }
        }
        try input.finish()
        self.init(size: size, labels: labels, numbers: numbers)
    }
}

extension IndexSnapshot {
    /// How long the file is. The counts are below 2^32.
    private static func fileByteCount(size: UInt64, labelCount: UInt64) -> UInt64 {
        UInt64(headerByteCount + SnapshotInput.digestByteCount) + 32 * labelCount + 4 * size
    }
}

/// The file from front to back, hashed on the way.
private struct SnapshotInput {
    static let digestByteCount = 32

    let byteCount: UInt64
    private let file: any LogFile
    private var offset: UInt64 = 0
    private var hasher = SHA256()

    init(_ files: any LogFileSystem) throws(IndexSnapshot.Fault) {
        let found: (any LogFile)?
        do throws(LogFileError) {
            found = try SnapshotFile(in: files).open()
            byteCount = try found?.size() ?? 0
        } catch { throw .file(error) }
        guard let found else { throw .missing }
        file = found
    }

    mutating func take(_ count: Int) throws(IndexSnapshot.Fault) -> [UInt8] {
        let bytes = try read(count)
        bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        return bytes
    }

    mutating func number() throws(IndexSnapshot.Fault) -> UInt64 { try take(8).reduce(0) { $0 << 8 | UInt64($1) } }

    mutating func finish() throws(IndexSnapshot.Fault) {
        let digest = try read(Self.digestByteCount)
        guard hasher.finalize() == digest else { throw .checksumMismatch }
    }

    private mutating func read(_ count: Int) throws(IndexSnapshot.Fault) -> [UInt8] {
        let bytes: [UInt8]
        do throws(LogFileError) { bytes = try file.read(count, at: offset) } catch { throw .file(error) }
        guard bytes.count == count else { throw .wrongLength }
        offset += UInt64(count)
        return bytes
    }
}

// MARK: Writing

extension IndexSnapshot {
    /// Replaces the file of a log by one for its first entries, which end in an epoch record. What it holds is taken from the histories
    /// piece by piece, so that nothing waits long for them.
    ///
    /// - Parameters:
    ///   - labelCount: how many labels these entries have.
    ///   - histories: those of the log, which may have grown meanwhile.
    /// - Throws: ``LogEngine/LogFileError``: there is the old file, or the new one.
    static func write(
        size: UInt64, labelCount: Int, to files: any LogFileSystem, from histories: EpochSealer
    ) throws(LogFileError) {
        var numbers = [UInt32](repeating: none, count: Int(size))
        for start in stride(from: 0, to: labelCount, by: EpochSealer.stepCount) {
            histories.number(start..<min(labelCount, start + EpochSealer.stepCount), in: &numbers)
        }
        var hasher = SHA256()
        try SnapshotFile(in: files).write { (write) throws(LogFileError) in
            func put(_ piece: [UInt8]) throws(LogFileError) {
                piece.withUnsafeBytes { hasher.update(bufferPointer: $0) }
                try write(piece)
            }
            try put(header(size: size, labelCount: labelCount))
            for start in stride(from: 0, to: labelCount, by: labelsAPiece) {
                try put(histories.keys(start..<min(labelCount, start + labelsAPiece)))
            }
            for start in stride(from: 0, to: numbers.count, by: entriesAPiece) {
                try put(bytes(of: numbers[start..<min(numbers.count, start + entriesAPiece)]))
            }
            try write(Array(hasher.finalize()))
        }
    }

    private static func header(size: UInt64, labelCount: Int) -> [UInt8] {
        firstLine.withUTF8Buffer { Array($0) } + bytes(size.bigEndian) + bytes(UInt64(labelCount).bigEndian)
    }

    private static func bytes(of numbers: ArraySlice<UInt32>) -> [UInt8] {
        numbers.map(\.bigEndian).withUnsafeBytes { Array($0) }
    }

    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
}
