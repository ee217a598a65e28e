// SPDX-License-Identifier: Apache-2.0

public import DurableStorage
public import Logging
import NoteLog
import NotesAPI
package import ObjectStores
package import SQLStores
import Synchronization

/// What the server holds of people's notes, in one SQLite file or on a database server: sealed records in order, and who may have which.
///
/// It opens nothing. Every change is one transaction that waits until it is durable; a crash leaves the state before it or after
/// it. Who calls is for the caller of this type to have authenticated.
public final class NoteArchive: Sendable {
    let database: NoteDatabase
    let limits: NoteLimits
    let clock: @Sendable () -> UInt64
    let watch = FeedWatch()
    let states = ControlStates()
    /// Where bodies of files are; nil: in their rows.
    let objects: (any ObjectStore)?
    let logger: Logger
    private let purgedAt = Mutex<UInt64>(0)
    private let looking = Mutex<Task<Void, Never>?>(nil)

    /// Opens the file at `path`, or makes one that only this user can read, and drops what is too old.
    ///
    /// - Parameter clock: seconds since 1970.
    /// - Throws: ``DurableOpenError``: the operator has to act.
    public convenience init(
        at path: String, limits: NoteLimits = NoteLimits(), clock: @escaping @Sendable () -> UInt64, logger: Logger
    ) throws(DurableOpenError) {
        let file = try NoteDatabase.file(at: path) { logger.warning("notes: there is no room to rewrite the database") }
        self.init(
            on: file, limits: limits, clock: clock, logger: logger, reserve: DiskReserve(besideFileAt: path))
    }

    /// Takes a database that was opened with ``schema``, which several processes may share. It is closed with the archive.
    ///
    /// - Parameters:
    ///   - clock: seconds since 1970. The clocks of processes that share a database may differ by seconds.
    ///   - objects: where bodies of files are put; nil: into their rows.
    ///   - faults: for tests.
    ///   - reserve: none where the disk is a server's.
    package init(
        on engine: any SQLDatabase, objects: (any ObjectStore)? = nil, limits: NoteLimits,
        clock: @escaping @Sendable () -> UInt64, logger: Logger, faults: WriteFaults = .none,
        reserve: DiskReserve = DiskReserve(use: { .none })
    ) {
        self.objects = objects
        self.logger = logger
        database = NoteDatabase(on: engine, logger: logger, faults: faults, reserve: reserve)
        self.limits = limits
        self.clock = clock
    }

    /// The tables of the notes, for whoever opens a database for them.
    package static var schema: SQLSchema { NoteSchema.schema }

    /// Writes in one transaction, then wakes the callers that wait for its changes.
    func write<Value: Sendable>(
        _ body: @Sendable (NoteTransaction) throws -> Value
    ) async throws(NoteStoreError) -> Value {
        try await purgeOnceADay()
        let now = clock()
        let (value, changed) = try await database.write(at: now, body)
        watch.wake(changed)
        return value
    }

    private func purgeOnceADay() async throws(NoteStoreError) {
        let now = clock()
        let isDue = purgedAt.withLock { last in
            guard now >= last + 86_400 else { return false }
            last = now
            return true
        }
        guard isDue else { return }
        do throws(NoteStoreError) {
            let changed = try await database.write(at: now) { [limits] in try $0.purge(limits) }.changed
            watch.wake(changed)
            try await database.expunge()
        } catch {
            purgedAt.withLock { $0 = 0 }
            throw error
        }
    }

    /// Looks for news that other processes have written, from now on until all waiting ends. To be called once.
    package func lookForNews(every pause: Duration) {
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: pause)) != nil { await self?.lookForNews() }
        }
        looking.withLock { $0 = task }
    }

    /// Ends all waiting.
    public func stopWaiting() {
        looking.withLock { $0?.cancel() }
        watch.stop()
    }

    /// Lets go of the database; everything is put into the file, if it is one. Stop asking before.
    public func close() {
        stopWaiting()
        database.close()
    }
}

/// How much the server stores. Removing a member, leaving and deleting are never refused for lack of room.
public struct NoteLimits: Hashable, Sendable {
    /// Bytes of an account: its records and files, in its own notes and in others', and what it puts into feeds.
    public var bytes: UInt64 = 1 << 30
    /// Bytes of an account that was not heard of before: accounts cost nothing, space does.
    public var newcomerBytes: UInt64 = 128 << 20
    /// By how many bytes that grows each day, up to ``bytes``.
    public var bytesPerDay: UInt64 = 64 << 20
    /// Bytes beyond these for taking people out of notes, which goes on when nothing else may be written.
    public var removalBytes: UInt64 = 8 << 20
    /// Notes that an account has made and not deleted.
    public var notes = 10_000
    /// Members of a note beside its owner.
    public var members = 1_000
    /// Comments and stars of a note.
    public var children = 4_096
    /// Entries of a note's control log.
    public var entries: UInt64 = 4_096
    /// How long a deleted note is remembered, in seconds.
    public var tombstones: UInt64 = 180 * 86_400
    /// How long a push may be sent again under its name, in seconds.
    public var names: UInt64 = 30 * 86_400
    /// Bytes of the items of one page of a feed, unless one alone is longer.
    public var pageBytes = 1 << 20

    /// The limits `signetd` starts with.
    public init() {}

    /// What an entry of a feed costs the account that caused it, in bytes: about what it takes in the database.
    static let feedByteCount = 64
    /// The same of a push whose name is remembered.
    static let nameByteCount = 96

    /// Bytes of an account that is here since so many seconds.
    func bytes(atAge seconds: UInt64) -> UInt64 {
        let (grown, overflow) = (seconds / 86_400).multipliedReportingOverflow(by: bytesPerDay)
        return overflow
            ? bytes : min(bytes, grown.addingReportingOverflow(newcomerBytes).overflow ? bytes : grown + newcomerBytes)
    }
}

/// Why the store did not do what was asked. A retry may help; after ``stopped`` only a new start of the process.
public enum NoteStoreError: Error, Hashable, Sendable {
    /// The database could not do it now.
    case unavailable
    /// The disk failed. Nothing acknowledged is lost.
    case stopped
}

/// Control states that were computed, so that not every push reads a whole log. What is in here is checked against the
/// stored head before it is used: other processes write steps too, and a transaction that put a state in may have been rolled back.
final class ControlStates: Sendable {
    private static let capacity = 1024
    private let states = Mutex<[NoteID: ControlState]>([:])

    subscript(note: NoteID) -> ControlState? {
        get { states.withLock { $0[note] } }
        set {
            states.withLock { states in
                if states.count >= Self.capacity { states.removeAll(keepingCapacity: true) }
                states[note] = newValue
            }
        }
    }
}
