// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// Why bytes are not a checkpoint that people hand to each other. None is worth a retry.
public enum CheckpointCardError: Error, Hashable, Sendable {
    /// Not a signed note.
    case note(NoteError)
    /// More than ``CheckpointCard/maximumByteCount`` bytes, or other lines than a card has.
    case malformed
    /// No listed log signed it.
    case checkpoint(CheckpointVerificationError)
}

/// The newest checkpoint that a person has verified, in the form in which contacts exchange it: inside signalling, on a
/// screen, or in a code that a camera reads.
///
/// It is a C2SP signed note of four lines and the log's signature, so that one encoding serves all three, and a person
/// who is shown a fork has both signatures:
/// ```
/// directory.example/log
/// 20852163
/// CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
///
/// — directory.example/log Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
/// ```
///
/// Security: a card tells how large the log was when its giver last looked, and nothing else about the giver.
public struct CheckpointCard: Hashable, Sendable {
    /// The longest card, in bytes.
    public static let maximumByteCount = 1024

    /// What the log signed, with the log's line only.
    public let signed: LogSignedCheckpoint

    /// Origin, size and root.
    public var checkpoint: Checkpoint { signed.checkpoint }

    /// The card of a checkpoint that was verified.
    ///
    /// - Throws: ``CheckpointCardError/malformed``: the log's name is too long for a card, or the checkpoint has
    ///   extension lines.
    public init(_ checkpoint: VerifiedCheckpoint) throws(CheckpointCardError) {
        let policy: Policy
        do { policy = try Policy(logs: [.init(key: checkpoint.log)], quorum: .none) } catch { throw .malformed }
        try self.init(of: checkpoint.note, policy: policy)
    }

    /// The card in a note that a store kept: the note with the line of the log's key only.
    ///
    /// - Throws: ``CheckpointCardError``.
    public init(of note: SignedNote, policy: Policy) throws(CheckpointCardError) {
        let full = try Self.verified(note, policy)
        let lines = note.signatures.filter { $0.isClaimed(by: full.log) }.prefix(1)
        let bare: SignedNote
        do throws(NoteError) { bare = try SignedNote(text: note.text, signatures: Array(lines)) } catch {
            throw .note(error)
        }
        try self.init(decoding: bare.encoded, policy: policy)
    }

    /// Reads a card and checks the log's signature.
    ///
    /// - Throws: ``CheckpointCardError``: not exactly what ``encoded`` prints, or not signed by a listed log.
    public init(decoding bytes: [UInt8], policy: Policy) throws(CheckpointCardError) {
        guard bytes.count <= Self.maximumByteCount else { throw .malformed }
        let note: SignedNote
        do throws(NoteError) { note = try SignedNote(decoding: bytes) } catch { throw .note(error) }
        signed = try Self.verified(note, policy)
        guard note.signatures.count == 1, signed.checkpoint.extensions.isEmpty else { throw .malformed }
    }

    /// The card: a signed note with one signature line.
    public var encoded: [UInt8] { signed.note.encoded }

    private static func verified(
        _ note: SignedNote, _ policy: Policy
    ) throws(CheckpointCardError) -> LogSignedCheckpoint {
        do throws(CheckpointVerificationError) { return try policy.verifyLogSignature(on: note) } catch {
            throw .checkpoint(error)
        }
    }
}
