// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyPinning

/// Reports of connections in which no key was pinned, kept until they are read or sent.
///
/// Each report is one line: the time in decimal, 16 hexadecimal digits that identify host and chain, and the report's JSON
/// object, separated by spaces. One report a day is kept for each host and chain, and one hundred in total: the oldest are
/// dropped first.
public struct ReportSpool: Sendable {
    /// The maximum number of reports.
    public static let capacity = 100
    /// How long further reports of the same host and chain are dropped, in seconds.
    public static let interval: UInt64 = 86_400
    private static let maximumByteCount = 16_777_216

    private let file: DurableFile

    /// The spool in a file, which need not exist.
    public init(_ file: DurableFile) { self.file = file }

    /// A stored report.
    public struct Entry: Hashable, Sendable {
        /// The time of the report, in seconds since 1970.
        public let time: UInt64
        /// Identifies host and chain: 16 hexadecimal digits.
        public let key: [UInt8]
        /// The JSON object.
        public let json: [UInt8]
    }

    /// Stores a report, unless one of the same host and chain was stored within a day.
    ///
    /// - Returns: whether it was stored.
    /// - Throws: ``FileFault``.
    @discardableResult public func add(_ report: ViolationReport) throws(FileFault) -> Bool {
        var entries = try entries()
        let key = Self.key(report)
        let isRepeated = entries.contains { entry in
            entry.key == key && entry.time <= report.time && report.time - entry.time < Self.interval
        }
        guard !isRepeated else { return false }
        entries.append(Entry(time: report.time, key: key, json: report.json))
        try file.replace(with: entries.suffix(Self.capacity).flatMap(\.line))
        return true
    }

    /// The stored reports, oldest first. A line that cannot be read is skipped.
    ///
    /// - Throws: ``FileFault``.
    public func entries() throws(FileFault) -> [Entry] {
        guard file.exists else { return [] }
        return try file.read(maximumByteCount: Self.maximumByteCount).split(separator: UInt8(ascii: "\n"))
            .compactMap { Entry($0) }
    }

    /// Removes all reports.
    ///
    /// - Throws: ``FileFault``.
    public func clear() throws(FileFault) { try file.replace(with: []) }

    private static func key(_ report: ViolationReport) -> [UInt8] {
        var hash = SHA256()
        for part in [report.host.text] + report.servedChain {
            hash.update(data: Hex.encode(Array(SHA256.hash(data: part))))
        }
        return Hex.encode(Array(hash.finalize().prefix(8)))
    }
}

extension ReportSpool.Entry {
    fileprivate var line: [UInt8] { Decimal.encode(time) + [0x20] + key + [0x20] + json + [0x0A] }

    fileprivate init?(_ line: ArraySlice<UInt8>) {
        let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let time = try? Decimal.decode(parts[0]), parts[1].count == 16 else { return nil }
        self.init(time: time, key: Array(parts[1]), json: Array(parts[2]))
    }
}
