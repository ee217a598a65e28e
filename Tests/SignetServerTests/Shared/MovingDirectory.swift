// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
import NoteLog
import NoteStore
import NotesAPI
import ObjectStores
import ObjectTesting
import ProtocolTesting
import SQLStores
import SharedLog
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// A directory with people and a file of a note, and engines to which it can go: a database of a real PostgreSQL, and objects in memory.
final class MovingDirectory: Sendable {
    let data: DataDirectory
    let lab: LabDatabase
    let objects: MemoryObjects
    /// How long the database may take for each command, unless whoever asks it says otherwise.
    private let patience: Duration
    /// The pieces of the file.
    let pieces = (0..<3).map { [UInt8](repeating: UInt8($0), count: ChunkUpload.chunkByteCount) }

    init(
        _ data: DataDirectory, objects: MemoryObjects = MemoryObjects(), patience: Duration = .seconds(30)
    ) throws {
        self.data = data
        self.objects = objects
        self.patience = patience
        lab = try Self.server.get().database()
    }

    /// That of all tests does not wait for the disk, and no log is led on such a one.
    private static let server = Result { try PostgresLab.shared.get().primary() }

    /// Two people, and a note with a file.
    func fill() async throws {
        try await withServer(of: data) { client in
            for name in ["alice", "bob"] {
                let answer = try await TestPerson("\(name)@example.org").register(client)
                #expect(answer?.status == 200)
            }
        }
        await (try StoredNotes.open(data, logger: silent)).close()
        let notes = try NoteArchive(at: data.notesDatabase, clock: { 1_800_000_000 }, logger: silent)
        let alice = try NoteWriter("alice")
        let draft = try NoteDraft(by: alice)
        let outcomes = try await notes.push(NotePushes([draft.creation()]), by: alice.author).outcomes
        #expect(outcomes.count == 1)
        let blob = try unwrapped(BlobID(NoteDraft.bytes(16)))
        let upload = try ChunkUpload(note: draft.note, blob: blob, first: 0, chunks: pieces)
        #expect(try await notes.put(upload, by: alice.handle) == .applied)
        notes.close()
    }

    // MARK: Moving

    func engines(_ file: EnginesFile) -> SharedEngines {
        var engines = SharedEngines(
            file: file, address: lab.address, objects: objects, replicatesBelowSQL: true)
        engines.patience = patience
        return engines
    }

    func engines() throws -> SharedEngines {
        let text = try String(contentsOfFile: data.engines, encoding: .utf8)
        return engines(try EnginesFile(decoding: text))
    }

    /// To the engines; what stays of the files is taken away, as on another machine.
    func move(isRepeated: Bool = false, guarding: RollbackGuard = RollbackGuard()) async throws {
        let file = try EnginesFile(
            database: "host=/nonexistent", objects: "https://localhost", bucket: "none", prefix: nil, region: nil,
            authority: nil)
        let move = DirectoryMove(data, guarding: guarding, logger: silent) { (file, _) throws(SharedEnginesError) in
            self.engines(file)
        }
        _ = try await move.run(to: file, isRepeated: isRepeated)
        try clear()
    }

    func clear() throws {
        for name in ["records", "notes/notes.sqlite", "recovery.sqlite", "cards/tokens.sqlite"] {
            let path = "\(data.path)/\(name)"
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        }
    }

    /// Back to the files.
    ///
    /// - Parameters:
    ///   - machine: to whose files; nil: to those of this one.
    ///   - witnessed: what witnesses say that they have cosigned.
    ///   - witnessRoots: what is named as root certificates of witnesses.
    @discardableResult
    func giveBack(
        to machine: DataDirectory? = nil, acceptsLoss: Bool = false, witnessed: [SeenHead] = [],
        witnessRoots: [UInt8] = [],
        _ interruption: @escaping @Sendable (DirectoryReturn.Step) throws(MoveError) -> Void = {
            (_) throws(MoveError) in
        }
    ) async throws -> DirectoryMove.Report {
        let returning = DirectoryReturn(
            machine ?? data, acceptsLoss: acceptsLoss, witnessRoots: witnessRoots, logger: silent,
            connect: { (data) throws(SharedEnginesError) in
                guard FileManager.default.fileExists(atPath: data.engines) else { return nil }
                return try? self.engines()
            }, witnesses: { _, _ in witnessed }, interruption: interruption)
        return try await returning.run()
    }

    // MARK: Changing keys

    /// A change of keys or witnesses.
    ///
    /// - Parameters:
    ///   - machine: whose files are changed; nil: those of this one.
    ///   - looks: how often to look whether others are connected.
    ///   - interruption: called after each step.
    func rotation(
        at machine: DataDirectory? = nil, looks: Int = 60,
        _ interruption: @escaping @Sendable (SharedRotation.Step) throws(KeyRotationError) -> Void = {
            (_) throws(KeyRotationError) in
        }
    ) -> DirectoryKeyRotation {
        var rotation = DirectoryKeyRotation(machine ?? data, logger: silent)
        rotation.connect = { (_) throws(SharedEnginesError) in try? self.engines() }
        rotation.sharedInterruption = interruption
        rotation.looks = looks
        return rotation
    }

