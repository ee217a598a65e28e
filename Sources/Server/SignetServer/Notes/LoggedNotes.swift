// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import Logging
import NoteLog
import NoteStore
import NotesAPI
import SignetAPI
import VerifiableMap

/// Keeps the map of where all notes stand, has its root logged at intervals, and proves from it.
///
/// The map is in memory, about 150 bytes for each note, and every start rebuilds it from the notes themselves.
actor LoggedNotes {
    /// A root that was logged, or is about to be.
    private struct Version: Sendable {
        let number: UInt64
        let root: NotesRoot
        let map: MapVersion
        let mark: NoteMark
    }

    private static let keptCount = 4

    private let store: NoteArchive
    private let directory: Directory
    private let interval: UInt64
    private let clock: @Sendable () -> UInt64
    private let logger: Logger
    private var trie = MapTrie()
    private var mark = NoteMark.beginning
    private var versions: [Version] = []
    private var running: Task<Void, any Error>?

    /// - Parameter interval: between two roots, in seconds.
    init(
        _ store: NoteArchive, in directory: Directory, every interval: UInt64,
        clock: @escaping @Sendable () -> UInt64, logger: Logger
    ) {
        self.store = store
        self.directory = directory
        self.interval = interval
        self.clock = clock
        self.logger = logger
    }

    /// Logs a root if none is younger than the interval and there ever was a note; changed or not, so that the log does not tell.
    func keepUp() async {
        guard directory.writesLog, isDue, !directory.hasEnded else { return }
        do { try await run() } catch {
            logger.error("notes: where they stand was not logged; trying again later")
        }
    }

    private var isDue: Bool {
        let now = clock()
        return versions.last.map { $0.root.time + interval <= now || $0.root.time > now } ?? true
    }

    /// One at a time; callers that come meanwhile wait for the same run.
    private func run() async throws {
        let task = running ?? Task { try await self.logNext() }
        running = task
        defer { running = nil }
        try await task.value
    }

    private func logNext() async throws {
        let (changes, next) = try await store.changedHeads(since: mark)
        guard !changes.isEmpty || trie.current.count > 0 else { return }
        try trie.update(changes)
        mark = next
        let root = NotesRoot(time: clock(), root: trie.current.root)
        let number = directory.version(of: .notes) + 1
        try await store.keepRoot(root.root.bytes, time: root.time, number: number, at: next)
        versions.removeAll { $0.number >= number }
        versions.append(Version(number: number, root: root, map: trie.current, mark: next))
        if versions.count > Self.keptCount { versions.removeFirst() }
        do { try await directory.log(root.encoded, under: .notes, version: number) } catch DirectoryError.refused(
            .unwitnessed)
        {
            // Published as soon as the quorum has cosigned.
        } catch {
            versions.removeAll { $0.number == number }
            throw error
        }
    }

    // MARK: Answering

    /// What the log says of notes, for a caller who may read them.
    func heads(_ request: LoggedHeadsRequest, for handle: Handle) async throws -> LoggedHeadsAnswer {
        await keepUp()
        do throws(DirectoryError) { try await directory.catchUp(to: request.size) } catch {
            throw PartRefusal(waiting: error)
        }
        guard let place = try directory.newestRecord(under: .notes, in: request.size),
            let version = try await version(place.version),
            version.root.time + interval > clock()
        else { return .anotherEpoch }
        let found = try await store.heads(of: request.notes, at: version.mark, for: handle)
        let proofs = zip(request.notes, found).map { note, search -> LoggedHeadProof? in
            guard case .stood(let head) = search else { return nil }
            return LoggedHeadProof(head: head, proof: version.map.proof(of: LoggedHead.key(of: note)).encoded)
        }
        return .heads(NotesRootProof(root: version.root, place: place), proofs)
    }

    /// The comments and stars that a note had when a root was taken.
    func children(_ request: ChildListRequest, for handle: Handle) async throws -> ChildListAnswer {
        guard let version = try await version(request.version) else { return ChildListAnswer(list: nil) }
        return ChildListAnswer(list: try await store.children(of: request.note, at: version.mark, for: handle))
    }

    private func version(_ number: UInt64) async throws -> Version? {
        if let known = versions.first(where: { $0.number == number }) { return known }
        return directory.writesLog ? nil : try await follow(number)
    }

    /// Makes the map of a root that another process has logged. Callers that come meanwhile find it made.
    private func follow(_ number: UInt64) async throws -> Version? {
        guard let kept = try await store.root(number: number), let hash = MapHash(kept.root) else { return nil }
        let root = NotesRoot(time: kept.time, root: hash)
        let (old, changes) = (mark, try await store.changedHeads(since: mark, until: kept.mark))
        // Another caller was here first.
        guard mark == old else { return versions.first { $0.number == number } }
        try trie.update(changes)
        mark = kept.mark
        // Of an older root than one that was made here, nothing can be proved.
        guard trie.current.root == root.root else { return nil }
        let version = Version(number: number, root: root, map: trie.current, mark: kept.mark)
        versions.append(version)
        if versions.count > Self.keptCount { versions.removeFirst() }
        return version
    }
}
