// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VRF

/// A log that ended and named another one to go on, as ``SuccessionVerifier`` proved it.
public struct FormerLog: Hashable, Sendable {
    /// What it was trusted by at its end.
    public let trust: DirectoryTrust
    /// Its last checkpoint.
    public let end: VerifiedCheckpoint

    init(trust: DirectoryTrust, end: VerifiedCheckpoint) {
        self.trust = trust
        self.end = end
    }

    /// A log whose end was kept: the signatures on it are checked again.
    ///
    /// - Throws: `CheckpointVerificationError`: the policy's log or quorum did not sign the note.
    public init(trust: DirectoryTrust, note: SignedNote) throws(CheckpointVerificationError) {
        self.init(trust: trust, end: try trust.policy.verify(note))
    }

    /// Its name.
    public var origin: KeyName { end.checkpoint.origin }

    /// Checks how a log begins that goes on from this one: it names this one's last checkpoint itself, for everyone to see, and
    /// none of its epochs is from before that.
    ///
    /// - Parameters:
    ///   - first: its first entry, proven to be in it.
    ///   - epoch: its first epoch record, proven as well; nil if none was found.
    /// - Throws: ``SuccessionError/firstEntry``, ``SuccessionError/firstEpoch(_:)``.
    ///
    /// Security: as times do not run back, which auditors check, no epoch of that log can be dated before this one's end.
    public func checkSuccessor(beginningWith first: [UInt8], _ epoch: EpochRecord?) throws(SuccessionError) {
        guard let note = try? PredecessorRecord(decoding: first).note,
            (try? Checkpoint(decoding: note.text)) == end.checkpoint
        else { throw .firstEntry }
        do throws(EpochError) {
            guard let epoch else { throw .emptyLog }
            guard epoch.number == 1, epoch.start == 0 else { throw .start(epoch.start, size: 0) }
            try EpochTimeRule.standard.check(epoch, goingOnAfter: end.quorumTime ?? 0)
        } catch { throw .firstEpoch(error) }
    }
}

/// What is known of a person's history in a log that ended, and must be how it begins there.
public enum FormerBeginning: Hashable, Sendable {
    /// What this client had verified of it while that log went on.
    case known(LabelHead)
    /// What the log before ended with.
    case inherited(VerifiedLookup)

    /// How the history must begin under this label.
    func head(under label: VRFHash) -> LabelHead {
        switch self {
        case .known(let head): head
        case .inherited(let lookup): lookup.inherited(under: label)
        }
    }
}

extension VerifiedLookup {
    /// How the history of this handle begins in the log that goes on, under its label there: a leaf for each device, in
    /// their order, and the record of the same state with the same commitment.
    public func inherited(under label: VRFHash) -> LabelHead {
        let record = StateRecord(
            label: LabelIndex(label), version: self.record.version, kind: kind, commitment: self.record.commitment)
        let entries = state.devices.map { DeviceLeaf(label: label, device: $0.keys).entry } + [record.entry]
        return LabelHead(TreeHead(size: UInt64(entries.count), root: .root(of: entries.map { .leaf($0) })))
    }

    /// How many entries that is.
    public var inheritedCount: UInt64 { UInt64(state.devices.count) + 1 }
}

extension LookupVerifier {
    /// How the history in an answer must begin if it goes on from the end of another log; an answer without a label that is
    /// the handle's gets a beginning that none has, for the check of the VRF to refuse.
    package func inheritance(of lookup: VerifiedLookup, in bytes: [UInt8]) -> LabelHead {
        guard let response = try? LookupResponse(decoding: bytes),
            let label = try? trust.vrfKey.verify(response.vrfProof, for: lookup.handle.vrfInput)
        else { return LabelHead(TreeHead(size: lookup.inheritedCount, root: .emptyTree)) }
        return lookup.inherited(under: label)
    }
}
