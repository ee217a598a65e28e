// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
package import KeyTransparency

/// A recovery file as far as its storage server can read it: everything that is not sealed.
///
/// Wire form: `signet-recovery-file/v2` LF; commitment (104); u32 length and bundle; u32 length and journal, which is
/// `signet-journal/v2` LF, scope (36), u32 count and the records; zeros up to a multiple of 8192 bytes. Of the bundle, 7553
/// bytes, it reads first line (17), scope (36), delay at 61, and from the end signature (64), count (4) and head (32) of the
/// journal when it was made.
package struct RecoveryFileParts: Hashable, Sendable {
    /// What the account committed to.
    package let commitment: RecoveryCommitment
    /// The bundle, of which the commitment names the hash.
    package let bundle: [UInt8]
    /// The journal's records, as far as they can be read.
    package let records: [JournalRecord]
    /// Whether these are all, the bundle fits them, and nothing stands behind them: what a new device reads.
    package let isWhole: Bool

    /// A bundle's length in bytes.
    package static let bundleByteCount = 7553
    private static let format = Array("signet-recovery-file/v2\n".utf8)
    private static let bundleFormat = Array("signet-bundle/v2\n".utf8)

    /// Account and epoch, 36 bytes.
    package var scope: [UInt8] { Array(bundle[17..<53]) }

    /// Nil when commitment or bundle are none, or the bundle is another.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard (try? reader.bytes(Self.format.count)).map({ $0.elementsEqual(Self.format) }) == true,
            let fields = try? reader.bytes(RecoveryCommitment.byteCount),
            let commitment = try? RecoveryCommitment(decoding: Array(fields)),
            let bundle = try? reader.long(), bundle.count == Self.bundleByteCount,
            bundle.starts(with: Self.bundleFormat), Array(SHA256.hash(data: bundle)) == commitment.bundleHash
        else { return nil }
        self.commitment = commitment
        self.bundle = bundle
        let journal = try? reader.long()
        let isJournalWhole: Bool
        (records, isJournalWhole) = Self.records(in: journal ?? [], Array(bundle[17..<53]))
        let padding = reader.rest()
        isWhole =
            isJournalWhole && padding.count < RecoveryFile.paddingStep && padding.allSatisfy { $0 == 0 }
            && bytes.count.isMultiple(of: RecoveryFile.paddingStep) && Self.fits(bundle, commitment, records)
    }

    /// The records up to the first that cannot be read, and whether the journal has so many and nothing else.
    private static func records(in journal: [UInt8], _ scope: [UInt8]) -> ([JournalRecord], isWhole: Bool) {
        var (reader, records) = (ByteReader(journal), [JournalRecord]())
        let format = JournalRecord.format.withUTF8Buffer { Array($0) }
        guard (try? reader.bytes(format.count)).map({ $0.elementsEqual(format) }) == true,
            (try? reader.bytes(scope.count)).map({ $0.elementsEqual(scope) }) == true, let count = try? reader.uint32()
        else { return ([], false) }
        while records.count < min(Int(count), JournalRecord.maximumCount),
            let record = try? JournalRecord(from: &reader)
        {
            records.append(record)
        }
        return (records, records.count == Int(count) && reader.remaining == 0)
    }

    /// Epoch and delay are those of the commitment, and the journal holds what the bundle knew.
    private static func fits(
        _ bundle: [UInt8], _ commitment: RecoveryCommitment, _ records: [JournalRecord]
    ) -> Bool {
        func number(_ offset: Int) -> UInt32 { bundle[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        let known = Int(number(bundle.count - 68))
        guard number(49) == commitment.epoch, number(61) == commitment.delay, known <= records.count else {
            return false
        }
        return known == 0
            || Array(records.prefix(known)).head.elementsEqual(bundle[(bundle.count - 100)..<(bundle.count - 68)])
    }
}

extension RecoveryFile {
    /// What the storage server can read of the file; nil if it can read nothing, or if the file belongs to another
    /// commitment.
    package var parts: RecoveryFileParts? {
        guard let parts = RecoveryFileParts(bytes), parts.commitment.hash == commitment else { return nil }
        return parts
    }

    /// What the account committed to, with the label that the bundle names; nil when a new device could not read the file.
    public var promise: RecoveryPromise? {
        guard let parts, parts.isWhole, let label = LabelIndex(Array(parts.scope.prefix(32))) else { return nil }
        return RecoveryPromise(parts.commitment, label: label)
    }
}

extension ByteReader {
    /// Bytes behind their length in four bytes.
    fileprivate mutating func long() throws(CanonicalCodingError) -> [UInt8] { Array(try bytes(Int(uint32()))) }
}
