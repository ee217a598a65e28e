// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VRF
import VerifiableMap

/// The log entry that ends an epoch, and the three kinds of entries together: one spelling each.
@Suite struct EpochRecordTests {
    let record = EpochRecord(
        number: 7, time: 1_800_000_000_123, start: 40, labelCount: 3, milestone: 12, root: .emptyTrie)

    /// The root is SHA-256 of nothing, made with coreutils' sha256sum and base64.
    static let text = """
        kt-epoch/v1
        7
        1800000000123
        40
        3
        12
        47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=

        """

    @Test func aRecordIsItsSevenLines() throws {
        #expect(record.entry == Array(Self.text.utf8))
        #expect(try EpochRecord(decoding: Array(Self.text.utf8)) == record)
        #expect(record.day == 20833)
    }

    @Test(arguments: [
        ("7", "07"), ("7", "+7"), ("7", "0"), ("7", ""), ("40", "4O"), ("3", "18446744073709551616"),
        ("kt-epoch/v1", "kt-epoch/v2"), ("kt-epoch/v1", "kt-epoch/v1\r"),
        ("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV="),
        ("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "AA=="),
    ]) func otherSpellingsAreRefused(honest: String, other: String) {
        let lines = Self.text.split(separator: "\n", omittingEmptySubsequences: false)
        let edited = lines.map { $0 == honest ? Substring(other) : $0 }.joined(separator: "\n")
        #expect(edited != Self.text)
        #expect(throws: LogEntryError.self) { try EpochRecord(decoding: Array(edited.utf8)) }
    }

    @Test func everyTruncationAndEveryTrailingByteIsRefused() {
        for count in 0..<record.entry.count {
            #expect(throws: LogEntryError.self) { try EpochRecord(decoding: Array(record.entry.prefix(count))) }
        }
        #expect(throws: LogEntryError.malformed(.trailingBytes(1))) {
            try EpochRecord(decoding: record.entry + [10])
        }
    }

    /// One of each kind.
    func entries() throws -> [LogEntry] {
        let label = try #require(VRFHash([UInt8](repeating: 1, count: 64)))
        let alice = try PaperPerson("alice@example.org", seed: 10)
        return [
            .device(DeviceLeaf(label: label, device: alice.devices[0].keys)), .state(try alice.record(label)),
            .state(try alice.closed().record(label)), .epoch(record),
        ]
    }

    @Test func eachKindReadsBackAsItselfAndAsNoOther() throws {
        let entries = try entries()
        for entry in entries { #expect(try LogEntry(decoding: entry.entry) == entry) }
        for entry in entries.dropLast() {
            #expect(throws: LogEntryError.self) { try EpochRecord(decoding: entry.entry) }
        }
        #expect(throws: LogEntryError.notAStateRecord) { try StateRecord(decoding: record.entry) }
        #expect(throws: LogEntryError.self) { try DeviceLeaf(decoding: record.entry) }
        for other in ["", "\n", "kt-state/v1", "kt-epoch/v1", "kt-key/v1\n"] {
            #expect(throws: LogEntryError.self) { try LogEntry(decoding: Array(other.utf8)) }
        }
    }

    @Test(arguments: 0..<8) func mutatedEntriesNeverTrapAndNeverHaveTwoSpellings(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let honest = try entries().map(\.entry)
        for _ in 0..<2000 {
            for entry in honest {
                let bytes = random.mutated(entry)
                if let read = try? LogEntry(decoding: bytes) { #expect(read.entry == bytes) }
            }
        }
    }
}
