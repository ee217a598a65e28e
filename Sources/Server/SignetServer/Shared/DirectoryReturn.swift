// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
package import Logging
import NoteStore
import Platform
import SQLStores
import SharedLog
import SignetAPI
package import TransparencyLog

/// Takes a directory from engines that several machines shared back to the files of one.
///
/// No process of the directory runs meanwhile: their connections are looked for, and the leadership is claimed as a candidate claims it, so
/// that one which went on all the same writes nothing to the log any more. As of a candidate, it is demanded that the files of this machine are
/// of after every change of keys, and that the log has what witnesses have cosigned and this machine has shown. Everything is copied beside its place, read back and compared. Then,
/// in one transaction, the tables are locked, compared once more and called by other names, and the log is taken out of the database: from then
/// on no process of the cluster accepts or signs anything, and only after that the files get to their places.
package struct DirectoryReturn: Sendable {
    /// What is done, in this order.
    package enum Step: CaseIterable, Sendable {
        /// The leadership is claimed.
        case claimed
        /// The rows are in files.
        case tables
        /// The copy is whole.
        case ready
        /// The database has let go of the log.
        case takenAway
        /// The second memory is burnt.
        case burnt
    }

    let data: DataDirectory
    private let connect: @Sendable (DataDirectory) async throws(SharedEnginesError) -> SharedEngines?
    let interruption: @Sendable (Step) throws(MoveError) -> Void
    let draft: ReturnDraft
    /// Whether to go on without pieces of files of notes that are gone.
    let acceptsLoss: Bool
    let logger: Logger
    private let roots: [UInt8]
    private let witnesses: @Sendable (Policy, PublishedCheckpoint) async -> [SeenHead]

    /// - Parameters:
    ///   - acceptsLoss: whether to go on without pieces of files of notes that the bucket has lost.
    ///   - witnessRoots: root certificates to trust beside the system's when asking witnesses, PEM.
    ///   - disregarded: witnesses whose word does not count.
    package init(
        _ data: DataDirectory, acceptsLoss: Bool = false, witnessRoots: [UInt8] = [],
        disregarding disregarded: Set<Policy.Name> = [], logger: Logger
    ) {
        self.init(
            data, acceptsLoss: acceptsLoss, witnessRoots: witnessRoots, logger: logger, connect: SharedEngines.open
        ) {
            await SharedEngines.seen(
                by: $0, beyond: $1, roots: witnessRoots, disregarding: disregarded, logger: logger)
        }
    }

    /// - Parameters:
    ///   - witnesses: what they hold who answer, asked by a checkpoint.
    ///   - interruption: called after each step.
    init(
        _ data: DataDirectory, acceptsLoss: Bool = false, witnessRoots: [UInt8] = [], logger: Logger,
        connect: @escaping @Sendable (DataDirectory) async throws(SharedEnginesError) -> SharedEngines?,
        witnesses: @escaping @Sendable (Policy, PublishedCheckpoint) async -> [SeenHead],
        interruption: @escaping @Sendable (Step) throws(MoveError) -> Void = { (_) throws(MoveError) in }
    ) {
        self.data = data
        self.connect = connect
        self.witnesses = witnesses
        self.interruption = interruption
        self.acceptsLoss = acceptsLoss
        self.logger = logger
        roots = witnessRoots
        draft = ReturnDraft(data)
    }

    /// Moves, or goes on with a move that was interrupted.
    ///
    /// - Throws: ``MoveError``.
    package func run() async throws(MoveError) -> DirectoryMove.Report {
        let engines: SharedEngines?
        do { engines = try await connect(data) } catch { throw .engines(error) }
        guard var engines else {
            guard draft.isReady else { throw .onFiles }
            return try activate()
        }
        engines.patience = nil
        let profile: DirectoryProfile
        do throws(StoredDirectoryError) {
            profile = try StoredDirectory.readProfile(data)
            _ = try StoredDirectory.readTrustedKeys(data, profile)
            try StoredDirectory.requireNoneInterrupted(data)
            try StoredDirectory.check(witnessRoots: roots, for: profile)
        } catch { throw .stored(error) }
        guard let origin = profile.trust.policy.logs.first?.name else { throw .stored(.noLog) }
        let others: Int
        do { others = try await engines.othersConnected() } catch { throw .engines(error) }
        guard others == 0 else { throw .othersConnected(others) }
        let log: SharedLogEngines
        do { log = try engines.log(profile.trust.policy, origin) } catch { throw .engines(error) }
        defer { log.database.close() }
        return try await run(engines, log)
    }

    private func run(
        _ engines: SharedEngines, _ log: SharedLogEngines
    ) async throws(MoveError) -> DirectoryMove.Report {
        if draft.isReady {
            let (copy, gone) = (try filing { () throws(FileFailure) in try draft.copy() }, try await movedTo(log))
            if let gone {
                guard gone == copy.name else { throw .movedElsewhere }
                return try await burn(log)
            }
        }
        if let path = draft.places.first(where: { access($0, F_OK) == 0 }) { throw .present(path: path) }
        let (link, facts) = try await link(engines)
        defer { link.close() }
        let claimed: ClaimedLog
        do throws(CandidacyEnd) {
            claimed = try await log.endDirectory(
                over: link, (facts, engines.demands), holder: Self.holder, history: data.history,
                others: { await shown(in: log) + witnesses(log.policy, $0) },
                steady: StoredDirectory.steadyClock())
        } catch { throw .candidacy(error) }
        do throws(MoveError) {
            try interruption(.claimed)
            try await copyAll(claimed, engines, log, link)
            await claimed.giveBack()
        } catch {
            await claimed.giveBack()
            throw error
        }
        try interruption(.takenAway)
        return try await burn(log)
    }

    private static let holder = SharedEngines.holder("move")

    // MARK: Others

    /// What this machine has shown last.
    private func shown(in log: SharedLogEngines) -> [SeenHead] {
        log.shown(in: data.state).map { [SeenHead($0, in: .thisMachine)] } ?? []
    }

    private func link(_ engines: SharedEngines) async throws(MoveError) -> (any SQLDatabase, DatabaseFacts) {
        do { return try await engines.link(patience: nil) } catch { throw .engines(error) }
    }

    private func movedTo(_ log: SharedLogEngines) async throws(MoveError) -> [UInt8]? {
        do { return try await log.movedTo() } catch { throw .shared(error) }
    }

    // MARK: The last steps

    /// Compares the tables once more while nobody can write to them, gives them other names, and takes the log out of the database.
    func takeAway(
        _ claimed: ClaimedLog, _ stores: [CopiedStore], _ log: SharedLogEngines, _ link: any SQLDatabase, copy: [UInt8]
    ) throws(MoveError) {
        var schema = "log"
        do {
            try link.writeNow { transaction in
                guard try transaction.takeAway(claimed, log.origin, copy: copy) else {
                    throw MoveError.candidacy(.ended(.othersLead))
                }
                schema = SQLLimits.schema.name
                try forgetLoginKeys(in: transaction)
                for store in stores {
                    schema = store.schema
                    try store.copy.requireUnchanged(store.rows, in: transaction, schema: schema)
                    try transaction.run("ALTER SCHEMA \(schema) RENAME TO \(schema)_moved_\(claimed.generation)")
                }
            }
        } catch let error as MoveError { throw error } catch let fault as TableCopy.Fault {
            throw .tables(schema, fault)
        } catch {
            if case SQLFault.outcomeUnknown(let code) = error { throw .outcomeUnknown(code) }
            throw .copying(schema, (error as? SQLFault)?.code)
        }
    }

    /// If no machine has the secrets of logins any more, others are made on the files, and front ends have to take those after the next move.
    private func forgetLoginKeys(in transaction: SQLTransaction) throws {
        let schema = SQLLimits.schema.name
        // No front end has made the table yet, or none of a version that has it.
        guard
            try transaction.row(
                "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'secrets'", [schema]) != nil
        else { return }
        try transaction.run("DELETE FROM \(schema).secrets WHERE name = ?", [NoteArchive.loginKeys])
    }

    private func burn(_ log: SharedLogEngines) async throws(MoveError) -> DirectoryMove.Report {
        let replay = try replay(draft.ready)
        do throws(SharedLogFault) { try await log.burnMemory(replay) } catch { throw .shared(error) }
        try interruption(.burnt)
        return try activate()
    }

    private func activate() throws(MoveError) -> DirectoryMove.Report {
        try filing { () throws(FileFailure) in
            let copy = try draft.copy()
            try draft.activate()
            return copy.report
        }
    }

    func filing<Value>(_ body: () throws(FileFailure) -> Value) throws(MoveError) -> Value {
        do throws(FileFailure) { return try body() } catch {
            if error.code == EEXIST { throw .present(path: error.path) }
            throw .file(error)
        }
    }

    func querying<Value>(_ schema: String, _ body: () throws -> Value) throws(MoveError) -> Value {
        do { return try body() } catch { throw .copying(schema, (error as? SQLFault)?.code) }
    }
}
