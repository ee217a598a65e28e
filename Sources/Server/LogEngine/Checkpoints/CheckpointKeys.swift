// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// A checkpoint that was signed, recorded, and made known.
public struct PublishedCheckpoint: Hashable, Sendable {
    /// The size and root of the tree.
    public let head: TreeHead
    /// The signed checkpoint with the log's signature and the local cosignatures.
    public let note: SignedNote
    /// The same note as it is served (`<prefix>/checkpoint`).
    public let bytes: [UInt8]

    /// A checkpoint from anywhere.
    package init(head: TreeHead, note: SignedNote) {
        self.head = head
        self.note = note
        bytes = note.encoded
    }
}

/// Why a checkpoint could not be signed.
public enum LogSigningError: Error, Hashable, Sendable {
    /// A key refused: the log's is to be ``TransparencyLog/VerifierKey/Algorithm/ed25519``, a cosigner's
    /// ``TransparencyLog/VerifierKey/Algorithm/cosignatureV1``, and the clock in range.
    case key(NoteSignerError)
    /// The checkpoint's text could not be made.
    case checkpoint(CheckpointError)
    /// Text and signatures do not make a note.
    case note(NoteError)
}

/// The keys that sign every checkpoint of a log.
struct CheckpointKeys: Sendable {
    let log: NoteSigner
    let cosigners: [NoteSigner]
    let clock: @Sendable () -> UInt64

    /// The name of the log's key, which is also the origin line of its checkpoints.
    var origin: KeyName { log.verifierKey.name }

    /// Signs a head with the log's key and cosigns it at the present time.
    func sign(_ head: TreeHead) throws(LogSigningError) -> PublishedCheckpoint {
        let text = try text(of: head)
        let signatures = try signatures(on: text)
        do throws(NoteError) {
            return PublishedCheckpoint(head: head, note: try SignedNote(text: text, signatures: signatures))
        } catch {
            throw .note(error)
        }
    }

    private func text(of head: TreeHead) throws(LogSigningError) -> [UInt8] {
        do throws(CheckpointError) { return try Checkpoint(origin: origin, head: head).text } catch {
            throw .checkpoint(error)
        }
    }

    private func signatures(on text: [UInt8]) throws(LogSigningError) -> [NoteSignature] {
        let time = clock()
        do throws(NoteSignerError) {
            var signatures = [try log.sign(text)]
            for cosigner in cosigners { signatures.append(try cosigner.cosign(text, time: time)) }
            return signatures
        } catch {
            throw .key(error)
        }
    }
}
