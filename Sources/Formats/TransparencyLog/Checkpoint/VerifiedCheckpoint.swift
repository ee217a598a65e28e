// SPDX-License-Identifier: Apache-2.0

/// A checkpoint that one of a policy's logs signed; its cosignatures are not checked yet.
///
/// Only ``Policy/verifyLogSignature(on:)`` makes one.
public struct LogSignedCheckpoint: Hashable, Sendable {
    /// What the log signed.
    public let checkpoint: Checkpoint
    /// The key whose signature verified.
    public let log: VerifierKey
    /// The note it came in.
    public let note: SignedNote

    /// Takes what a program's own folder kept of a log that one of these keys is of: the log may have signed it with an
    /// earlier key. Nil for a note of another log.
    ///
    /// Security: nothing is verified here; the folder must be as trustworthy as the program.
    package init?(uncheckedNote note: SignedNote, of keys: [VerifierKey]) {
        guard let checkpoint = try? Checkpoint(decoding: note.text),
            let log = keys.first(where: { $0.name == checkpoint.origin })
        else { return nil }
        self.init(checkpoint: checkpoint, log: log, note: note)
    }

    init(checkpoint: Checkpoint, log: VerifierKey, note: SignedNote) {
        self.checkpoint = checkpoint
        self.log = log
        self.note = note
    }
}

/// A checkpoint that a policy accepted: a listed log signed it and enough witnesses cosigned it.
///
/// Only ``Policy/verify(_:)`` and ``Policy/verifyCosignatures(on:)`` make one.
///
/// Security: nothing is said about its age. Compare ``quorumTime`` with a clock, and demand a consistency
/// proof from the last checkpoint that was accepted.
public struct VerifiedCheckpoint: Hashable, Sendable {
    /// What was signed.
    public let checkpoint: Checkpoint
    /// The log key whose signature verified.
    public let log: VerifierKey
    /// The note it came in, with lines of unknown keys.
    public let note: SignedNote
    /// Every listed witness whose cosignature verified, in the policy's order; each once, with its latest time.
    public let cosignatures: [VerifiedCosignature]
    /// The latest time, in seconds since 1970, such that the cosignatures made at it or later still meet
    /// the quorum; nil when the policy asks for no witness.
    public let quorumTime: UInt64?

    init(_ signed: LogSignedCheckpoint, cosignatures: [VerifiedCosignature], quorumTime: UInt64?) {
        checkpoint = signed.checkpoint
        log = signed.log
        note = signed.note
        self.cosignatures = cosignatures
        self.quorumTime = quorumTime
    }
}

/// A cosignature of a listed witness that verified.
public struct VerifiedCosignature: Hashable, Sendable {
    /// The witness's name in the policy, which need not be its key's name.
    public let name: Policy.Name
    /// The key that cosigned.
    public let verifierKey: VerifierKey
    /// When, in seconds since 1970.
    public let time: UInt64

    init(name: Policy.Name, verifierKey: VerifierKey, time: UInt64) {
        self.name = name
        self.verifierKey = verifierKey
        self.time = time
    }
}
