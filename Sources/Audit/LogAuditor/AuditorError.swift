// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import PinnedHTTP
public import SignetClient
public import TransparencyLog

/// Why an audit came to no sound end.
public enum AuditorError: Error, Hashable, Sendable {
    /// The log is guilty: the proof was kept. Nothing of it is ever cosigned again.
    case guilty(LogGuilt)
    /// The log is guilty, and the proof could not be written.
    case evidenceNotKept(Evidence, FileFault)
    /// A file of evidence in the folder cannot be read. The operator has to look.
    case evidenceDamaged(name: String)
    /// The source.
    case source(LogSourceError)
    /// The auditor's folder.
    case folder(FileFault)
    /// Another auditor works in the folder.
    case folderInUse
    /// The folder's checkpoint is not of this log.
    case folderOfAnotherLog
    /// The source has no checkpoint.
    case checkpointMissing
    /// The checkpoint is not a signed note.
    case note(NoteError)
    /// The log did not sign the checkpoint.
    case checkpoint(CheckpointVerificationError)
    /// The checkpoint is of another log than the one that is audited.
    case otherLog
    /// A tile that the checkpoint implies is missing.
    case missing(Tile?)
    /// A tile is not in the form of one.
    case malformed(Tile, TileError)
    /// The checkpoint is smaller than the largest audited one, and of the same history. It is not judged again.
    case older(size: UInt64, audited: UInt64)
    /// The entries do not lead to the signed root, and nothing shows whose fault that is.
    case entriesDoNotMatch(size: UInt64)
    /// Two checkpoints of different sizes, and the source's tiles prove nothing about them.
    case noConsistencyProof(from: UInt64, to: UInt64)
    /// The log's last epoch is not of now, by this machine's clock: the log hides what came after it, or its own clock is
    /// wrong. No new checkpoint is cosigned while that is so. No one else can check when it was seen, so it is not evidence.
    case epochTime(EpochError)
    /// The log goes on from another one that was audited here, and dates its first epoch before that one's last. It is not
    /// cosigned. A party that has not audited the other log cannot check it, so it is not evidence.
    case firstEpoch(EpochError)
    /// The log goes on from another one that was audited here, and that audit does not stand at the end that the log names: so
    /// many entries were audited, and so many are named. It is not cosigned. A retry helps with a ``FormerAudit`` that
    /// has read the other log to that end.
    case formerEnd(audited: UInt64, named: UInt64)
    /// The log has more entries than this program can hold.
    case tooLarge(UInt64)
    /// This many entries of the checkpoint were read, which is enough for one audit: the next one continues there.
    case paused(at: UInt64, of: UInt64)

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .guilty, .evidenceNotKept, .checkpointMissing, .note, .checkpoint, .otherLog, .missing, .malformed,
            .older, .entriesDoNotMatch, .noConsistencyProof, .epochTime, .firstEpoch, .formerEnd:
            .peer
        case .source(let error): error.family
        case .folder(let fault): fault.family
        case .folderInUse, .tooLarge, .paused: .environment
        case .evidenceDamaged, .folderOfAnotherLog: .caller
        }
    }
}

/// What a log did, and where the proof is.
public struct LogGuilt: Hashable, Sendable {
    /// The proof.
    public let evidence: Evidence
    /// What it proves, together with the entries in the auditor's folder.
    public let deed: ProvenFault.Deed?
    /// The file it is in.
    public let path: String
    /// Whether it is of the log from which this one goes on, or of this one under another key.
    public var isInherited = false
}