    /// The files of this machine as they are now, on another one.
    func copyOfMachine(_ name: String) throws -> DataDirectory {
        let copy = DataDirectory(path: "\(data.path)-\(name)")
        try? FileManager.default.removeItem(atPath: copy.path)
        try FileManager.default.copyItem(atPath: data.path, toPath: copy.path)
        return copy
    }

    // MARK: In the engines

    @discardableResult
    func sql(_ command: String) throws -> String? { try lab.administer(command) }

    /// Lets a process lead until it has published something more, and look after objects.
    ///
    /// - Parameter isFilled: whether there is anything to publish and to look after; otherwise an epoch ends without anything.
    func lead(isFilled: Bool = true) async throws {
        let size = try sql("SELECT published_size FROM log.log")
        var options = Sequencer.Options()
        if !isFilled { options.heartbeat = 0 }
        let sequencer = Sequencer(data, try engines(), options, logger: silent)
        let task = Task { try await sequencer.run() }
        try await settle { try sql("SELECT published_size FROM log.log") != size }
        if isFilled {
            try await settle { try sql("SELECT count(*) FROM notes.chunks WHERE object IS NULL") == "0" }
        }
        task.cancel()
        try await task.value
    }

    /// Lets a process lead until something holds.
    ///
    /// - Parameter others: how it reaches the engines; nil: as all do.
    func lead(
        over others: SharedEngines? = nil, _ options: Sequencer.Options = Sequencer.Options(),
        until holds: () async throws -> Bool
    ) async throws {
        let sequencer = Sequencer(data, try others ?? engines(), options, logger: silent)
        let task = Task { try await sequencer.run() }
        try await settle(holds)
        task.cancel()
        try await task.value
    }

    /// Waits until something holds.
    func settle(_ holds: () async throws -> Bool) async throws {
        for _ in 0..<1_500 {
            if try await holds() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Missing()
    }

    /// What a process says that would lead.
    func leadingError(at data: DataDirectory? = nil) async throws -> (any Error)? {
        let sequencer = Sequencer(data ?? self.data, try engines(), Sequencer.Options(), logger: silent)
        do { try await sequencer.run() } catch { return error }
        return nil
    }

    func openNotes() throws -> NoteArchive {
        NoteArchive(
            on: try engines().database(NoteArchive.schema, count: 1), objects: objects, limits: NoteLimits(),
            clock: { 1_800_000_000 }, logger: silent)
    }

    // MARK: What it holds

    /// All rows of the stores, in the engines or in the files, but for those that only a cluster needs.
    func rows(onFiles: Bool) throws -> [String] {
        try data.movingStores.flatMap { store -> [String] in
            guard try onFiles ? exists(store.path) : isThere(store.schema.name) else { return [] }
            let database: any SQLDatabase =
                try onFiles
                ? SQLiteDatabase(at: store.path, store.schema)
                : engines().database(store.schema, count: 1)
            defer { database.close() }
            return try Self.rows(database, Self.columns(store.schema)).map { "\(store.schema.name) \($0)" }
        }
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func isThere(_ schema: String) throws -> Bool {
        try sql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "1"
    }

    private static let left = ["waiting", "coming_objects", "going_objects", "grdb_migrations"]

    /// The columns of each table of a schema.
    private static func columns(_ schema: SQLSchema) throws -> [(table: String, list: String)] {
        let place = try LabPlace(on: .sqlite)
        let database = try place.open(schema)
        defer { database.close() }
        return try database.readNow { database in
            try database.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
                .map { try $0.text(0) }.filter { !left.contains($0) }.sorted().map { name in
                    let columns = try database.rows("SELECT name FROM pragma_table_info(?) ORDER BY cid", [name])
                    return (name, try columns.map { try $0.text(0) }.joined(separator: ", "))
                }
        }
    }

    private static func rows(_ database: any SQLDatabase, _ tables: [(table: String, list: String)]) throws -> [String]
    {
        try database.readNow { database in
            try tables.flatMap { table, list in
                try database.rows("SELECT \(list) FROM \(table)").map { "\(table) \($0.values)" }.sorted()
            }
        }
    }

    /// The bodies in the rows of the file of notes.
    func bodiesOnFiles() throws -> [[UInt8]] {
        let file = try SQLiteDatabase(at: data.notesDatabase, NoteArchive.schema)
        defer { file.close() }
        return try file.readNow { try $0.rows("SELECT body FROM chunks ORDER BY number").map { try $0.bytes(0) } }
    }
}

/// Serves a directory that is there already.
private func withServer(
    of data: DataDirectory, _ body: @escaping @Sendable (TestClient) async throws -> Void
) async throws {
    let stored = try await StoredDirectory.open(data, logger: silent)
    let server = try HTTPSServer(
        answering: DirectoryAdapter(stored.directory), signals: StoredSignals.open(data), identity: stored.identity,
        configuration: configuration { _ in }, logger: silent)
    try await run(server) { port in try await body(TestClient(port: port, root: stored.profile.tlsRoot)) }
    await stored.directory.close()
}
