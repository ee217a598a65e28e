// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import VerifiableMap

/// The log entry that ends an epoch and says what the index is then.
///
/// ```
/// kt-epoch/v1
/// <number, from 1>
/// <milliseconds since 1970>
/// <index of the epoch's first entry>
/// <number of labels in the index>
/// <index of the last milestone before this record>
/// <base64 of the 32-byte index root>
/// ```
/// Every published checkpoint ends in one (rule E), and its root covers all entries before it. The first line
/// holds a `-`, which no base64 does, so it is never a device leaf.
public struct EpochRecord: Hashable, Sendable {
    /// One more than the epoch before, from 1.
    public let number: UInt64
    /// When the epoch ended, in milliseconds since 1970; never less than in the epoch before.
    public let time: UInt64
    /// The index of the epoch's first entry: the log's size after the epoch before.
    public let start: UInt64
    /// How many labels the index holds.
    public let labelCount: UInt64
    /// Where the last milestone before this record stands: the first epoch record of each day (UTC) is one. In the
    /// first epoch, which is a milestone and has none before it, the record's own index.
    public let milestone: UInt64
    /// The root of the index over all entries before this record.
    public let root: MapHash

    static let format = Array("kt-epoch/v1".utf8)

    /// A record of these parts.
    public init(
        number: UInt64, time: UInt64, start: UInt64, labelCount: UInt64, milestone: UInt64, root: MapHash
    ) {
        self.number = number
        self.time = time
        self.start = start
        self.labelCount = labelCount
        self.milestone = milestone
        self.root = root
    }

    /// The day in which the epoch ended, counted from 1970, in UTC.
    public var day: UInt64 { time / 86_400_000 }

    /// The raw log entry, seven lines.
    public var entry: [UInt8] {
        var writer = ByteWriter()
        let numbers = [number, time, start, labelCount, milestone].map(Decimal.encode)
        for line in [Self.format] + numbers + [Base64.encode(root.bytes)] {
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
            throw .notAnEpochRecord
        }
        number = try reader.decimal(maximumLength: 20)
        time = try reader.decimal(maximumLength: 20)
        start = try reader.decimal(maximumLength: 20)
        labelCount = try reader.decimal(maximumLength: 20)
        milestone = try reader.decimal(maximumLength: 20)
        let root = MapHash(try reader.base64(maximumLength: 64))
        try reader.end()
        guard let root, number > 0 else { throw .invalidField }
        self.root = root
    }
}
