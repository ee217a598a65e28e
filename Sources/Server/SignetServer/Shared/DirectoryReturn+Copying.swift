// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import KeyDirectory
import LogEngine
import Logging
import NoteStore
import Platform
import RecoveryStore
import SQLStores
import SharedLog
import TransparencyLog

// What is copied beside its place, read back and compared.
extension DirectoryReturn {
    func copyAll(
        _ claimed: ClaimedLog, _ engines: SharedEngines, _ log: SharedLogEngines, _ link: any SQLDatabase
    ) async throws(MoveError) {
        try filing { () throws(FileFailure) in try draft.begin() }
        let (stores, count) = try copyTables(engines, link)
        try await bringBackFiles(engines)
        try interruption(.tables)
        try await copyLog(claimed, log)
        let report = DirectoryMove.Report(entries: claimed.head.size, rows: count)
        var random = SystemRandomNumberGenerator()
        let name = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        try filing { () throws(FileFailure) in
            try copyHistory()
            try draft.finish(ReturnDraft.Copy(name: name, report: report))
        }
        try interruption(.ready)
        try takeAway(claimed, stores, log, link, copy: name)
    }

    /// A store as it was copied.
    typealias CopiedStore = (schema: String, copy: TableCopy, rows: TableCopy.Rows)

    private func copyTables(
        _ engines: SharedEngines, _ link: any SQLDatabase
    ) throws(MoveError) -> ([CopiedStore], count: Int) {
        var (stores, count): ([CopiedStore], Int) = ([], 0)
        for store in draft.draft.movingStores where try isThere(store.schema, link) {
            let (source, target) = try open(store, engines)
            defer {
                source.close()
                target.close()
            }
            let copy = TableCopy(from: source, backTo: target)
            do {
                count += try copy.run(isRepeated: false, seeded: RecoverySchema.seeded)
                stores.append((store.schema.name, copy, try copy.compare()))
                if store.schema.name == SharedDirectory.schema.name {
                    let ends = try target.writeNow { try SharedDirectory.takeBack($0) }
                    guard ends == 0 else { throw MoveError.endsWaiting(ends) }
                }
            } catch let error as MoveError { throw error } catch let fault as TableCopy.Fault {
                throw .tables(store.schema.name, fault)
            } catch { throw .copying(store.schema.name, (error as? SQLFault)?.code) }
        }
        return (stores, count)
    }

    private func isThere(_ schema: SQLSchema, _ link: any SQLDatabase) throws(MoveError) -> Bool {
        try querying(schema.name) {
            try link.readNow { try $0.row("SELECT 1 FROM pg_namespace WHERE nspname = ?", [schema.name]) != nil }
        }
    }

    private func open(
        _ store: (path: String, schema: SQLSchema), _ engines: SharedEngines
    ) throws(MoveError) -> (any SQLDatabase, any SQLDatabase) {
        let target: SQLiteDatabase
        var options = DurableDatabase.Options()
        options.isShrinkable = store.schema.name == NoteArchive.schema.name
        do { target = try SQLiteDatabase(at: store.path, store.schema, origin: .new, options: options) } catch {
            throw .database(path: store.path, error)
        }
        do { return (try engines.database(store.schema, count: 1), target) } catch { throw .engines(error) }
    }

    /// Puts the bodies of files of notes, each of which is compared with its hash, into their rows.
    private func bringBackFiles(_ engines: SharedEngines) async throws(MoveError) {
        let path = draft.draft.notesDatabase
        guard access(path, F_OK) == 0 else { return }
        let file: SQLiteDatabase
        do { file = try SQLiteDatabase(at: path, NoteArchive.schema, origin: .kept) } catch {
            throw .database(path: path, error)
        }
        defer { file.close() }
        do {
            let lost = try await NoteObjects.bringBack(into: file, from: engines.objects, acceptsLoss: acceptsLoss)
            if lost > 0 { logger.warning("pieces of files of notes are lost", metadata: ["count": "\(lost)"]) }
        } catch {
            if let fault = error as? NoteObjectFault { throw .noteFile(fault) }
            throw .copying(NoteArchive.schema.name, (error as? SQLFault)?.code)
        }
    }

    /// Writes the log, reads it back, and compares its root.
    private func copyLog(_ claimed: ClaimedLog, _ log: SharedLogEngines) async throws(MoveError) {
        do throws(SharedLogOpenError) {
            try await log.copy(claimed, toFilesIn: draft.draft.log)
        } catch {
            switch error {
            case .fault(let fault): throw .shared(fault)
            case .log(let error): throw .log(error)
            }
        }
        let replay = try replay(draft.draft)
        guard replay.size == claimed.head.size, replay.root(size: replay.size) == claimed.head.root else {
            throw .shared(.rootDiffers(size: claimed.head.size))
        }
    }

    func replay(_ place: DataDirectory) throws(MoveError) -> FrameReplay {
        let replay = FrameReplay(sealing: nil, shown: 0)
        do throws(LogOpenError) {
            try LogCopy(of: place.log).forEachFrame { (frame) throws(LogOpenError) in try replay.take(frame) }
        } catch { throw .log(error) }
        return replay
    }

    /// The proofs of earlier changes of keys, and what earlier logs held.
    private func copyHistory() throws(FileFailure) {
        guard try PrivateFile.isThere(data.history) else { return }
        try PrivateFile.copyHistory(from: data.history, to: draft.draft.records)
    }
}
