// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
package import Logging
import NoteStore
import ObjectStores
import Platform
import RecoveryStore
import SQLStores
import SharedLog
import SignetAPI
import TransparencyLog

/// Takes a directory of one machine to engines that several machines share.
///
/// The server does not run meanwhile. Until the last step the directory of this machine is what it was; with the last step it is a log no
/// more. What was copied is read back and compared: the log by its root, each table by its rows.
package struct DirectoryMove: Sendable {
    /// What was moved.
    package struct Report: Hashable, Sendable {
        /// Entries of the log.
        package let entries: UInt64
        /// Rows of all tables.
        package let rows: Int
    }

    private let data: DataDirectory
    private let guarding: RollbackGuard
    private let witnessRoots: [UInt8]
    private let logger: Logger
    private let connect: @Sendable (EnginesFile, DataDirectory) async throws(SharedEnginesError) -> SharedEngines

    /// - Parameters:
    ///   - guarding: whom to ask first whether the data went back: what others have seen of the log, the engines must not be without.
    ///   - witnessRoots: root certificates to trust beside the system's when asking witnesses, PEM.
    package init(
        _ data: DataDirectory, guarding: RollbackGuard = RollbackGuard(), witnessRoots: [UInt8] = [], logger: Logger
    ) {
        self.init(
            data, guarding: guarding, witnessRoots: witnessRoots, logger: logger, connect: SharedEngines.connect)
    }

    init(
        _ data: DataDirectory, guarding: RollbackGuard = RollbackGuard(), witnessRoots: [UInt8] = [], logger: Logger,
        connect:
            @escaping @Sendable (EnginesFile, DataDirectory) async throws(SharedEnginesError) -> SharedEngines
    ) {
        self.data = data
        self.guarding = guarding
        self.witnessRoots = witnessRoots
        self.logger = logger
        self.connect = connect
    }

    /// Moves.
    ///
    /// - Parameters:
    ///   - file: where the engines are. The key of the object store is in `keys/objects`.
    ///   - isRepeated: whether a move before was interrupted, so that the engines may hold some of this directory.
    /// - Throws: ``MoveError``: the directory of this machine is what it was.
    package func run(to file: EnginesFile, isRepeated: Bool) async throws(MoveError) -> Report {
        guard access(data.engines, F_OK) != 0 else {
            do { try LogCopy(of: data.log).retire() } catch { throw .log(error) }
            throw .movedAlready
        }
        let profile: DirectoryProfile
        do { profile = try StoredDirectory.readProfile(data) } catch { throw .stored(error) }
        guard let origin = profile.trust.policy.logs.first?.name else { throw .stored(.noLog) }
        do throws(RollbackError) {
            try await guarding.check(
                data, profile.trust.policy, origin: origin, roots: witnessRoots, logger: logger)
        } catch { throw .rollback(error) }
        let copy = LogCopy(of: data.log)
        let hold: any LogDirectoryLock
        do { hold = try copy.hold() } catch { throw .log(error) }
        try requireParts()
        var engines: SharedEngines
        do { engines = try await connect(file, data) } catch { throw .engines(error) }
        // One command may remove all rows of a table, or have a whole one sorted.
        engines.patience = nil
        let report = try await move(copy, origin, profile.trust.policy, to: engines, isRepeated)
        withExtendedLifetime(hold) {}
        return report
    }

    /// What is lost would be left behind as if it had never been.
    private func requireParts() throws(MoveError) {
        let parts = DataParts(data)
        do { try parts.requireAll() } catch { throw .stored(error) }
        let hadList: Bool
        do { hadList = try Directory.hasListOfParts(at: data.records) } catch {
            throw .database(path: data.records + "/directory.sqlite", error)
        }
        do { try parts.requireList(hadList) } catch { throw .stored(.file(error)) }
    }

    private func move(
        _ copy: LogCopy, _ origin: KeyName, _ policy: Policy, to engines: SharedEngines, _ isRepeated: Bool
    ) async throws(MoveError) -> Report {
        let facts = try await facts(engines)
        let log: SharedLogEngines
        do { log = try engines.log(policy, origin) } catch { throw .engines(error) }
        defer { log.database.close() }
        do throws(SharedLogFault) { try await log.requireUnled() } catch { throw .shared(error) }
        let rows = try copyTables(to: engines, of: origin, isRepeated)
        let entries = try await copyLog(copy, origin, to: log)
        do throws(FileFailure) { try copyHistory() } catch { throw .file(error) }
        do { try FrontEndSecret.makeFirst(in: data.keys) } catch { throw .keys(error) }
        let home: String
        do throws(ObjectFault) { home = try await BucketHome(engines.objects).make() } catch {
            throw .shared(.unavailable("objects: \(error)"))
        }
        let text = engines.file.of(facts, home: home).text
        do throws(FileFailure) { try PrivateFile.replace(data.engines, with: text.utf8) } catch { throw .file(error) }
        do { try copy.retire() } catch { throw .log(error) }
        return Report(entries: entries, rows: rows)
    }

    private func facts(_ engines: SharedEngines) async throws(MoveError) -> DatabaseFacts {
        do { try engines.database(SharedLogTables.schema, count: 1).close() } catch { throw .engines(error) }
        let (link, facts): (any SQLDatabase, DatabaseFacts)
        do { (link, facts) = try await engines.link(patience: nil) } catch { throw .engines(error) }
        link.close()
        let demands = DatabaseDemands(
            systemIdentifier: facts.systemIdentifier, timeline: facts.timeline, database: facts.database)
        do throws(DatabaseFault) { try demands.check(facts) } catch { throw .unfit(error) }
        return facts
    }

    // MARK: Tables

    private func copyTables(
        to engines: SharedEngines, of origin: KeyName, _ isRepeated: Bool
    ) throws(MoveError) -> Int {
        var count = 0
        for store in data.movingStores where access(store.path, F_OK) == 0 {
            let source: SQLiteDatabase
            do { source = try SQLiteDatabase(at: store.path, store.schema, origin: .kept) } catch {
                throw .database(path: store.path, error)
            }
            defer { source.close() }
            let target: any SQLDatabase
            do { target = try engines.database(store.schema, count: 1) } catch { throw .engines(error) }
            defer { target.close() }
            do {
                let isDirectory = store.schema.name == SharedDirectory.schema.name
                if isDirectory { try requireOwn(target, origin) }
                let copy = TableCopy(from: source, to: target)
                count += try copy.run(isRepeated: isRepeated, seeded: RecoverySchema.seeded)
                try copy.compare()
                if isDirectory { try target.writeNow { try SharedDirectory.handOver($0) } }
            } catch let fault as SharedLogFault { throw .shared(fault) } catch let fault as TableCopy.Fault {
                throw .tables(store.schema.name, fault)
            } catch {
                throw .copying(store.schema.name, (error as? SQLFault)?.code)
            }
        }
        return count
    }

    /// Nothing of another directory is removed, whatever was interrupted.
    private func requireOwn(_ target: any SQLDatabase, _ origin: KeyName) throws {
        let there = try target.readNow { try $0.row("SELECT origin FROM meta")?.bytes(0) }
        if let there, there != origin.bytes { throw SharedLogFault.otherLog(origin: there) }
    }

    // MARK: The log

    /// The proofs of earlier changes of keys, and what earlier logs held.
    private func copyHistory() throws(FileFailure) {
        if access(data.history, F_OK) != 0 { try PrivateFile.makeFolder(data.history) }
        try PrivateFile.copyHistory(from: data.records, to: data.history)
    }

    private func copyLog(
        _ copy: LogCopy, _ origin: KeyName, to shared: SharedLogEngines
    ) async throws(MoveError) -> UInt64 {
        let replay = FrameReplay(sealing: nil, shown: 0, placed: 0)
        let (signed, published): (SignedHead, PublishedCheckpoint)
        do throws(LogOpenError) {
            try copy.forEachFrame { (frame) throws(LogOpenError) in try replay.take(frame) }
            try replay.finish()
            signed = try copy.signedHead()
            published =
                try copy.publishedHead(origin: origin) ?? PublishedCheckpoint(head: signed.head, note: signed.note)
        } catch { throw .log(error) }
        do throws(SharedLogFault) {
            try await shared.take(
                replay, frames: { visit in try Self.visit(copy, visit) }, signed: signed, published: published)
        } catch { throw .shared(error) }
        return replay.size
    }

    /// The frames of a log, for a visitor that may fail in its own way.
    private static func visit(_ copy: LogCopy, _ visit: (Frame) throws -> Void) throws {
        var failure: (any Error)?
        try copy.forEachFrame { frame in
            guard failure == nil else { return }
            do { try visit(frame) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
