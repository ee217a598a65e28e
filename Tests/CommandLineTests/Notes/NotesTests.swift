// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Notes as people use them, with a home for each, one server and real processes.
@Suite(.serialized) struct NotesTests {
    /// Makes a note, and returns its name from `new --json`.
    private static func write(_ town: Town, _ home: String, _ title: String, _ body: String) async throws -> String {
        let exit = try await town.signet(home, "notes", "new", title, body, "--json")
        expect(0, exit, "new")
        let object = try exit.object()
        #expect(object["sent"] as? Bool == true)
        return try #require(object["note"] as? String)
    }

    private static func show(_ town: Town, _ home: String, _ note: String) async throws -> [String: Any] {
        let exit = try await town.signet(home, "notes", "show", note, "--json")
        expect(0, exit, "show")
        return try exit.object()
    }

    private static func sync(_ town: Town, _ home: String) async throws {
        expect(0, try await town.signet(home, "notes", "sync"), "sync of \(home)")
    }

    /// The server is killed and started again after every step.
    @Test func aNoteIsSharedReadCommentedAndUnsharedAcrossKills() async throws {
        try await Town.with { town in
            var server = try await town.start()
            func restart() async throws {
                try await server.stop(SIGKILL)
                server = try await town.start()
            }
            do {
                let note = try await Self.write(town, "alice", "Plan", "We meet at nine.\n")
                try await restart()
                expect(0, try await town.signet("alice", "notes", "share", "Plan", Town.bob))
                try await restart()

                try await Self.sync(town, "bob")
                let read = try await Self.show(town, "bob", note)
                #expect(read["body"] as? String == "We meet at nine.\n")
                #expect(read["standing"] as? String == "reader")
                #expect(read["owner"] as? String == Town.alice)
                let refused = try await town.signet("bob", "notes", "edit", note, "We meet at ten.")
                expect(64, refused, "a reader does not write")
                #expect(refused.complaint.contains("not change it"))

                expect(0, try await town.signet("bob", "notes", "comment", note, "I bring cake."))
                try await restart()
                try await Self.sync(town, "alice")
                let comments = try await Self.show(town, "alice", note)["comments"] as? [[String: Any]]
                #expect(comments?.map { $0["text"] as? String } == ["I bring cake."])
                #expect(comments?.map { $0["author"] as? String } == [Town.bob])

                let taken = try await town.signet("alice", "notes", "unshare", note, Town.bob)
                expect(0, taken, "unshare")
                #expect(taken.output.contains("cannot be taken back"))
                try await restart()
                expect(0, try await town.signet("alice", "notes", "edit", note, "We meet at midnight.\n"))
                try await restart()

                try await Self.sync(town, "bob")
                let left = try await Self.show(town, "bob", note)
                #expect(left["body"] as? String == "We meet at nine.\n", "the text that was read stays")
                #expect(left["standing"] as? String == "removed")
                let late = try await town.signet("bob", "notes", "comment", note, "Still there?")
                expect(64, late, "a former member does not comment")

                let own = try await Self.show(town, "alice", note)
                #expect(own["body"] as? String == "We meet at midnight.\n")
                #expect(own["epoch"] as? UInt64 == 2)
                #expect((own["members"] as? [Any])?.isEmpty == true)
                try await server.stop()
            } catch {
                try await server.stop(SIGKILL)
                throw error
            }
        }
    }

    @Test func leavingANoteRekeysIt_andTheMemberGetsNoLaterText() async throws {
        try await Town.withServer { town, _ in
            let note = try await Self.write(town, "alice", "Plan", "before")
            expect(0, try await town.signet("alice", "notes", "share", note, Town.bob))
            try await Self.sync(town, "bob")
            let unasked = try await town.signet("bob", "notes", "leave", note)
            expect(64, unasked, "leaving needs the user's consent")
            #expect(unasked.errors.contains("no terminal on which to ask. You did not leave it."))
            #expect(unasked.errors.contains("add --yes"))
            expect(0, try await town.signet("bob", "notes", "leave", note, "--yes"))
            let left = try await town.signet("bob", "notes", "leave", note, "--yes")
            expect(64, left)
            #expect(left.complaint.contains("no longer shared with you"), "\(left.errors)")
            let owners = try await town.signet("alice", "notes", "leave", note, "--yes")
            expect(64, owners)
            #expect(owners.complaint.contains("left without an owner"), "\(owners.errors)")

            let sync = try await town.signet("alice", "notes", "sync")
            expect(0, sync)
            #expect(sync.errors.contains("has a new key: someone left it"), "\(sync.errors)")
            expect(0, try await town.signet("alice", "notes", "edit", note, "after"))
            let own = try await Self.show(town, "alice", note)
            #expect((own["members"] as? [Any])?.isEmpty == true && own["epoch"] as? UInt64 == 2)
            let steps =
                try await town.signet("alice", "notes", "log", note, "--json").object()["steps"] as? [[String: Any]]
            #expect(steps?.map { $0["author"] as? String } == [Town.alice, Town.alice, Town.bob, Town.alice])
            #expect(steps?[2]["step"] as? String == "left it")

            try await Self.sync(town, "bob")
            let kept = try await Self.show(town, "bob", note)
            #expect(kept["body"] as? String == "before" && kept["standing"] as? String == "left")
        }
    }

