// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog

/// A change of keys that can be checked without the log: the record, and that a checkpoint of the time covers it.
public struct SuccessionLink: Hashable, Sendable {
    /// The record.
    public let record: SuccessionRecord
    /// That it is in the log.
    public let inclusion: InclusionProof
    /// The checkpoint, a signed note, as the trust before the change accepts it.
    public let note: SignedNote

    /// A link of these parts.
    public init(record: SuccessionRecord, inclusion: InclusionProof, note: SignedNote) {
        self.record = record
        self.inclusion = inclusion
        self.note = note
    }
}

/// Every change of keys of a directory, oldest first: what a client that slept for a year reads.
///
/// Wire form, integers big-endian: `signet-succession/v1` LF; u16 number of links; each u32 length and bytes of the
/// record's entry, u64 index, u8 count and hashes of its path, u32 length and bytes of the note.
public struct SuccessionChain: Hashable, Sendable {
    /// No chain is longer, in links.
    public static let maximumLinkCount = 1024
    /// No chain is longer, in bytes.
    public static let maximumByteCount = 16 << 20

    /// The changes.
    public let links: [SuccessionLink]

    private static let format = Array("signet-succession/v1\n".utf8)

    /// A chain of these links.
    public init(links: [SuccessionLink]) { self.links = links }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt16(truncatingIfNeeded: links.count))
        for link in links {
            let (entry, note) = (link.record.entry, link.note.encoded)
            writer.write(UInt32(truncatingIfNeeded: entry.count))
            writer.write(entry)
            writer.write(link.inclusion.index)
            writer.write(path: link.inclusion.hashes)
            writer.write(UInt32(truncatingIfNeeded: note.count))
            writer.write(note)
        }
        return writer.bytes
    }

    /// Reads the wire form: lengths and form only, nothing is verified.
    ///
    /// - Throws: ``SuccessionError/malformed``.
    public init(decoding bytes: [UInt8]) throws(SuccessionError) {
        do {
            guard bytes.count <= Self.maximumByteCount else { throw SuccessionError.malformed }
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw SuccessionError.malformed
            }
            let count = Int(try reader.uint16())
            guard count <= Self.maximumLinkCount else { throw SuccessionError.malformed }
            var links: [SuccessionLink] = []
            for _ in 0..<count { links.append(try reader.link()) }
            try reader.end()
            self.links = links
        } catch { throw .malformed }
    }
}

extension ByteReader {
    fileprivate mutating func link() throws -> SuccessionLink {
        let record = try SuccessionRecord(decoding: Array(bytes(count32())))
        let inclusion = InclusionProof(index: try uint64(), hashes: try path())
        return SuccessionLink(
            record: record, inclusion: inclusion, note: try SignedNote(decoding: Array(bytes(count32()))))
    }
}

/// Why a change of keys was refused. None is worth a retry with the same bytes.
public enum SuccessionError: Error, Hashable, Sendable {
    /// The bytes do not have the form.
    case malformed
    /// The checkpoint is not one that the trust before the change accepts: below the quorum, or of another log.
    case checkpoint(link: Int, CheckpointVerificationError)
    /// The record is not in that checkpoint's log.
    case inclusion(link: Int, InclusionProofError)
    /// A record's number is not one more than that of the one before: something was left out.
    case number(link: Int, expected: UInt64, found: UInt64)
    /// `keys` for another log than before.
    case otherLog(link: Int)
    /// `log` for the log that it ends.
    case sameLog(link: Int)
    /// The new log's first entry does not name the checkpoint with which the one before ended.
    case firstEntry
    /// The new log's first epoch is not shown (``EpochError/emptyLog``), is not its first, or is from before the old log's end.
    case firstEpoch(EpochError)
    /// `keys` with another VRF key: labels would change under the people's feet.
    case otherVRFKey(link: Int)
}
