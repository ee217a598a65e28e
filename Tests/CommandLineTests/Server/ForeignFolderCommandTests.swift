// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

/// The attack: root runs a command in folders of the server's user, who has been taken over, and who puts a link to a folder of the system in
/// the place of one that root is writing in.
@Suite(.enabled(if: geteuid() == 0), .timeLimit(.minutes(5))) struct ForeignFolderCommandTests {
    private static let log = ["--origin", "example.org/signet2"]
    private static let commands: [[String]] = [
        ["backup", "--data", "theirs/server", "--to", "made"],
        ["backup", "--data", "server", "--to", "theirs/made"],
        ["backup", "--data", "server", "--to", "made", "--secrets", "theirs/made"],
        ["check", "--data", "theirs/server"],
        ["restore", "--from", "backup", "--data", "theirs/made"],
        ["init", "--data", "theirs/made", "--url", "https://localhost:1"] + log,
        ["erase", Town.bob, "--yes", "--data", "theirs/server"],
        ["rotate", "log-key", "--data", "theirs/server"],
        ["rotate", "witnesses", "--data", "theirs/server", "witnesses"],
        ["rotate", "tls", "--now", "--data", "theirs/server"],
        ["rotate", "login-key", "--yes", "--data", "theirs/server"],
        ["rotate", "shared-secret", "--announce", "--data", "theirs/server"],
        ["cards", "set", "--data", "theirs/server", "--certificate", "pass.pem", "--key", "pass.key"],
        ["move", "--to", "files", "--data", "theirs/server"],
        ["repair", "--data", "theirs/server"],
        ["succeed", "--from", "theirs/server", "--data", "made"] + log,
        ["succeed", "--from", "server", "--data", "theirs/made"] + log,
        // They would end with 69 once they have opened everything: nothing can listen there.
        ["run", "--data", "theirs/server", "--bind", "192.0.2.1:0"],
        ["run", "--data", "server", "--config", "signetd.conf"],
        ["witness", "run", "--data", "theirs/witness", "--bind", "192.0.2.1:0"],
        ["witness", "init", "--data", "theirs/made", "--name", "witness.example/w1", "--plain-http"],
        ["witness", "add-log", "--data", "theirs/server", "--list", "logs"],
        ["witness", "add-key", "--data", "theirs/server"],
    ]

    @Test func rootWritesNothingWhereAnotherUserCanPutALink() async throws {
        try await Town.with { town in
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            let files = FileManager.default
            try files.createDirectory(at: town["theirs"], withIntermediateDirectories: false)
            try files.copyItem(at: town["server"], to: town["theirs/server"])
            let witness = ["--data", "theirs/witness", "--name", "witness.example/w1", "--host", "localhost"]
            expect(0, try await Program.signetd.run(["witness", "init"] + witness, in: town.folder))
            try town.write([], to: "theirs/memory")
            try town.write(Array("second-memory = theirs/memory\nbind = 192.0.2.1:0\n".utf8), to: "signetd.conf")
            let socket = "unix:" + town["theirs/s"].path()
            let listens = ["run", "--data", "server", "--plain-http", "--bind", socket, "--relay-bind", "192.0.2.1"]
            try files.setAttributes([.ownerAccountID: NSNumber(value: 54_321)], ofItemAtPath: town["theirs"].path())
            let before = try files.subpathsOfDirectory(atPath: town.folder.path()).sorted()
            let contents = (try town.contents("server"), try town.contents("theirs"))
            for command in Self.commands + [listens] {
                let exit = try await Program.signetd.run(command, in: town.folder)
                expect(77, exit, "\(command)")
                #expect(exit.complaint.contains("theirs belongs to another user"), "\(command): \(exit.errors)")
                #expect(exit.complaint.contains("setpriv --reuid 54321 --regid 54321 "), "\(command): \(exit.errors)")
            }
            #expect(try files.subpathsOfDirectory(atPath: town.folder.path()).sorted() == before)
            #expect(try town.contents("server") == contents.0)
            #expect(try town.contents("theirs") == contents.1)
        }
    }
}
