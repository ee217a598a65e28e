// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetServer

/// The real `signetd` as a process of its own.
final class RelayDaemon: Sendable {
    let port: Int
    private let identifier: Int32
    private let ends: AsyncStream<Void>

    /// Starts it and waits until it listens.
    ///
    /// - Parameter port: 0 for any.
    init(_ data: DataDirectory, port: Int = 0) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(component: "signetd")
        process.arguments = ["run", "--data", data.path, "--bind", "127.0.0.1:\(port)", "--log-level", "critical"]
        let output = Pipe()
        process.standardOutput = output
        // The test run's own would be held open by a daemon that outlives it, and the run would not end.
        process.standardError = FileHandle.nullDevice
        let (ends, reportEnd) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in reportEnd.finish() }
        try process.run()
        identifier = process.processIdentifier
        self.ends = ends
        let line = await Self.firstLine(of: output)
        guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else { throw NotListening() }
        self.port = port
    }

    struct NotListening: Error {}
    struct NotMeasured: Error {}

    /// What it takes of memory now, in bytes; the most that it took is counted from here.
    func memory() throws -> Int {
        // Without the right to it the most of all its life counts, which is never less.
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(identifier)/clear_refs"))
        return try status("VmRSS")
    }

    /// The most that it took of memory, in bytes.
    func peakMemory() throws -> Int { try status("VmHWM") }

    private func status(_ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
            throw NotMeasured()
        }
        return kilobytes << 10
    }

    /// Ends it without a word, and waits until it is gone.
    func kill() async {
        abandon()
        for await _ in ends {}
    }

    /// Ends it without a word.
    func abandon() { Foundation.kill(identifier, SIGKILL) }

    /// A thread of its own reads: a handler on libdispatch's event loop races with the closing of the descriptor.
    private static func firstLine(of pipe: Pipe) async -> String {
        let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
        let (lines, report) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
            close(descriptor)
            report.yield(String(decoding: line, as: UTF8.self))
            report.finish()
        }
        for await line in lines { return line }
        return ""
    }
}
