// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyDirectory
import Logging
import SignetServer

/// How the process speaks and ends.
enum Diagnostics {
    static func logger(_ level: Logger.Level) -> Logger { logger(LevelInForce(level)) }

    static func logger(_ level: LevelInForce) -> Logger {
        Logger(label: "signetd") { _ in LogfmtOutput(level: { level.value }) }
    }

    /// Opens `/dev/null` in the place of standard streams that the caller closed: their numbers would
    /// otherwise go to the next files, and remarks would be written into the log or the database. A reader
    /// that went away does not end the server. How a program ended that the server started is kept, whatever the caller ignored.
    static func prepareStandardStreams() {
        var descriptor: Int32
        repeat { descriptor = open("/dev/null", O_RDWR) } while (0...STDERR_FILENO).contains(descriptor)
        if descriptor > STDERR_FILENO { close(descriptor) }
        signal(SIGPIPE, SIG_IGN)
        signal(SIGCHLD, SIG_DFL)
    }

    /// Seconds since 1970.
    static func now() -> UInt64 { UInt64(max(0, Date().timeIntervalSince1970)) }

    /// Writes a line to standard output at once, also when it is a pipe.
    static func printLine(_ line: String) { write(line, to: .standardOutput) }

    /// Ends the process if it is still there after `bound`: what is acknowledged is durable at any time.
    static func endProcess(after bound: Duration) {
        let seconds = Double(bound.components.seconds)
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: seconds)
            complain("signetd: what was in progress did not end in time; ended by force")
            _exit(DaemonStatus.tryAgain.rawValue)
        }
    }

    /// Says why, and gives the exit code.
    static func exit(_ error: any Error) -> ExitCode {
        let verdict = Verdict(error)
        complain("signetd: \(verdict.sentence)")
        return ExitCode(verdict.status.rawValue)
    }

    /// The same of a command that reads a directory which a server may have open.
    static func exit(_ error: any Error, besideServerOf data: DataDirectory) -> ExitCode {
        let verdict = Verdict(error)
        let isBeside = [.damaged, .notSetUp].contains(verdict.status) && DirectoryCheck.isInUse(data)
        complain("signetd: \(isBeside ? Verdict.keepServer : "")\(verdict.sentence)")
        return ExitCode(verdict.status.rawValue)
    }

    /// Says everything that is wrong with the settings, and gives the exit code.
    static func exit(_ error: SettingsError) -> ExitCode {
        for fault in error.faults { complain("signetd: \(Verdict.of(fault).sentence)") }
        return ExitCode(DaemonStatus.misconfigured.rawValue)
    }

    static func complain(_ line: String) { write(line, to: .standardError) }

    /// The exit status is an answer of its own: it must not depend on whether the line is read.
    private static func write(_ line: String, to stream: FileHandle) {
        try? stream.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// The exit codes, after `sysexits.h`.
enum DaemonStatus: Int32 {
    case damaged = 65
    case notSetUp = 66
    case addressUnusable = 69
    case notMade = 73
    case diskFailed = 74
    case tryAgain = 75
    case notAllowed = 77
    case misconfigured = 78
}
