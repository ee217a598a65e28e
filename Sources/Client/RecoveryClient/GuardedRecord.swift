// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SocialRecovery

/// What this device has put into a journal: enough to know what is missing, and whether the server still has it.
///
/// `signet-guarded/v1` LF; 32-byte hash of the commitment; u32 count and 32-byte head of the journal; u32 count and SHA-256
/// of each entry in rising order.
struct GuardedRecord: Hashable, Sendable {
    private static let format = Array("signet-guarded/v1\n".utf8)

    let commitment: [UInt8]
    private(set) var count = 0
    private(set) var head = [UInt8](repeating: 0, count: 32)
    private var digests: Set<[UInt8]> = []

    /// Nothing yet.
    init(of commitment: [UInt8]) { self.commitment = commitment }

    init(_ entries: [JournalEntry], of commitment: [UInt8], _ journal: RecoveryJournal) {
        self.init(of: commitment)
        add(entries, in: journal)
    }

    func lacks(_ entry: JournalEntry) -> Bool { !digests.contains(entry.digest) }

    /// With the entries of another record.
    func joined(with other: GuardedRecord?) -> GuardedRecord {
        var joined = self
        joined.digests.formUnion(other?.digests ?? [])
        return joined
    }

    mutating func add(_ entries: [JournalEntry], in journal: RecoveryJournal) {
        digests.formUnion(entries.map(\.digest))
        (count, head) = (journal.count, journal.head)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format + commitment)
        writer.write(UInt32(truncatingIfNeeded: count))
        writer.write(head)
        writer.write(UInt32(truncatingIfNeeded: digests.count))
        for digest in digests.sorted(by: { $0.lexicographicallyPrecedes($1) }) { writer.write(digest) }
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
            throw RecoveryFormatError.unknownFormat
        }
        commitment = Array(try reader.bytes(32))
        count = Int(try reader.uint32())
        head = Array(try reader.bytes(32))
        for _ in 0..<(try reader.uint32()) { digests.insert(Array(try reader.bytes(32))) }
        try reader.end()
    }
}
