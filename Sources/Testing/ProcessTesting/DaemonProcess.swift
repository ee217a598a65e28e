// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A program of this package as a separate process, which listens on a port and names it on its first line.
package final class DaemonProcess: Sendable {
    /// How a process ended.
    package struct End: Sendable {
        /// The exit status, or the number of the signal.
        package let status: Int32
        /// Whether a signal ended it.
        package let wasKilled: Bool
        /// Everything that the process wrote to standard error.
        package let complaints: String

        /// The last line of ``complaints``.
        package var lastComplaint: String { complaints.split(separator: "\n").last.map(String.init) ?? "" }
    }

    private let output: AsyncStream<String>
    private let end: Task<End, Never>
    /// The number of the process.
    package let identifier: Int32

    /// The path of a program, which the build puts beside the tests.
    package static func executable(_ program: String) -> URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(component: program)
    }

    /// Starts a program.
    ///
    /// - Parameter wrapper: a command that is given the program's command line.
    /// - Throws: the error of the system if the program cannot be started.
    package init(_ program: String, _ arguments: [String], wrapper: [String] = []) throws {
        let process = Process()
        let command = wrapper + [Self.executable(program).path] + arguments
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        // A daemon that outlives the test run would hold the run's own pipe open, and the run would not end.
        let (out, complaints) = (Pipe(), Pipe())
        process.standardOutput = out
        process.standardError = complaints
        let (ends, reportEnd) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in reportEnd.finish() }
        try process.run()
        identifier = process.processIdentifier
        output = Self.texts(of: out)
        // Nothing here may block: tests have only as many threads as there are processors.
        let ended = process
        end = Task.detached {
            var text = ""
            for await part in Self.texts(of: complaints) { text += part }
            for await _ in ends {}
            return End(
                status: ended.terminationStatus, wasKilled: ended.terminationReason == .uncaughtSignal,
                complaints: text)
        }
    }

    /// The bytes of a pipe up to its end. A separate thread reads them, because a handler on libdispatch's event loop
    /// races with the closing of the descriptor, which crashes the tests once in some hundred processes.
    private static func texts(of pipe: Pipe) -> AsyncStream<String> {
        let (texts, report) = AsyncStream.makeStream(of: String.self)
        let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
        // Foundation would keep this one for the length of the test run.
        try? pipe.fileHandleForReading.close()
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                report.yield(String(decoding: buffer[..<count], as: UTF8.self))
            }
            close(descriptor)
            report.finish()
        }
        return texts
    }

    /// The port, once the program listens; nil if it ends before that.
    package func port() async -> Int? {
        var text = ""
        for await part in output {
            text += part
            guard text.hasSuffix("\n") else { continue }
            return text.split(separator: ":").last.flatMap { Int($0.dropLast()) }
        }
        return nil
    }

    /// Sends the process a signal.
    package func signal(_ number: Int32) { kill(identifier, number) }

    /// Waits until the process ends.
    package func ended() async -> End { await end.value }
}

/// Runs a short command that prepares a test, such as a mount, and returns whether it succeeded.
package func succeeds(_ command: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
}
