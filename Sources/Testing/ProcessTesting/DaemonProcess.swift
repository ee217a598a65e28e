// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A program of this package as a process of its own, which listens on a port and says so on its first line.
package final class DaemonProcess: Sendable {
    /// How a process ended.
    package struct End: Sendable {
        /// The exit status, or the number of the signal.
        package let status: Int32
        /// Whether a signal ended it.
        package let wasKilled: Bool
        /// All that it wrote to standard error.
        package let complaints: String

        /// The last line of ``complaints``.
        package var lastComplaint: String { complaints.split(separator: "\n").last.map(String.init) ?? "" }
    }

    private let output: AsyncStream<String>
    private let end: Task<End, Never>
    /// The number of the process.
    package let identifier: Int32

    /// Where the build put a program: beside the tests.
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
        // The test run's own would be held open by a daemon that outlives it, and the run would not end.
        let (out, complaints) = (Pipe(), Pipe())
        process.standardOutput = out
        process.standardError = complaints
        let (ends, reportEnd) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in reportEnd.finish() }
        try process.run()
        identifier = process.processIdentifier
        output = Self.texts(of: out)
        // Nothing here may block: the threads that tests run on are as few as processors.
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

    /// What comes out of a pipe, to its end. A thread of its own reads it: a handler on libdispatch's event loop
    /// races with the closing of the descriptor, and that crashes the tests once in some hundred processes.
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

    /// The port, once it listens; nil if it ends before.
    package func port() async -> Int? {
        var text = ""
        for await part in output {
            text += part
            guard text.hasSuffix("\n") else { continue }
            return text.split(separator: ":").last.flatMap { Int($0.dropLast()) }
        }
        return nil
    }

    /// Sends it a signal.
    package func signal(_ number: Int32) { kill(identifier, number) }

    /// Waits for the end.
    package func ended() async -> End { await end.value }
}

/// Runs a short command to its end, and says whether it succeeded. For what is needed before a test, such as mounting.
package func succeeds(_ command: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
}
