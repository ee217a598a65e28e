// SPDX-License-Identifier: Apache-2.0

import NoteLog

/// The result of comparing shared notes with the directory's log.
struct LogComparison: Sendable {
    /// The notes that were compared in this sync.
    private(set) var compared: Set<NoteID> = []
    /// Notes whose state on this device differs, or may differ, from the state in the log. A doubt stays until it is
    /// resolved.
    private(set) var doubts: [NoteID: HeadDoubt] = [:]

    /// Begins a sync, in which each note is compared again.
    mutating func begin() { compared = [] }

    /// Drops the doubts about all other notes, which are no longer shared.
    mutating func keepDoubts(about notes: Set<NoteID>) { doubts = doubts.filter { notes.contains($0.key) } }

    /// Records that a note was compared.
    mutating func add(_ note: NoteID) { compared.insert(note) }

    /// Sets or removes the doubt about a note.
    ///
    /// - Returns: whether the doubt changed.
    mutating func set(_ doubt: HeadDoubt?, about note: NoteID) -> Bool {
        guard doubts[note] != doubt else { return false }
        doubts[note] = doubt
        return true
    }

    /// Whether the server did not send something that the log has. It may still be on its way.
    var hasMissingDelivery: Bool { doubts.values.contains(where: \.isOfDelivery) }
}

extension HeadDoubt {
    fileprivate var isOfDelivery: Bool {
        switch self {
        case .kept, .head, .noHead: true
        case .noRoot, .root, .unlogged: false
        }
    }
}
