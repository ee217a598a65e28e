// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency

/// Judges a note's control log: who may read and write it, under which keys.
public enum ControlVerifier {
    /// Checks, in this order: beginning, chain and rules, consistency with what this client remembers, authority.
    ///
    /// - Parameters:
    ///   - entries: the whole log, from the first entry on.
    ///   - authors: the keys of every signer of an entry, from verified lookups.
    ///   - view: what this client remembers of the note; nil if it has never seen it.
    /// - Throws: ``ControlError``.
    ///
    /// Security: when this returns, every step except a leave was signed by the owner at that time, and the newest ones
    /// by a device that the owner has now. The server added no member. That nothing newer exists is not proven;
    /// ``AccountHead`` and the remembered view notice it.
    public static func verify(
        _ entries: [ControlEntry], of note: NoteID, authors: KnownAuthors, knowing view: ControlView?
    ) throws(ControlError) -> VerifiedControl {
        let (state, history) = try checkChain(entries, of: note)
        try checkConsistency(history, view)
        try checkAuthority(entries, authors, view)
        return VerifiedControl(entries: entries, state: state, history: history)
    }

    /// Each entry follows the one before and keeps the rules.
    private static func checkChain(
        _ entries: [ControlEntry], of note: NoteID
    ) throws(ControlError) -> (ControlState, ControlHistory) {
        guard let first = entries.first else { throw .noBeginning }
        guard first.note == note else { throw .anotherNote }
        var state = try ControlState(first: first)
        var history = ControlHistory(first: first, state)
        for entry in entries.dropFirst() {
            let owner = state.owner
            try state.apply(entry)
            history.record(entry, state, ownerBefore: owner)
        }
        return (state, history)
    }

    /// The log holds what this client has seen, where it has seen it.
    private static func checkConsistency(_ history: ControlHistory, _ view: ControlView?) throws(ControlError) {
        guard let view else { return }
        guard view.number > 0, view.number <= history.moments.count else {
            throw .rollback(known: view.number, received: UInt64(history.moments.count))
        }
        guard history.moments[Int(view.number) - 1].head == view.head else { throw .fork(number: view.number) }
    }

    /// A device that its author does not have any more may have been stolen. So behind each entry that this client has
    /// not accepted before stands its author's current device, by this entry or a later one, whose hash covers it. To a
    /// client that has never seen the note, the owner's current device vouches for everything before.
    private static func checkAuthority(
        _ entries: [ControlEntry], _ authors: KnownAuthors, _ view: ControlView?
    ) throws(ControlError) {
        let accepted = view?.number ?? 0
        var vouching: Set<Handle> = []
        // Every author is the owner at that moment: checkChain. A member who left, or is said to have left, has changed
        // nothing and vouches for nothing.
        for entry in entries.reversed() where entry.number > accepted && entry.action != .leave {
            if authors.isCurrent(entry.author) { vouching.insert(entry.author.handle) }
            guard vouching.contains(entry.author.handle) || (view == nil && !vouching.isEmpty) else {
                throw .noAuthority(number: entry.number)
            }
        }
    }
}

/// What a client remembers of a note's control log.
public struct ControlView: Hashable, Sendable {
    /// The number of the last entry seen.
    public let number: UInt64
    /// Its hash.
    public let head: RecordHash

    /// A remembered view.
    public init(number: UInt64, head: RecordHash) {
        self.number = number
        self.head = head
    }
}

/// A control log that was checked. Only ``ControlVerifier`` makes one.
public struct VerifiedControl: Sendable {
    /// The entries, from the first.
    public let entries: [ControlEntry]
    /// The state now.
    public let state: ControlState
    private let history: ControlHistory
    private let indices: [RecordHash: Int]

    init(entries: [ControlEntry], state: ControlState, history: ControlHistory) {
        self.entries = entries
        self.state = state
        self.history = history
        indices = Dictionary(zip(history.moments.map(\.head), 0...)) { first, _ in first }
    }

    /// What to remember.
    public var view: ControlView { ControlView(number: state.number, head: state.head) }

    /// Whether the log holds a remembered view, such as a device's ``AccountHead``.
    public func holds(_ view: ControlView) -> Bool { moment(after: view.head)?.number == view.number }

    /// Where the note stood after the entry with this hash; nil if the log has none.
    public func moment(after entry: RecordHash) -> ControlMoment? { indices[entry].map { history.moments[$0] } }

    /// What `handle` could do then; nil if nothing.
    public func role(of handle: Handle, at moment: ControlMoment) -> NoteRole? {
        history.role(of: handle, after: moment.number)
    }

    /// The entry with this hash; nil if the log has none.
    public func entry(_ hash: RecordHash) -> ControlEntry? { indices[hash].map { entries[$0] } }
}
