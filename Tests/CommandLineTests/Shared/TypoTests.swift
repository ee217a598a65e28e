// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A word that is no command or option is named, with the one that was probably meant.
@Suite struct TypoTests {
    private func run(_ arguments: String...) async throws -> Exit {
        try await Program.signet.run(arguments, in: FileManager.default.temporaryDirectory)
    }

    @Test(arguments: [
        (["lokup", "a@b.example"], "'signet' has no command 'lokup'. Did you mean 'signet lookup'?"),
        (["people", "ad"], "'signet people' has no command 'ad'. Did you mean 'signet people add'?"),
        (["notes", "shwo"], "'signet notes' has no command 'shwo'. Did you mean 'signet notes show'?"),
        (
            ["--home", "X", "people", "verfy"],
            "'signet people' has no command 'verfy'. Did you mean 'signet people verify'?"
        ),
        (["lookup", "--hlep"], "'signet lookup' has no option '--hlep'. Did you mean '--help'?"),
        (
            ["lookup", "a@b.example", "--explian"],
            "'signet lookup' has no option '--explian'. Did you mean '--explain'?"
        ),
        (["call", "start", "--recrod"], "'signet call start' has no option '--recrod'. Did you mean '--record'?"),
        (["notes", "new", "--hoem=X", "T"], "'signet notes new' has no option '--hoem'. Did you mean '--home'?"),
        // A mistyped option before the command must not leave the account to chance.
        (["--homes", "X", "notes", "ls"], "'signet' has no option '--homes'. Did you mean '--home'?"),
        (["--hoem=X", "notes", "ls"], "'signet' has no option '--hoem'. Did you mean '--home'?"),
        (["help", "lokup"], "'signet' has no command 'lokup'. Did you mean 'signet lookup'?"),
        (["help", "notes", "shwo"], "'signet notes' has no command 'shwo'. Did you mean 'signet notes show'?"),
    ]) func theNearestWordIsOffered(arguments: [String], words: String) async throws {
        let exit = try await Program.signet.run(arguments, in: FileManager.default.temporaryDirectory)
        expect(64, exit, "\(arguments)")
        let said = exit.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(said.contains(words), "\(said)")
    }

    @Test(arguments: [
        (["acounts", "list"], "'signetd' has no command 'acounts'. Did you mean 'signetd accounts'?"),
        (
            ["accounts", "lst", "--data", "x"],
            "'signetd accounts' has no command 'lst'. Did you mean 'signetd accounts list'?"
        ),
        (
            ["witness", "add-lg", "--data", "x"],
            "'signetd witness' has no command 'add-lg'. Did you mean 'signetd witness add-log'?"
        ),
        (["run", "--data", "x", "--bnd", "y"], "'signetd run' has no option '--bnd'. Did you mean '--bind'?"),
        (
            ["accounts", "erase", "a@b.example", "--yse", "--data", "x"],
            "'signetd accounts erase' has no option '--yse'. Did you mean '--yes'?"
        ),
        (["--vrsion"], "Before the command, 'signetd' has no option '--vrsion'. Did you mean '--version'?"),
        (["help", "chekc"], "'signetd' has no command 'chekc'. Did you mean 'signetd check'?"),
        (["rotat", "--help"], "'signetd' has no command 'rotat'. Did you mean 'signetd rotate'?"),
    ]) func theServersProgramOffersTheNearestWordToo(arguments: [String], words: String) async throws {
        let exit = try await Program.signetd.run(arguments, in: FileManager.default.temporaryDirectory)
        expect(64, exit, "\(arguments)")
        let said = exit.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(said.contains(words), "\(said)")
    }

    @Test(arguments: [
        ["--version"], ["--help"], ["help"], ["help", "run"], ["accounts", "--help"], ["run", "--help"],
    ]) func theServersProgramStillHelps(arguments: [String]) async throws {
        expect(0, try await Program.signetd.run(arguments, in: FileManager.default.temporaryDirectory), "\(arguments)")
    }

    @Test func aWordThatIsLikeNoneGetsTheListOnly() async throws {
        let exit = try await run("frobnicate")
        expect(64, exit)
        #expect(exit.errors.contains("'signet' has no command 'frobnicate'"))
        #expect(!exit.errors.contains("Did you mean"))
        #expect(exit.errors.contains("'signet --help' lists the commands"))
    }

    @Test func aWordCannotMoveTheCursor() async throws {
        let exit = try await run("look\u{1B}[2Jup")
        expect(64, exit)
        #expect(!exit.errors.contains("\u{1B}[2J"))
    }

    @Test func whatTheParserKnowsBetterIsSaidByTheParser() async throws {
        let exit = try await run("lookup")
        expect(64, exit)
        #expect(exit.errors.contains("Missing expected argument '<handle>'"))
    }

    @Test func aTypoIsJSONForPrograms() async throws {
        let exit = try await run("lookup", "a@b.example", "--jsno", "--json")
        expect(64, exit)
        #expect(exit.output.contains("\"failure\":\"'signet lookup' has no option '--jsno'.\""), "\(exit.output)")
    }

    @Test(arguments: ["notes", "people"]) func helpBehindAGroupOfCommandsShowsItsHelp(group: String) async throws {
        let exit = try await run(group, "help")
        expect(0, exit)
        #expect(exit.output.contains("USAGE: signet \(group)"))
    }

    @Test(arguments: [[], ["--home", "/nonexistent/home"]]) func helpBeforeACommandShowsItsHelp(
        options: [String]
    ) async throws {
        let exit = try await Program.signet.run(
            ["help"] + options + ["notes", "show"], in: FileManager.default.temporaryDirectory)
        expect(0, exit)
        #expect(exit.output.contains("USAGE: signet notes show"))
    }

    @Test func helpBehindACommandIsAWordOfIts() async throws {
        let exit = try await run("people", "add", "help", "--home", "/nonexistent/home")
        #expect(exit.status != 0)
        #expect(exit.errors.contains("'help' is not a handle"), "\(exit.errors)")
    }
}
