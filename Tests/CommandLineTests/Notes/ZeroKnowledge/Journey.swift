// SPDX-License-Identifier: Apache-2.0

import CanaryScan
import Foundation
import Testing

/// Two people and three devices use every function of notes, with unique words.
struct Journey {
    let town: Town
    let title = Canary.text("title"), body = Canary.text("body"), edited = Canary.text("edited body")
    let comment = Canary.text("comment"), term = Canary.text("search term"), tag = Canary.word("tag")
    let fileName = Canary.word("file name"), fileContent = Canary.text("file content")
    let password = Canary.text("notes password")

    var canaries: [Canary] { [title, body, edited, comment, term, tag, fileName, fileContent, password] }

    /// A text over several pages of a database.
    private func long(_ canary: Canary) -> String { String(repeating: canary.text + "\n", count: 300) }

    @discardableResult
    func notes(_ home: String, _ arguments: String...) async throws -> Exit {
        let exit = try await Program.signet.run(
            ["notes"] + arguments + ["--home", home], in: town.folder,
            environment: ["SIGNET_NOTES_PASSWORD": password.text])
        try #require(exit.status == 0, "\(home): notes \(arguments.prefix(1)): \(exit.errors)")
        return exit
    }

    /// Writes and shares a note, reads it on both devices of the other person, comments and stars.
    ///
    /// - Returns: the note's name.
    func begin() async throws -> String {
        let made = try await notes("alice", "new", title.text, long(body), "--tag", tag.text, "--json")
        let note = try #require(try made.object()["note"] as? String)
        try await notes("alice", "share", note, Town.bob, "--write")
        for home in ["bob", "phone"] {
            try await notes(home, "sync")
            let shown = try await notes(home, "show", note)
            #expect(shown.output.contains(body.text), "\(home) reads it")
        }
        try await notes("bob", "comment", note, comment.text)
        try await notes("phone", "star", note)
        return note
    }

    /// Sends and fetches a file of several pieces; locks the phone, and unlocks it with the notes password, alone and
    /// with a login key; makes a recovery key.
    ///
    /// - Returns: the recovery key and the login key, as they are printed.
    func carryAndLock(_ note: String) async throws -> (recovery: Canary, login: Canary) {
        try town.write(String(repeating: fileContent.text + "\n", count: 2000).utf8, to: fileName.text)
        try await notes("alice", "attach", note, fileName.text)
        try await notes("phone", "sync")
        try await notes("phone", "fetch", note, fileName.text, "fetched")
        #expect(try town.bytes("fetched") == town.bytes(fileName.text))
        try await notes("bob", "password")
        try await notes("phone", "lock")
        try await notes("phone", "unlock")
        let set = try await notes("bob", "password", "--new-login-key", "--json")
        let loginKey = try #require(try set.object()["loginKey"] as? String)
        try town.write(loginKey.utf8, to: "login-key")
        try await notes("phone", "lock")
        try await notes("phone", "unlock", "--login-key-file", "login-key")
        let made = try await notes("alice", "recovery", "--json")
        let recovery = try #require(try made.object()["recoveryKey"] as? String)
        return (
            Canary("printed recovery key", Array(recovery.utf8)), Canary("printed login key", Array(loginKey.utf8))
        )
    }

    /// Edits on both sides, searches, and unshares the note from Bob.
    func end(_ note: String) async throws {
        try await notes("bob", "sync")
        try await notes("bob", "edit", note, long(edited))
        try await notes("alice", "sync")
        let shown = try await notes("alice", "show", note)
        #expect(shown.output.contains(comment.text) && shown.output.contains(edited.text), "alice reads both")
        for home in ["alice", "phone"] { try await notes(home, "search", term.text) }
        try await notes("alice", "unshare", note, Town.bob)
        try await notes("alice", "edit", note, long(body))
        for home in ["bob", "phone"] { try await notes(home, "sync") }
    }
}
