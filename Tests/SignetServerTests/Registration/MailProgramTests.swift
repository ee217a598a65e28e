// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import Platform
import SignetAPI
import Testing

@testable import SignetServer

/// The operator's program, as a real script.
@Suite struct MailProgramTests {
    /// The script waits for a command of its own, which tells through a pipe with a name whether it came to its end.
    @Test func aProgramThatTakesTooLongIsEndedWithWhatItStarted() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "mail-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (pipe, script) = (folder.appending(component: "pipe"), folder.appending(component: "program"))
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let text = "#!/bin/sh\nsh -c 'echo begun; sleep 30; echo ended' >'\(pipe.path)'\nexit 0\n"
        try Data(text.utf8).write(to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)

        let (begun, report) = AsyncStream.makeStream(of: Void.self)
        let program = MailProgram(path: script.path) { _ = await begun.first { _ in true } }
        let code = try #require(MailCode(digits: Array("123456".utf8)))
        async let isTaken = program.send(code, to: try Handle(typed: Array("alice@example.org".utf8)))
        let told = await withCheckedContinuation { done in
            Thread {
                // Opens once the command has, and ends once nobody has it open for writing.
                let reader = FileHandle(forReadingAtPath: pipe.path)
                let first = reader?.availableData ?? Data()
                report.yield()
                let rest = (try? reader?.readToEnd()) ?? Data()
                done.resume(returning: String(decoding: first + rest, as: UTF8.self))
            }.start()
        }
        #expect(try await !isTaken)
        #expect(told == "begun\n")
    }

    /// Whoever may write such a program is not to read connections, databases and keys that the server has open.
    @Test func aProgramHasTheTwoLines_andNoFileOfTheServer() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "mail-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (script, said) = (folder.appending(component: "program"), folder.appending(component: "said"))
        let text = "#!/bin/sh\n{ cat; for file in /proc/$$/fd/[0-9]*; do echo ${file##*/}; done; } >'\(said.path)'\n"
        try Data(text.utf8).write(to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
        let inherited = open("/dev/null", O_RDONLY)
        defer { close(inherited) }

        let code = try #require(MailCode(digits: Array("123456".utf8)))
        let handle = try Handle(typed: Array("alice@example.org".utf8))
        #expect(await MailProgram(path: script.path).send(code, to: handle))
        let lines = try String(contentsOf: said, encoding: .utf8).split(separator: "\n")
        #expect(lines.prefix(2) == ["address alice@example.org", "code 123456"])
        #expect(lines.contains("0") && !lines.contains("\(inherited)"), "\(lines)")
    }

    /// As where no more files can be opened.
    @Test func noProgramGetsAFileOfTheServersInPlaceOfOneThatCouldNotBeOpened() throws {
        let null = open("/dev/null", O_RDWR)
        defer { close(null) }
        for place in 0..<3 {
            var files = [null, null, null]
            files[place] = -1
            #expect {
                _ = try ChildProcess.start(
                    "/bin/true", environment: [:], in: "/", input: files[0], output: files[1], errors: files[2])
            } throws: { error in
                (error as? ChildProcess.StartFault)?.code == EBADF
            }
        }
    }

    /// As where this process was started with `SIGCHLD` ignored: the system forgets how a program ended.
    @Test func aProgramOfWhichTheSystemDoesNotSayHowItEndedHasNotSucceeded() async throws {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let process = try ChildProcess.start(
            "/bin/true", environment: [:], in: "/", input: null, output: null, errors: null)
        var status: Int32 = 0
        try #require(waitpid(process.number, &status, 0) == process.number)
        #expect(await process.end() == .unknown)
    }

    @Test(arguments: ["exit 3", "kill -9 $$"])
    func aMailThatWasNotTakenIsReported(by line: String) async throws {
        let script = FileManager.default.temporaryDirectory.appending(component: "mail-\(UUID().uuidString)")
        try Data("#!/bin/sh\n\(line)\n".utf8).write(to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
        defer { try? FileManager.default.removeItem(at: script) }
        let code = try #require(MailCode(digits: Array("123456".utf8)))
        let handle = try Handle(typed: Array("alice@example.org".utf8))
        #expect(await !MailProgram(path: script.path).send(code, to: handle))
        #expect(await !MailProgram(path: script.path + "-absent").send(code, to: handle))
    }
}
