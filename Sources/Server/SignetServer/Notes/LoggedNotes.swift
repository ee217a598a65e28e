// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
import Logging
import NoteLog
import NoteStore
import NotesAPI
import SignetAPI
import VerifiableMap

/// Has the root of the map of where all notes stand logged at intervals, and proves from it.
///
/// Who logs makes the map from the notes themselves at every start; front ends have it from what is put down with each root.
actor LoggedNotes {
    private static let keptCount = 4
    /// A root is at most half as old as clients believe it when the next one is due, however seldom an idle log ends an epoch.
    private static let longestInterval = EpochTimeRule.standard.maximumLag / 2
    /// A root that is proven is at least so many seconds younger than clients believe it: the answer has a way to go.
    private static let way: UInt64 = 60

    private let store: NoteArchive
    private let directory: Directory
    private let interval: UInt64
    private let clock: @Sendable () -> UInt64
    private let logger: Logger
    private let map: NoteMap
    /// Of roots that were logged, or are about to be.
    private var versions: [NoteMap.Version] = []
    private var running: Task<Void, any Error>?

    /// - Parameters:
    ///   - isShared: whether other processes prove from the roots that this one logs.
    ///   - interval: between two roots, in seconds; half an hour if it is longer.
    init(
        _ store: NoteArchive, in directory: Directory, isShared: Bool = false, every interval: UInt64,
        clock: @escaping @Sendable () -> UInt64, logger: Logger
    ) {
        self.store = store
        map = NoteMap(of: store, isShared: isShared)
        self.directory = directory
        self.interval = min(interval, Self.longestInterval)
        self.clock = clock
        self.logger = logger
    }

    /// Logs a root if none is younger than the interval and there ever was a note; changed or not, so that the log does not tell.
    func keepUp() async {
        guard directory.writesLog, isDue, !directory.hasEnded else { return }
        do { try await run() } catch LogWaitError.belowQuorum {
            // Put down and logged as soon as the quorum cosigns again.
        } catch {
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
        let number = directory.version(of: .notes) + 1
        let made = try await map.advance(to: number, at: clock()) { [directory] in
            // Nobody can publish who leads no more.
            _ = try await directory.log.republish()
        }
        guard let version = made else { return }
        versions.removeAll { $0.number >= number }
        keep(version)
        do {
            try await directory.log(version.root.encoded, under: .notes, version: number)
        } catch DirectoryError.refused(.unwitnessed) {
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
            version.root.time + oldest > clock()
        else { return .anotherEpoch }
        let found = try await store.heads(of: request.notes, at: version.mark, for: handle)
        let proofs = zip(request.notes, found).map { note, search -> LoggedHeadProof? in
            guard case .stood(let head) = search else { return nil }
            return LoggedHeadProof(head: head, proof: version.map.proof(of: LoggedHead.key(of: note)).encoded)
        }
        return .heads(NotesRootProof(root: version.root, place: place), proofs)
    }

    /// How old a root becomes before it is proven to nobody any more, in seconds. Who logs has logged the next one by then. Who does not can
    /// only wait for that one, and proves the one there is for as long as clients believe it.
    private var oldest: UInt64 { directory.writesLog ? interval : EpochTimeRule.standard.maximumLag - Self.way }

    /// The comments and stars that a note had when a root was taken.
    func children(_ request: ChildListRequest, for handle: Handle) async throws -> ChildListAnswer {
        guard let version = try await version(request.version) else { return ChildListAnswer(list: nil) }
        return ChildListAnswer(list: try await store.children(of: request.note, at: version.mark, for: handle))
    }

    private func version(_ number: UInt64) async throws -> NoteMap.Version? {
        if let known = known(number) { return known }
        guard !directory.writesLog, let made = try await map.follow(number) else { return nil }
        // Another caller may have been first.
        if known(number) == nil { keep(made) }
        return made
    }

    private func known(_ number: UInt64) -> NoteMap.Version? { versions.first { $0.number == number } }

    private func keep(_ version: NoteMap.Version) {
        versions.append(version)
        if versions.count > Self.keptCount { versions.removeFirst() }
    }
}
