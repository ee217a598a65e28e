// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VRF

/// An entry under a label, as the log has it.
public enum HistoryEntry: Hashable, Sendable {
    /// A device's key was logged: Ed25519, 32 bytes.
    case device([UInt8])
    /// A state was logged; it is well formed, signed by the identity key it names, and of the handle.
    case state(StateRecord, AccountState)
    /// A state was logged that the directory did not show.
    case withheld(StateRecord)
    /// The account was closed.
    case closed(StateRecord)
}

/// Everything that the log holds under a label since what was known of it. Only ``HistoryVerifier`` makes one.
///
/// Security: the entries are complete and in order, as the index of the log's last epoch has them. Whether they keep the
/// rules is for ``MonitorDecision``.
public struct VerifiedHistory: Hashable, Sendable {
    /// Whose history.
    public let handle: Handle
    /// The hidden label.
    public let label: VRFHash
    /// What was known before.
    public let known: MerkleFrontier
    /// The entries since, in order.
    public let entries: [HistoryEntry]
    /// What is known now.
    public let frontier: MerkleFrontier
    /// What the lookup at the end of the history proved.
    public let answer: VerifiedAnswer
    /// When entries were logged, by their number under the label, from 1: those of recoveries that are shown.
    public let loggedIn: [UInt64: LoggedMoment]
    private let leaves: [TreeHash]

    init(
        _ answer: VerifiedAnswer, _ label: VRFHash, known: MerkleFrontier, entries: [HistoryEntry],
        leaves: [TreeHash], frontier: MerkleFrontier, loggedIn: [UInt64: LoggedMoment]
    ) {
        handle = answer.handle
        self.label = label
        self.known = known
        self.entries = entries
        self.frontier = frontier
        self.answer = answer
        self.loggedIn = loggedIn
        self.leaves = leaves
    }

    /// The moment for which it holds.
    public var epoch: VerifiedEpoch { answer.epoch }

    /// The same history as seen by a client that knew these first entries; unchanged if it does not begin with them.
    package func since(_ frontier: MerkleFrontier) -> VerifiedHistory {
        guard known.size == 0, head(count: frontier.size) == LabelHead(frontier.head) else { return self }
        let count = Int(frontier.size)
        return VerifiedHistory(
            answer, label, known: frontier, entries: Array(entries.dropFirst(count)),
            leaves: Array(leaves.dropFirst(count)), frontier: self.frontier,
            loggedIn: loggedIn.filter { $0.key > frontier.size })
    }

    /// The history when it had so many entries; nil for fewer than were known before, and for more than there are.
    public func head(count: UInt64) -> LabelHead? {
        guard count >= known.size, count <= frontier.size else { return nil }
        var then = known
        for leaf in leaves.prefix(Int(count - known.size)) { then.append(leaf) }
        return LabelHead(then.head)
    }
}

extension VerifiedAnswer {
    /// Whom it is about.
    public var handle: Handle {
        switch self {
        case .registered(let lookup): lookup.handle
        case .closed(let closure): closure.handle
        case .absent(let absence): absence.handle
        }
    }

    /// The hidden label of the handle.
    public var label: VRFHash {
        switch self {
        case .registered(let lookup): lookup.label
        case .closed(let closure): closure.label
        case .absent(let absence): absence.label
        }
    }

    /// The label's history; nil if it has none.
    public var history: LabelHead? {
        switch self {
        case .registered(let lookup): lookup.history
        case .closed(let closure): closure.history
        case .absent: nil
        }
    }
}
