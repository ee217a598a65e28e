// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import Platform
import SignetAPI
import SignetClient
import Testing
import TransparencyLog

/// Other servers, other directory files, and closed streams.
@Suite(.serialized) struct SurroundingsTests {
    @Test func aServerWithAnotherCertificateIsRefused() async throws {
        try await Town.withServer { town, _ in
            let other = try await Self.profileOfAnotherServer(town)
            try town.edit("alice/directory") { Self.replace("tls-root", in: $0, by: other) }
            let exit = try await town.signet("alice", "lookup", Town.bob)
            expect(1, exit)
            #expect(
                exit.complaint.hasPrefix("No authority that you trust has certified the server at https://localhost"))
        }
    }

    /// The attack: a clock is set back to a day on which a certificate was still valid. Here the log has shown a later
    /// day than the certificate's last one, and the clock of this machine is the one that runs behind.
    @Test func aClockSetBackDoesNotRevalidateAnExpiredServerCertificate() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            try await Self.showAlice(days: 398, in: town)
            let exit = try await town.signet("alice", "lookup", Town.bob)
            expect(1, exit)
            #expect(exit.complaint.contains("is not valid today"))
        }
    }

    /// The same attack at a site, with a trusted root only and with a pin policy as well: the directory's log gives the
    /// time there too.
    @Test(arguments: [false, true])
    func aClockSetBackDoesNotRevalidateAnExpiredCertificateOfASite(hasPins: Bool) async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            try await RunningSite.with(["shop"], in: town) { sites in
                let shop = try #require(sites.first)
                let pins = hasPins ? ["--pins", shop.pins] : []
                expect(0, try await shop.signet("alice", "register", pins))
                try await Self.showAlice(days: 3980, in: town)
                let exit = try await shop.signet("alice", "signin", pins)
                expect(1, exit)
                #expect(exit.complaint.contains("is not valid today"), "\(exit.errors)")
            }
        }
    }

    /// The same attack on a pin policy: a rule has an end, from which on it blocks. All certificates are valid on
    /// both days, so that only the rule's end refuses.
    @Test func aClockSetBackDoesNotRevalidateAnExpiredPinRule() async throws {
        try await Town.withServer { town, _ in
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            try await RunningSite.with(["shop"], in: town) { sites in
                let shop = try #require(sites.first)
                try shop.endRules(at: UInt64(Date.now.timeIntervalSince1970) + 86_400)
                expect(0, try await shop.signet("alice", "register", "--pins", shop.pins))
                try await Self.showAlice(days: 2, in: town)
                let exit = try await shop.signet("alice", "signin", "--pins", shop.pins)
                expect(64, exit)
                let words = ["expired on", "says to block"]
                #expect(words.allSatisfy(exit.complaint.contains), "\(exit.errors)")
                expect(0, try await shop.signet("alice", "signin"), "the certificates are good")
            }
        }
    }

    /// Records that the log has shown Alice a time that many days from now.
    private static func showAlice(days: UInt64, in town: Town) async throws {
        let home = HomeFolder(path: town["alice"].path())
        let origin = try #require(HomeFolder.profile(in: home.directory).trust.policy.logs.first).name
        let store = try SQLiteStore.open(at: home.storePath)
        let view = try #require(try await store.logView(origin: origin.bytes))
        let epoch = try #require(view.epoch)
        let day = UInt64(Date.now.timeIntervalSince1970) + days * 86_400
        let later = LogView(
            uncheckedOrigin: origin, head: view.head, note: view.note,
            epoch: EpochMark(number: epoch.number, time: day * 1000))
        #expect(try await store.advance(to: later, from: view))
        #expect(try store.newestTime() == day)
        try store.close()
    }

    @Test func aLogUnderAnotherKeyIsRefusedByItsCheck() async throws {
        try await Town.withServer { town, _ in
            let other = try await Self.profileOfAnotherServer(town)
            for (line, check) in [("log", "log-signature"), ("witness", "cosignatures"), ("vrf", "vrf")] {
                let before = try town.bytes("alice/directory")
                try town.edit("alice/directory") { Self.replace(line, in: $0, by: other) }
                let exit = try await town.signet("alice", "lookup", Town.bob, "--json")
                expect(1, exit, line)
                #expect(try exit.checks().first { $0.result == "failed" }?.name == check)
                try town.write(before, to: "alice/directory")
            }
        }
    }

    @Test func theWrongLineOfADirectoryFileIsNamed() async throws {
        try await Town.with { town in
            let good = String(decoding: try town.bytes("alice/directory"), as: UTF8.self)
            for line in ["url", "tls-root", "vrf", "maximum-age"] {
                for wrong in ["\(line) \u{1B}[31m", "\(line)", "other value"] {
                    try town.edit("alice/directory") { _ in Self.replace(line, in: good, by: wrong) }
                    let exit = try await town.signet("alice", "lookup", Town.bob)
                    expect(65, exit, wrong)
                    #expect(exit.complaint == "In alice/directory the line '\(line)' is missing or wrong.")
                }
            }
            let others = [
                (Self.replace("log", in: good, by: "log x"), "the part that says whom to trust"),
                (Self.replace("quorum", in: good, by: "quorum nobody"), "the part that says whom to trust"),
                (good.replacing("\n\n", with: "\nmore\n\n"), "ends before it says whom to trust"),
                ("signet-directory/v9\n", "is not a directory file"), ("", "is not a directory file"),
                (good + String(repeating: "#", count: 70_000), "longer than 65536 bytes"),
            ]
            for (text, words) in others {
                try town.edit("alice/directory") { _ in text }
                let exit = try await town.signet("alice", "lookup", Town.bob)
                expect(65, exit, words)
                #expect(exit.complaint.contains(words))
            }
        }
    }

    @Test func anInvalidAddressIsReported() async throws {
        try await Town.with { town in
            for url in ["https://", "https://localhost:0", "https://localhost:99999", "https://localhost/path"] {
                try town.edit("alice/directory") { Self.replace("url", in: $0, by: "url \(url)") }
                let exit = try await town.signet("alice", "lookup", Town.bob)
                expect(65, exit, url)
                #expect(exit.complaint.contains("is not the address of a directory"))
            }
        }
    }

    // MARK: Closed streams

    @Test func aClosedPipeDoesNotChangeTheExitStatus() async throws {
        try await Town.withServer { town, _ in
            for (status, handle) in [(Int32(0), Town.bob), (4, "nobody@example.org")] {
                for json in [[], ["--json"]] {
                    let process = Process(
                        Program.signet.file, ["lookup", handle, "--home", "alice"] + json, in: town.folder,
                        environment: [:])
                    let pipe = Pipe()
                    process.standardOutput = pipe
                    process.standardError = pipe
                    try pipe.fileHandleForReading.close()
                    #expect(try await process.end(within: Program.deadline) == status)
                }
            }
        }
    }

    private static let streams =
        [">&-", ">&- 2>&-", "<&- >&- 2>&-"]
        + (FileManager.default.fileExists(atPath: "/dev/full") ? [">/dev/full"] : [])

    @Test(arguments: streams)
    func aClosedOrFullStreamDoesNotChangeTheExitStatus(streams: String) async throws {
        try await Town.withServer { town, _ in
            for (status, handle) in [(Int32(0), Town.bob), (4, "nobody@example.org")] {
                let line = "exec '\(Program.signet.file.path())' lookup \(handle) --home alice \(streams)"
                let exit = try await Exit.of(URL(filePath: "/bin/sh"), ["-c", line], in: town.folder)
                expect(status, exit, line)
            }
            expect(0, try await town.signet("alice", "lookup", Town.bob), "the home is as it was")
        }
    }

    /// Without a standard stream, its descriptor would be given to a file of the log.
    @Test func aServerWithoutStandardErrorDoesNotDamageItsLog() async throws {
        try await Town.with { town in
            try town.write(
                "#!/bin/sh\nexec '\(Program.signetd.file.path())' \"$@\" <&- 2>&-\n".utf8, to: "quiet")
            try town.chmod("quiet", 0o700)
            let options = ["run", "--data", "server", "--bind", "127.0.0.1:0", "--log-level", "trace"]
            let server = try await RunningServer.start(town["quiet"], options, in: town.folder)
            #if os(Linux)
                for stream in [0, 2] {
                    let file = "/proc/\(server.processIdentifier)/fd/\(stream)"
                    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file) == "/dev/null")
                }
            #endif
            try town.point(to: server.port)
            do { try await town.addDeviceOfBob("tablet") } catch {
                try await server.stop(SIGKILL)
                throw error
            }
            #expect(try await server.stop().status == 0)
            try await town.serving { _ in expect(0, try await town.signet("alice", "log", "verify")) }
        }
    }

    /// Otherwise a program that failed to send a mail would seem to have sent it.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "there is no /proc"))
    func aServerOfACallerThatIgnoresTheEndsOfProgramsDoesNot() async throws {
        try await Town.with { town in
            let arguments = [
                "--ignore-signal=CHLD", Program.signetd.file.path(), "run", "--data", "server", "--bind", "127.0.0.1:0",
            ]
            let server = try await RunningServer.start(URL(filePath: "/usr/bin/env"), arguments, in: town.folder)
            let status = try? String(contentsOfFile: "/proc/\(server.processIdentifier)/status", encoding: .utf8)
            try await server.stop()
            let mask = try #require(status?.firstMatch(of: /SigIgn:\s*([0-9a-f]+)/)?.1)
            #expect(try #require(UInt64(mask, radix: 16)) & 1 << (SIGCHLD - 1) == 0)
        }
    }

    @Test func aServerWithAClosedStandardErrorKeepsItsExitStatus() async throws {
        try await Town.with { town in
            let pipe = Pipe()
            try pipe.fileHandleForReading.close()
            let full = FileHandle(forWritingAtPath: "/dev/full") ?? pipe.fileHandleForWriting
            for stream in [pipe.fileHandleForWriting, full] {
                for (status, command) in [
                    (Int32(66), ["run", "--data", "nowhere"]),
                    (73, ["init", "--origin", "a", "--url", "https://b", "--data", "server"]),
                    (66, ["profile", "--data", "nowhere"]),
                ] {
                    let process = Process(Program.signetd.file, command, in: town.folder, environment: [:])
                    process.standardOutput = stream
                    process.standardError = stream
                    #expect(try await process.end(within: Program.deadline) == status, "\(command)")
                }
            }
        }
    }

    // MARK: Directory files

    private static func profileOfAnotherServer(_ town: Town) async throws -> String {
        let exit = try await town.signetd(
            "init", "--data", "other", "--origin", "example.org/signet", "--url", "https://localhost:1")
        expect(0, exit)
        return String(decoding: try town.bytes("other/directory.signet"), as: UTF8.self)
    }

    /// Puts the line of that name in `other` in the place of the one in `text`.
    private static func replace(_ name: String, in text: String, by other: String) -> String {
        let lines = other.split(separator: "\n", omittingEmptySubsequences: false)
        let new = lines.first { $0.hasPrefix(name + " ") } ?? lines.first ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(name + " ") ? new : $0 }.joined(separator: "\n")
    }
}
