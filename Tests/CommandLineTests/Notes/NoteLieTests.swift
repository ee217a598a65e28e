// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetTesting
import Testing

/// A server that shows some people other notes than the rest, in real processes.
@Suite(.serialized) struct NoteLieTests {
    static let carol = "carol@example.org"

    /// A note of alice, which bob may write and carol may read; all have it.
    private static func prepare(_ town: Town) async throws -> String {
        try town.prepareHome("carol", carol, withIdentity: true)
        let directory = town.profile.path()
        expect(0, try await town.signet("carol", "account", "create", carol, "--directory", directory), "carol")
        for (home, other) in [("alice", carol), ("bob", carol), ("carol", Town.bob), ("carol", Town.alice)] {
            expect(0, try await town.signet(home, "people", "add", other), "\(home) adds \(other)")
        }
        let made = try await town.signet("alice", "notes", "new", "Plan", "We meet at nine.\n", "--json")
        expect(0, made, "new")
        let note = try #require(try made.object()["note"] as? String)
        expect(0, try await town.signet("alice", "notes", "share", note, Town.bob, "--write"), "bob")
        expect(0, try await town.signet("alice", "notes", "share", note, carol), "carol")
        for home in ["bob", "carol"] { expect(0, try await town.signet(home, "notes", "sync"), home) }
        return note
    }

    private static func body(_ town: Town, _ home: String, _ note: String) async throws -> String? {
        try await town.signet(home, "notes", "show", note, "--json").object()["body"] as? String
    }

    /// Serves the town's data, and lies to some people.
    private static func lying(
        _ town: Town, _ lie: NoteLie, past: String? = nil, to victims: [String], _ body: () async throws -> Void
    ) async throws {
        let options = ["notes", "--data", "server", "--lie", lie.rawValue, "--port", "0"]
        let server = try await RunningServer.start(
            .lyingServer, options + (past.map { ["--past", $0] } ?? []) + victims.flatMap { ["--to", $0] },
            in: town.folder)
        try town.point(to: server.port)
        do { try await body() } catch {
            try await server.stop(SIGKILL)
            throw error
        }
        try await server.stop()
    }

    private static func reason(_ lie: NoteLie) -> String {
        lie == .withheldHeads
            ? "does not show what the directory's log says" : "has changed, but the server does not show"
    }

    /// Alice unshares the note from carol; the server withholds that from bob, and shows carol the branch with her as a
    /// member.
    @Test(arguments: [NoteLie.frozenWriter, .withheldHeads])
    func aWriterWithAWithheldRemovalSendsNothingToTheRemovedMember(lie: NoteLie) async throws {
        try await Town.with { town in
            var note = ""
            try await town.serving { _ in note = try await Self.prepare(town) }
            let copy = try await Exit.of(URL(filePath: "/bin/cp"), ["-a", "server", "past"], in: town.folder)
            #expect(copy.status == 0)
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "notes", "unshare", note, Self.carol), "unshare")
            }
            try await Self.lying(town, lie, past: "past", to: [Town.bob, Self.carol]) {
                let edit = try await town.signet("bob", "notes", "edit", note, "We meet at midnight.\n", "--json")
                #expect(try edit.object()["sent"] as? Bool == false, "\(edit.output) \(edit.errors)")
                #expect(edit.complaint.contains(Self.reason(lie)))
                let sync = try await town.signet("carol", "notes", "sync")
                #expect(sync.status == 1, "she gets no records of a note that she lost")
                #expect(try await Self.body(town, "carol", note) == "We meet at nine.\n", "carol was removed")
            }
        }
    }

    /// A device with an old view would give a new key to a person whom another device removed.
    @Test func anOwnerWhoIsNotShownTheLoggedHeadsCannotRekeyOrRevert() async throws {
        try await Town.with { town in
            var note = ""
            try await town.serving { _ in note = try await Self.prepare(town) }
            let copy = try await Exit.of(URL(filePath: "/bin/cp"), ["-a", "server", "past"], in: town.folder)
            #expect(copy.status == 0)
            try await Self.lying(town, .withheldHeads, past: "past", to: [Town.alice]) {
                for step in ["rekey", "revert"] {
                    let exit = try await town.signet("alice", "notes", step, note)
                    expect(1, exit, step)
                    #expect(exit.complaint.contains("does not show what the directory's log says"), "\(step)")
                }
            }
        }
    }

    /// Bob comments, and the server withholds the comment from carol.
    @Test func aCommentWithheldFromAMemberIsReported() async throws {
        try await Town.with { town in
            var note = ""
            try await town.serving { _ in
                note = try await Self.prepare(town)
                expect(0, try await town.signet("bob", "notes", "comment", note, "I bring cake."), "comment")
            }
            try await Self.lying(town, .droppedComment, to: [Self.carol]) {
                let sync = try await town.signet("carol", "notes", "sync")
                #expect(sync.status == 1)
                #expect(sync.complaint.contains("does not show this device 1 comment"), "\(sync.errors)")
            }
        }
    }
}
