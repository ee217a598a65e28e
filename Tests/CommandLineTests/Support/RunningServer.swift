// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A server process that takes connections.
final class RunningServer: Sendable {
    let port: Int
    private let process: UncheckedBox<Process>
    private let ended: ProcessEnd
    private let output: UncheckedBox<FileHandle>
    private let complaints: URL

    private init(_ process: Process, _ ended: ProcessEnd, port: Int, output: FileHandle, complaints: URL) {
        self.process = UncheckedBox(process)
        self.output = UncheckedBox(output)
        self.ended = ended
        self.port = port
        self.complaints = complaints
    }

    /// Starts a server and waits for the line that says it listens.
    static func start(
        _ program: Program, _ arguments: [String], in folder: URL, environment: [String: String] = [:]
    ) async throws -> RunningServer {
        try await start(program.file, arguments, in: folder, environment: environment)
    }

    static func start(
        _ file: URL, _ arguments: [String], in folder: URL, environment: [String: String] = [:]
    ) async throws -> RunningServer {
        let process = Process(file, arguments, in: folder, environment: environment)
        let pipe = Pipe()
        process.standardOutput = pipe
        let complaints = folder.appending(component: ".\(UUID().uuidString).err")
        try Data().write(to: complaints)
        let errors = try FileHandle(forWritingTo: complaints)
        // The program has its own copy by then; Foundation would keep this one for the length of the test run.
        defer { try? errors.close() }
        process.standardError = errors
        let ended = ProcessEnd(of: process)
        try process.run()
        let line = await firstLine(of: pipe.fileHandleForReading, killing: process)
        let port = line.hasPrefix("listening unix:") ? 0 : line.split(separator: ":").last.flatMap { Int($0) }
        guard line.hasPrefix("listening "), let port else {
            process.kill()
            await ended.wait()
            try? pipe.fileHandleForReading.close()
            throw NoServer(said: line, complaints: try String(contentsOf: complaints, encoding: .utf8))
        }
        return RunningServer(process, ended, port: port, output: pipe.fileHandleForReading, complaints: complaints)
    }

    var processIdentifier: Int32 { process.value.processIdentifier }

    /// Its standard error so far.
    var errors: String {
        get throws { try String(contentsOf: complaints, encoding: .utf8) }
    }

    /// Sends a signal and waits for the end.
    ///
    /// - Returns: the exit status and standard error.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) async throws -> Exit {
        process.value.kill(signal)
        let watchdog = DispatchWorkItem { [process] in process.value.kill() }
        DispatchQueue.global().asyncAfter(deadline: .now() + Program.deadline, execute: watchdog)
        await ended.wait()
        watchdog.cancel()
        try? output.value.close()
        let errors = try String(contentsOf: complaints, encoding: .utf8)
        return Exit(status: process.value.status, output: "", errors: errors)
    }

    private static func firstLine(of handle: FileHandle, killing process: Process) async -> String {
        let (reader, process) = (UncheckedBox(handle), UncheckedBox(process))
        let watchdog = DispatchWorkItem { process.value.kill() }
        DispatchQueue.global().asyncAfter(deadline: .now() + Program.deadline, execute: watchdog)
        defer { watchdog.cancel() }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = Data()
                while !text.contains(UInt8(ascii: "\n")) {
                    let more = reader.value.availableData
                    if more.isEmpty { break }
                    text += more
                }
                continuation.resume(
                    returning: String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
            }
        }
    }
}

/// A server that ended before it listened.
struct NoServer: Error, CustomStringConvertible {
    let said: String
    let complaints: String
    var description: String { "no server: \(said) \(complaints.prefix(500))" }
}
