// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import TransparencyLog
public import VerifiableMap

/// That something is the newest that a directory has logged under a ``ReservedLabel``, in an epoch that the reader has verified.
///
/// Wire form: u16 count and steps of the label's path to the index root, 33 bytes each; u64 count and 32 root of the label's
/// history; u8 count and hashes of the path of its last entry, 32 bytes each.
public struct NewestRecordProof: Hashable, Sendable {
    /// The path of the label to the index root.
    public let indexPath: MapPath
    /// All records under the label.
    public let history: LabelHead
    /// The path of the last to the root of the history.
    public let lastPath: [TreeHash]

    /// The version of the last record.
    public var version: UInt64 { history.count }

    /// A proof of these parts.
    public init(indexPath: MapPath, history: LabelHead, lastPath: [TreeHash]) {
        self.indexPath = indexPath
        self.history = history
        self.lastPath = lastPath
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(indexPath)
        writer.write(history.count)
        writer.write(history.root.bytes)
        writer.write(path: lastPath)
    }

    /// Reads the wire form from within a longer one.
    ///
    /// - Throws: `LookupMessageError`.
    public init(from reader: inout ByteReader) throws(LookupMessageError) {
        do {
            indexPath = try reader.mapPath()
            history = LabelHead(TreeHead(size: try reader.uint64(), root: try reader.hash(TreeHash.init)))
            lastPath = try reader.path()
        } catch { throw LookupMessageError(error) }
    }

    /// Checks, in this order: index, history.
    ///
    /// - Parameters:
    ///   - bytes: what is said to be logged.
    ///   - epoch: one that was shown to be recent, by a lookup.
    /// - Throws: ``NewestRecordError``. A retry does not help.
    ///
    /// Security: a client that verifies the same or a newer epoch is shown the same, or sees a fork.
    public func verify(
        _ bytes: [UInt8], under label: ReservedLabel, in epoch: VerifiedEpoch
    ) throws(NewestRecordError) {
        let proof = MapProof.present(value: history.value, path: indexPath)
        do { _ = try proof.verify(label.index.key, in: epoch.record.root) } catch { throw .index(error) }
        let record = label.record(of: bytes, version: history.count)
        do { try history.checkLast(record, path: lastPath) } catch { throw .history(error) }
    }
}

/// Why something is not believed to be the newest under its label: one case a check.
public enum NewestRecordError: Error, Hashable, Sendable {
    /// The index of the epoch does not hold this history.
    case index(MapProofError)
    /// It is not the last of the history: it is an older one, or was never logged.
    case history(HistoryError)
}
