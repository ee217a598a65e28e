import ArgumentParser
import Foundation
import KeyDirectory
import Logging
import SignetServer

/// How the process speaks and ends.
enum Diagnostics {
    static func logger(_ level: Logger.Level) -> Logger {
        Logger(label: "signetd") { _ in LogfmtOutput(level: level) }
    }

    /// Seconds since 1970.
    static func now() -> UInt64 { UInt64(max(0, Date().timeIntervalSince1970)) }

    /// Writes a line to standard output at once, also when it is a pipe.
    static func printLine(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Ends the process if it is still there after `bound`: what is acknowledged is durable at any time.
    static func endProcess(after bound: Duration) {
        let seconds = Double(bound.components.seconds)
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: seconds)
            complain("signetd: requests in progress did not end in time; ended by force")
            _exit(ExitStatus.tryAgain.rawValue)
        }
    }

    /// Says why, and gives the exit code.
    static func exit(_ error: any Error) -> ExitCode {
        let verdict = Verdict(error)
        complain("signetd: \(verdict.sentence)")
        return ExitCode(verdict.status.rawValue)
    }

    private static func complain(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}

/// The exit codes, after `sysexits.h`.
enum ExitStatus: Int32 {
    case damaged = 65
    case notSetUp = 66
    case addressUnusable = 69
    case notMade = 73
    case diskFailed = 74
    case tryAgain = 75
}
