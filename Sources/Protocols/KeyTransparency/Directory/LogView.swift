// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// The largest checkpoint of a log that this client has ever verified. It only ever grows.
public struct LogView: Hashable, Sendable {
    /// Which log.
    public let origin: KeyName
    /// Its size and root.
    public let head: TreeHead
    /// The signed note, kept as evidence should the log ever contradict it.
    public let note: [UInt8]
    /// The last epoch that was verified in it; nil before the first.
    public let epoch: EpochMark?

    /// What to remember of a verified checkpoint.
    public init(_ checkpoint: VerifiedCheckpoint, epoch: EpochMark? = nil) {
        origin = checkpoint.checkpoint.origin
        head = checkpoint.checkpoint.head
        note = checkpoint.note.encoded
        self.epoch = epoch
    }

    /// Takes what the client's own store kept.
    ///
    /// Security: nothing is verified here; the store must be as trustworthy as the program.
    public init(uncheckedOrigin origin: KeyName, head: TreeHead, note: [UInt8], epoch: EpochMark? = nil) {
        self.origin = origin
        self.head = head
        self.note = note
        self.epoch = epoch
    }

    /// The view after a verified checkpoint of the same log: the checkpoint, if it extends this one.
    ///
    /// - Parameter epoch: the epoch that was verified with it; nil if none was, and the known one stays.
    /// - Throws: ``LogContradiction``: proof of misbehaviour, to be kept; no retry helps.
    package func advanced(
        to checkpoint: VerifiedCheckpoint, epoch: EpochMark? = nil, proof: ConsistencyProof
    ) throws(LogContradiction) -> LogView {
        try checkNoContradiction(checkpoint)
        let received = LogView(checkpoint, epoch: epoch ?? self.epoch)
        // Every log begins as the empty one; there is nothing to prove, and RFC 6962 has no proof for it.
        if head == .empty && proof.hashes.isEmpty { return received }
        do {
            try proof.verify(from: head, to: received.head)
            return received
        } catch {
            throw LogContradiction(uncheckedFault: .inconsistent(error), known: self, received: received)
        }
    }

    /// Refuses what two signed heads show by themselves, without any proof: a smaller log, or two logs of one size.
    ///
    /// - Throws: ``LogContradiction``.
    package func checkNoContradiction(_ checkpoint: VerifiedCheckpoint) throws(LogContradiction) {
        let received = LogView(checkpoint)
        guard received.origin == origin else { return }
        if received.head.size < head.size {
            throw LogContradiction(uncheckedFault: .rollback, known: self, received: received)
        } else if received.head.size == head.size && received.head.root != head.root {
            throw LogContradiction(uncheckedFault: .fork, known: self, received: received)
        }
    }
}

/// Which epoch was verified last.
public struct EpochMark: Hashable, Sendable {
    /// The epoch's number, from 1.
    public let number: UInt64
    /// When it ended, in milliseconds since 1970.
    public let time: UInt64

    /// A mark as the client's own store kept it.
    public init(number: UInt64, time: UInt64) {
        self.number = number
        self.time = time
    }

    /// The mark of an epoch.
    public init(_ record: EpochRecord) { self.init(number: record.number, time: record.time) }
}

/// Two checkpoints of one log, both properly signed, that were not shown to be one history.
public struct LogContradiction: Error, Hashable, Sendable {
    /// What is wrong between the two.
    public enum Fault: Hashable, Sendable {
        /// The log shows a smaller tree than before.
        case rollback
        /// Two roots for one size: undeniable.
        case fork
        /// The consistency proof from the known checkpoint to the received one does not hold.
        case inconsistent(ConsistencyProofError)
    }

    /// What is wrong.
    public let fault: Fault
    /// What this client had verified before.
    public let known: LogView
    /// What it was shown now.
    public let received: LogView

    /// Takes what the client's own store kept.
    ///
    /// Security: nothing is verified here; the store must be as trustworthy as the program.
    public init(uncheckedFault fault: Fault, known: LogView, received: LogView) {
        self.fault = fault
        self.known = known
        self.received = received
    }
}
