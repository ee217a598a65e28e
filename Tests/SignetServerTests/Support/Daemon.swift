// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetServer

/// The real `signetd` as a process of its own.
final class Daemon: Sendable {
    /// How a process ended.
    struct End: Sendable {
        let status: Int32
        let wasKilled: Bool
        let complaints: String

        var lastComplaint: String { complaints.split(separator: "\n").last.map(String.init) ?? "" }
    }

    private let output: AsyncStream<String>
    private let end: Task<End, Never>
    let identifier: Int32

    /// Where the build put it: beside the tests.
    static let executable = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(component: "signetd")

    /// Starts `signetd run` on any port; `wrapper` is a command that is given signetd's command line, `limits` are options.
    init(
        _ data: DataDirectory, wrapper: [String] = [],
        limits: [String] = ["--rate", "0", "--account-rate", "0", "--registrations", "0"]
    ) throws {
        let process = Process()
        let command =
            wrapper + [
                Self.executable.path, "run", "--data", data.path, "--bind", "127.0.0.1:0", "--republish", "1",
                "--epoch",
                "0",
            ] + limits
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
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
    func port() async -> Int? {
        var text = ""
        for await part in output {
            text += part
            guard text.hasSuffix("\n") else { continue }
            return text.split(separator: ":").last.flatMap { Int($0.dropLast()) }
        }
        return nil
    }

    func signal(_ number: Int32) { kill(identifier, number) }

    /// Waits for the end.
    func ended() async -> End { await end.value }
}
