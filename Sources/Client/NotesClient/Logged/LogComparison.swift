// SPDX-License-Identifier: Apache-2.0

import NoteLog

/// What came of comparing shared notes with the directory's log.
struct LogComparison: Sendable {
    /// Notes that were compared in this sync.
    private(set) var compared: Set<NoteID> = []
    /// Notes that are not here as the log says, or may not be. A doubt stays until it is resolved.
    private(set) var doubts: [NoteID: HeadDoubt] = [:]

    /// Has each note compared again.
    mutating func begin() { compared = [] }

    /// Drops doubts about notes that others cannot read any more.
    mutating func keepDoubts(about notes: Set<NoteID>) { doubts = doubts.filter { notes.contains($0.key) } }

    /// The note is compared now.
    mutating func add(_ note: NoteID) { compared.insert(note) }

    /// - Returns: whether the note was judged otherwise before.
    mutating func set(_ doubt: HeadDoubt?, about note: NoteID) -> Bool {
        guard doubts[note] != doubt else { return false }
        doubts[note] = doubt
        return true
    }

    /// Whether something that is logged did not come: it may have been on its way.
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
