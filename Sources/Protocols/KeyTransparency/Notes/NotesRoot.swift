// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import VerifiableMap

/// What a directory's log says of all notes on its server: the root of the map that holds where each note stands, and when
/// that was so.
///
/// It is logged as a state record (kind `set`) under a label of its own, which belongs to no account, one version after the other;
/// the record's commitment is SHA-256 of ``encoded``. The directory logs one at fixed intervals, changed or not, so
/// that the log reveals nothing about any person's notes.
///
/// Wire form, 61 bytes: `signet-notes-root/v1` LF; u64 time; 32 root of the map.
public struct NotesRoot: Hashable, Sendable {
    /// When it was taken, in seconds since 1970.
    public let time: UInt64
    /// The root of the map from notes to heads.
    public let root: MapHash

    /// Its position in the index.
    public static let label = ReservedLabel.notes.index

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
        ReservedLabel.notes.record(of: encoded, version: version)
    }
}

/// That a ``NotesRoot`` is the newest that a directory has logged, in an epoch that the reader has verified.
///
/// Wire form: u64 time, 32 root; a ``NewestRecordProof``.
public struct NotesRootProof: Hashable, Sendable {
    /// What is logged.
    public let root: NotesRoot
    /// That it is the newest. The number of its records is the version of the last.
    public let place: NewestRecordProof

    /// A proof of these parts.
    public init(root: NotesRoot, place: NewestRecordProof) {
        self.root = root
        self.place = place
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(root.time)
        writer.write(root.root.bytes)
        place.write(to: &writer)
    }

    /// Reads the wire form from within a longer one.
    ///
    /// - Throws: `LookupMessageError`.
    public init(from reader: inout ByteReader) throws(LookupMessageError) {
        do {
            root = NotesRoot(time: try reader.uint64(), root: try reader.hash(MapHash.init))
        } catch { throw LookupMessageError(error) }
        place = try NewestRecordProof(from: &reader)
    }

    /// Checks, in this order: index, history, age.
    ///
    /// - Parameters:
    ///   - epoch: one that was shown to be recent, by a lookup.
    ///   - now: seconds since 1970.
    /// - Throws: ``NotesRootError``; ``NotesRootError/tooOld(seconds:)`` and a corrected clock are worth a retry.
    ///
    /// Security: a client that verifies the same or a newer epoch is shown the same root, or sees a fork. Each person
    /// has to check for their own notes that the map behind it holds what they wrote: no auditor replays it.
    public func verify(in epoch: VerifiedEpoch, at now: UInt64) throws(NotesRootError) -> VerifiedNotesRoot {
        do { try place.verify(root.encoded, under: .notes, in: epoch) } catch { throw .record(error) }
        try checkAge(at: now)
        return VerifiedNotesRoot(version: place.version, root: root)
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
    /// It is not the newest that is logged.
    case record(NewestRecordError)
    /// It was logged too long ago: what came after it is not shown, or is not logged.
    case tooOld(seconds: UInt64)
    /// Its time is ahead of this device's clock.
    case fromTheFuture(secondsAhead: UInt64)
}
