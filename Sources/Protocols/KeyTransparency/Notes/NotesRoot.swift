public import CanonicalCoding
import Crypto
public import TransparencyLog
public import VerifiableMap

/// What a directory's log says of all notes on its server: the root of the map that holds where each note stands, and when
/// that was so.
///
/// It is logged as a state record (kind `set`) under a label of its own, which is no account's, one version after the other;
/// the record's commitment is SHA-256 of ``encoded``. The directory logs one at fixed intervals, changed or not, so that the log
/// tells nothing of anybody's notes.
///
/// Wire form, 61 bytes: `signet-notes-root/v1` LF; u64 time; 32 root of the map.
public struct NotesRoot: Hashable, Sendable {
    /// When it was taken, in seconds since 1970.
    public let time: UInt64
    /// The root of the map from notes to heads.
    public let root: MapHash

    /// Where it stands in the index: SHA-256("kt-notes/v1"), which is no hash of a VRF hash.
    public static let label = LabelIndex(of: "kt-notes/v1")

    static let format: StaticString = "signet-notes-root/v1\n"

    /// A root at a time.
    public init(time: UInt64, root: MapHash) {
        self.time = time
        self.root = root
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(time)
        writer.write(root.bytes)
        return writer.bytes
    }

    /// The log entry that holds it.
    public func record(version: UInt64) -> StateRecord {
        StateRecord(label: Self.label, version: version, kind: .set, commitment: StateCommitment(hashing: encoded))
    }
}

/// That a ``NotesRoot`` is the newest that a directory has logged, in an epoch that the reader has verified.
///
/// Wire form: u64 time, 32 root; u16 count and steps of the label's path to the index root, 33 bytes each; u64 count and 32 root of
/// the label's history; u8 count and hashes of the path of its last entry, 32 bytes each.
public struct NotesRootProof: Hashable, Sendable {
    /// What is logged.
    public let root: NotesRoot
    /// The path of ``NotesRoot/label`` to the index root.
    public let indexPath: MapPath
    /// All roots that were logged; their number is the version of the last.
    public let history: LabelHead
    /// The path of the last to the root of the history.
    public let lastPath: [TreeHash]

    /// A proof of these parts.
    public init(root: NotesRoot, indexPath: MapPath, history: LabelHead, lastPath: [TreeHash]) {
        self.root = root
        self.indexPath = indexPath
        self.history = history
        self.lastPath = lastPath
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(root.time)
        writer.write(root.root.bytes)
        writer.write(indexPath)
        writer.write(history.count)
        writer.write(history.root.bytes)
        writer.write(path: lastPath)
    }

    /// Reads the wire form where it stands in a longer one.
    ///
    /// - Throws: `LookupMessageError`.
    public init(from reader: inout ByteReader) throws(LookupMessageError) {
        do {
            root = NotesRoot(time: try reader.uint64(), root: try reader.hash(MapHash.init))
            indexPath = try reader.mapPath()
            history = LabelHead(TreeHead(size: try reader.uint64(), root: try reader.hash(TreeHash.init)))
            lastPath = try reader.path()
        } catch { throw LookupMessageError(error) }
    }

    /// Checks, in this order: index, history, age.
    ///
    /// - Parameters:
    ///   - epoch: one that was shown to be recent, by a lookup.
    ///   - now: seconds since 1970.
    /// - Throws: ``NotesRootError``; ``NotesRootError/tooOld(seconds:)`` and a corrected clock are worth a retry.
    ///
    /// Security: whoever verifies a newer or the same epoch is shown the same root, or sees a fork. That the map behind it holds
    /// what people wrote is for each of them to look at, for their own notes: nobody replays it.
    public func verify(in epoch: VerifiedEpoch, at now: UInt64) throws(NotesRootError) -> VerifiedNotesRoot {
        let proof = MapProof.present(value: history.value, path: indexPath)
        do { _ = try proof.verify(NotesRoot.label.key, in: epoch.record.root) } catch { throw .index(error) }
        let record = root.record(version: history.count)
        do { try history.checkLast(record, path: lastPath) } catch { throw .history(error) }
        try checkAge(at: now)
        return VerifiedNotesRoot(version: history.count, root: root)
    }

    private func checkAge(at now: UInt64) throws(NotesRootError) {
        let rule = EpochTimeRule.standard
        guard root.time <= now || root.time - now <= rule.clockSkew else {
            throw .fromTheFuture(secondsAhead: root.time - now)
        }
        guard root.time >= now || now - root.time <= rule.maximumLag else { throw .tooOld(seconds: now - root.time) }
    }
}

/// A root that was shown to be the newest one logged, and recent. Only ``NotesRootProof`` makes one.
public struct VerifiedNotesRoot: Hashable, Sendable {
    /// The version of its record.
    public let version: UInt64
    /// What was logged.
    public let root: NotesRoot
}

/// Why a root of the notes is not believed: one case a check.
public enum NotesRootError: Error, Hashable, Sendable {
    /// The index of the epoch does not hold this history.
    case index(MapProofError)
    /// It is not the last of the history.
    case history(HistoryError)
    /// It was logged too long ago: what came after it is not shown, or is not logged.
    case tooOld(seconds: UInt64)
    /// Its time is ahead of this device's clock.
    case fromTheFuture(secondsAhead: UInt64)
}
