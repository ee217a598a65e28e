// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import VerifiableMap

/// The map of where all notes stand, in memory: about 150 bytes for each note.
///
/// One process makes the roots that are logged, by ``advance(to:at:)``; in a cluster it puts down which entries are others than in the map
/// before, and front ends have the same map by ``follow(_:)``. They cannot make it from the notes: what was deleted or erased since is missing
/// there.
package actor NoteMap {
    /// The map of one root.
    package struct Version: Sendable {
        /// Of the root's record.
        package let number: UInt64
        package let root: NotesRoot
        package let map: MapVersion
        package let mark: NoteMark
    }

    private let store: NoteArchive
    private let isShared: Bool
    private let erasedCount: Int
    private var trie = MapTrie()
    // Of the one that makes the roots.
    private var mark = NoteMark.beginning
    /// The last root that this process has put down; nil: what the rows have is not known.
    private var kept: KeptRoot?
    private var hasRoot = false
    // Of one that follows.
    /// Up to this number the trie has what was put down; 0: it has something else.
    private var followed: UInt64 = 0
    /// No root up to this one is made again.
    private var tried: UInt64 = 0
    private var newest: Version?
    private var running: Task<Version?, any Error>?

    /// - Parameters:
    ///   - isShared: whether other processes follow.
    ///   - erasedCount: so many entries of notes that are erased may be in the map, or as many as there are others.
    package init(of store: NoteArchive, isShared: Bool, erasedCount: Int = 4096) {
        self.store = store
        self.isShared = isShared
        self.erasedCount = erasedCount
    }

    // MARK: Making roots

    /// Makes the map of a root that is about to be logged, and puts down what those need who follow. To be called by one at a time.
    ///
    /// - Parameter confirm: asked in a cluster, before all of the map takes the place of what others have put down: returns if this process
    ///   leads, which it does not know of itself if it stood still.
    /// - Returns: nil if there never was a note.
    /// - Throws: ``NoteStoreError``, also if another process has put down a root meanwhile; `MapBatchError`; what `confirm` throws. The next
    ///   call makes up for it.
    package func advance(
        to number: UInt64, at time: UInt64, ifLeading confirm: @Sendable () async throws -> Void = {}
    ) async throws -> Version? {
        try await forgetErased()
        let (changes, next) = try await store.changedHeads(since: mark)
        guard !changes.isEmpty || trie.current.count > 0 || hasRoot else { return nil }
        try trie.update(changes)
        mark = next
        let root = NotesRoot(time: time, root: trie.current.root)
        let version = Version(number: number, root: root, map: trie.current, mark: next)
        let before = kept
        let newest = try await newestRoot(confirm)
        kept = nil
        try await store.keep(version, entries(changes, since: before, number), after: newest)
        kept = KeptRoot(number: number, root: root.root.bytes, time: time)
        hasRoot = true
        return version
    }

    private func newestRoot(_ confirm: @Sendable () async throws -> Void) async throws -> KeptRoot? {
        if let kept { return kept }
        let newest = try await store.newestRoot()
        // If this process leads now, no later one had put it down. What a later one puts down from now on is another root.
        if isShared { try await confirm() }
        return newest
    }

    private func entries(_ changes: [MapEntry], since before: KeptRoot?, _ number: UInt64) -> KeptEntries {
        guard isShared else { return .none }
        guard let before, before.number < number else { return .all }
        return .changed(changes)
    }

    /// Begins again with the notes that there are. Nothing is ever removed from a trie, and to make and erase notes in turn would fill the
    /// memory of every process.
    private func forgetErased() async throws {
        let erased = trie.current.count - (try await store.noteCount())
        guard erased > max(trie.current.count / 2, erasedCount) else { return }
        trie = MapTrie()
        (mark, kept) = (.beginning, nil)
    }

    // MARK: Following

    /// The map of a root that another process has put down and the log has.
    ///
    /// - Returns: nil if nothing was put down under this number, if it does not lead to that root, or if this process has made a later one.
    package func follow(_ number: UInt64) async throws -> Version? {
        while let running { _ = await running.result }
        if let newest, newest.number == number { return newest }
        let task = Task {
            defer { running = nil }
            return try await make(number)
        }
        running = task
        return try await task.value
    }

    /// Where entries come from; each is asked if those before did not lead to the root.
    private enum Source { case changes, all, notes }

    private func make(_ number: UInt64) async throws -> Version? {
        guard number > tried, let there = try await store.root(number: number), let hash = MapHash(there.root) else {
            return nil
        }
        let before = followed
        followed = 0
        for source in before > 0 ? [Source.changes, .all, .notes] : [.all, .notes] {
            try await take(source, after: before, until: number, there.mark)
            guard trie.current.root == hash else { continue }
            let root = NotesRoot(time: there.time, root: hash)
            let version = Version(number: number, root: root, map: trie.current, mark: there.mark)
            (newest, tried, followed) = (version, number, source == .notes ? 0 : number)
            return version
        }
        // It would not be found at the next request either, and to look for it is dear.
        tried = number
        return nil
    }

    private func take(_ source: Source, after before: UInt64, until number: UInt64, _ mark: NoteMark) async throws {
        let entries =
            switch source {
            case .changes: try await store.positions(after: before, until: number)
            case .all: try await store.positions(until: number)
            // A program of before put down the root alone.
            case .notes: try await store.changedHeads(since: .beginning, until: mark)
            }
        if source != .changes { trie = MapTrie() }
        try trie.update(entries)
    }
}
