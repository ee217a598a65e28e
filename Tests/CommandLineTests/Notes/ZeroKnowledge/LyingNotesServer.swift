// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import KeyTransparency
import NotesAPI
import Testing

/// A real server with a note of Alice that Bob has on two devices. A test changes its database while it
/// is stopped, so that it lies over real connections.
final class LyingNotesServer {
    let town: Town
    let journey: Journey
    private(set) var note = ""
    private var server: RunningServer?

    private init(_ town: Town) {
        self.town = town
        journey = Journey(town: town)
    }

    /// Runs `body` after Alice has written `one` and shared it.
    static func with(
        sharing: [String] = ["--write"], _ body: (LyingNotesServer) async throws -> Void
    ) async throws {
        try await Town.with { town in
            let lying = LyingNotesServer(town)
            lying.server = try await Self.start(town)
            let made = try await lying.journey.notes("alice", "new", "title", "one", "--json")
            lying.note = try #require(try made.object()["note"] as? String)
            let exit = try await Program.signet.run(
                ["notes", "share", lying.note, Town.bob, "--home", "alice"] + sharing, in: town.folder)
            try #require(exit.status == 0, "\(exit.errors)")
            do { try await body(lying) } catch {
                _ = try await lying.server?.stop(SIGKILL)
                throw error
            }
            _ = try await lying.server?.stop()
        }
    }

    // MARK: Lies

    /// As a server that would say nothing of what it has done to its notes.
    private static func start(_ town: Town) async throws -> RunningServer {
        let options = ["--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0"]
        return try await town.start(.signetd, options + ["--accept-lost-notes"])
    }

    /// Stops the server, lets `change` have its database, and starts it again.
    func lie(_ change: (Database) throws -> Void) async throws {
        _ = try await server?.stop()
        try apply(change)
        server = try await Self.start(town)
    }

    private func apply(_ change: (Database) throws -> Void) throws {
        let queue = try DatabaseQueue(path: town["server/notes/notes.sqlite"].path())
        try queue.write(change)
        try queue.close()
    }

    /// Adds an item to a person's feed.
    func tell(_ handle: String, _ item: FeedItem) async throws {
        try await lie { db in
            let handle = Data(handle.utf8)
            try db.execute(sql: "UPDATE accounts SET newest = newest + 1 WHERE handle = ?", arguments: [handle])
            try db.execute(
                sql: """
                    INSERT INTO feed (account, position, kind, item, time)
                    SELECT id, newest, ?, ?, 1 FROM accounts WHERE handle = ?
                    """, arguments: [Int64(item.encoded[0]), Data(item.encoded), handle])
        }
    }

    /// Saves the server's present notes.
    func save() async throws {
        _ = try await server?.stop()
        try? FileManager.default.removeItem(at: town["saved"])
        try FileManager.default.copyItem(at: town["server/notes"], to: town["saved"])
        server = try await Self.start(town)
    }

    /// Restores the saved notes.
    func restore() async throws {
        _ = try await server?.stop()
        try FileManager.default.removeItem(at: town["server/notes"])
        try FileManager.default.copyItem(at: town["saved"], to: town["server/notes"])
        server = try await Self.start(town)
    }

    // MARK: The clients' view

    func sync(_ home: String) async throws -> Exit { try await town.signet(home, "notes", "sync") }

    /// The fault that a sync reports for the note; nil if there is none.
    func trouble(_ home: String) async throws -> String? {
        let exit = try await town.signet(home, "notes", "sync", "--json")
        let received = try #require(try exit.object()["received"] as? [[String: Any]], "\(exit.errors)")
        return received.compactMap { $0["trouble"] as? String }.first
    }

    /// A device's facts about the note.
    func facts(_ home: String) async throws -> [String: Any] {
        let exit = try await journey.notes(home, "ls", "--json")
        let notes = try #require(try exit.object()["notes"] as? [[String: Any]])
        return try #require(notes.first { $0["note"] as? String == note })
    }

    /// Its text, byte for byte.
    func body(_ home: String) async throws -> String {
        try await journey.notes(home, "show", note, "--body").output
    }
}
