// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import Platform
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
        let (input, null) = (Pipe(), open("/dev/null", O_RDWR | O_CLOEXEC))
        defer { close(null) }
        // Two short lines fit into the pipe before anybody reads it.
        try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try? input.fileHandleForWriting.close()
        let process: ChildProcess
        do throws(ChildProcess.StartFault) {
            process = try ChildProcess.start(
                path, environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"], in: "/",
                input: input.fileHandleForReading.fileDescriptor, output: null, errors: null)
        } catch { return false }
        try? input.fileHandleForReading.close()
        let watchdog = Task { [expiry] in
            try await expiry()
            try Task.checkCancellation()
            process.kill()
        }
        defer { watchdog.cancel() }
        return await process.end() == .exited(0)
    }
}
