// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import SignetAPI
import Synchronization

/// The operator's program that sends a code: the server itself sends no mail.
///
/// It is started without arguments for each code, and gets two lines on standard input, `address alice@example.org` and `code 123456`. It is
/// not a shell command. Exit status 0 means that the mail was taken; it has 15 seconds, fewer than a client waits for its answer, and no more than eight run at once.
/// Then it is killed with the processes that it has started: a shell that is killed alone leaves the command that it waits for.
final class MailProgram: Sendable {
    /// How many run at once.
    static let maximumCount = 8
    /// How long one may take.
    static let deadline = Duration.seconds(15)

    private let path: String
    private let expiry: @Sendable () async throws -> Void
    private let running = Mutex(0)

    /// - Parameter expiry: returns once a program has had its time.
    init(path: String, expiry: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: deadline) }) {
        self.path = path
        self.expiry = expiry
    }

    /// Runs the program to its end.
    ///
    /// - Returns: whether it took the mail.
    func send(_ code: MailCode, to handle: Handle) async -> Bool {
        guard begin() else { return false }
        defer { running.withLock { $0 -= 1 } }
        return await run(saying: "address \(handle)\ncode \(code.headerValue)\n")
    }

    private func begin() -> Bool {
        running.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }

    private func run(saying text: String) async -> Bool {
        let (process, input) = (Process(), Pipe())
        process.executableURL = URL(filePath: path)
        process.currentDirectoryURL = URL(filePath: "/")
        process.environment = ["PATH": "/usr/local/bin:/usr/bin:/bin"]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        process.standardInput = input
        // Two short lines fit into the pipe before anybody reads it.
        try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try? input.fileHandleForWriting.close()
        let (ends, report) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { ended in
            report.yield(ended.terminationReason == .exit ? ended.terminationStatus : -1)
            report.finish()
        }
        do { try process.run() } catch { return false }
        let number = process.processIdentifier
        // Foundation gives it a process group of its own, and reports its end only once no process has what it inherited.
        let watchdog = Task { [expiry] in
            try await expiry()
            try Task.checkCancellation()
            if kill(-number, SIGKILL) != 0 { kill(number, SIGKILL) }
            report.yield(-1)
            report.finish()
        }
        let status = await ends.first { _ in true }
        watchdog.cancel()
        return status == 0
    }
}