    /// A person who sends a friend request cannot put a note on the other's devices before they agree, nor after they
    /// block.
    @Test func aNoteIsNotSharedWithAPersonWhoHasNotAccepted() async throws {
        try await Town.withServer { town, _ in
            try town.prepareHome("mallory", "mallory@example.org", withIdentity: true)
            let directory = town.profile.path()
            expect(
                0,
                try await town.signet(
                    "mallory", "account", "create", "mallory@example.org", "--directory", directory))
            expect(0, try await town.signet("mallory", "people", "add", Town.bob))
            let note = try await Self.write(town, "mallory", "Buy", "cheap pills")
            let refused = try await town.signet("mallory", "notes", "share", note, Town.bob)
            expect(64, refused)
            #expect(refused.complaint.contains("has not accepted you"), "\(refused.errors)")
            try await Self.sync(town, "bob")
            let notes = try await town.signet("bob", "notes", "ls", "--json").object()["notes"] as? [Any]
            #expect(notes?.isEmpty == true)

            expect(0, try await town.signet("bob", "people", "accept", "mallory@example.org"))
            expect(0, try await town.signet("mallory", "notes", "share", note, Town.bob))
            try await Self.sync(town, "bob")
            #expect(try await Self.show(town, "bob", note)["body"] as? String == "cheap pills")
            expect(0, try await town.signet("bob", "people", "block", "mallory@example.org"))
            expect(64, try await town.signet("bob", "people", "block", "mallory@example.org"), "already blocked")
            let second = try await Self.write(town, "mallory", "Buy more", "cheap pills")
            expect(64, try await town.signet("mallory", "notes", "share", second, Town.bob))
            #expect(try await town.signet("bob", "people", "requests").output.hasPrefix("No one is asking."))

            // Alice, who sent a request to bob herself, blocks him in the same way; then she adds him again.
            expect(0, try await town.signet("alice", "people", "block", Town.bob))
            let own = try await Self.write(town, "bob", "Plan", "for two")
            expect(64, try await town.signet("bob", "notes", "share", own, Town.alice))
            expect(0, try await town.signet("alice", "people", "add", Town.bob))
            expect(0, try await town.signet("bob", "notes", "share", own, Town.alice))
        }
    }

    @Test func fetchingAFileOfAnUnsharedNoteReportsThatItIsUnshared() async throws {
        try await Town.withServer { town, _ in
            let note = try await Self.write(town, "alice", "Plan", "with a map")
            try town.write([UInt8](repeating: 7, count: 100), to: "map.bin")
            expect(0, try await town.signet("alice", "notes", "attach", note, "map.bin"))
            expect(0, try await town.signet("alice", "notes", "share", note, Town.bob))
            try await Self.sync(town, "bob")
            expect(0, try await town.signet("bob", "notes", "fetch", note, "map.bin", "copy.bin"))
            expect(0, try await town.signet("alice", "notes", "unshare", note, Town.bob))
            let fetch = try await town.signet("bob", "notes", "fetch", note, "map.bin", "again.bin")
            expect(64, fetch)
            #expect(fetch.complaint.contains("no longer shared with you"), "\(fetch.errors)")
            #expect(!town.exists("again.bin"))
        }
    }

    @Test func aLaterDeviceReadsEarlierSharedNotes() async throws {
        try await Town.withServer { town, _ in
            let note = try await Self.write(town, "alice", "For bob", "both devices")
            expect(0, try await town.signet("alice", "notes", "share", note, Town.bob, "--write"))
            try await Self.sync(town, "bob")
            try await town.addDeviceOfBob("tablet")
            try await Self.sync(town, "bob")
            expect(0, try await town.signet("phone", "people", "trust", Town.bob, "--yes"), "the new device is bob's")
            for home in ["phone", "tablet"] {
                // The account's key, and with it the note's, comes from bob's first device.
                let sync = try await town.signet(home, "notes", "sync")
                expect(0, sync, home)
                #expect(try await Self.show(town, home, note)["body"] as? String == "both devices", "\(home)")
            }
        }
    }
}
