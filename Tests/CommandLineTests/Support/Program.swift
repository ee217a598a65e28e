// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

/// The programs as a user starts them: processes of their own, next to the test bundle.
enum Program: String {
    case signet, signetd
    case lyingServer = "signet-lying-server"
    case site = "signet-site"
    case issuer = "signet-issuer"
    case vectors = "signet-vectors"

    /// Long enough for a busy machine; no test waits for it to pass.
    static let deadline: TimeInterval = 120
    static let passphrase = "correct horse"

    var file: URL { Self.folder.appending(component: rawValue) }

    /// Where the build put the programs and the test bundle.
    private static let folder: URL = {
        let arguments = ProcessInfo.processInfo.arguments
        var bundle = Bundle.main.executableURL ?? URL(filePath: arguments[0])
        if let flag = arguments.firstIndex(of: "--test-bundle-path"), flag + 1 < arguments.count {
            bundle = URL(filePath: arguments[flag + 1])
            while bundle.pathExtension != "xctest", bundle.pathComponents.count > 1 { bundle.deleteLastPathComponent() }
        }
        return bundle.deletingLastPathComponent()
    }()

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - folder: its working directory.
    ///   - environment: besides `HOME` and the passphrase; an empty value takes a variable away.
    func run(
        _ arguments: [String], in folder: URL, environment: [String: String] = [:]
    ) async throws -> Exit {
        let exit = try await Exit.of(file, arguments, in: folder, environment: environment)
        if self == .signet { ShownKeys.expectNone(exit, of: arguments, in: folder) }
        return exit
    }
}

/// A program's exit status and output.
struct Exit {
    /// As a shell gives it: 128 and the number of the signal if one ended the program.
    let status: Int32
    let output: String
    let errors: String

    /// Runs any program to its end. Its output goes to files, so that no reader is needed while it runs.
    static func of(
        _ file: URL, _ arguments: [String], in folder: URL, environment: [String: String] = [:]
    ) async throws -> Exit {
        let places = ["out", "err"].map { folder.appending(component: ".\(UUID().uuidString).\($0)") }
        defer { for place in places { try? FileManager.default.removeItem(at: place) } }
        let files = ["/dev/null"] + places.map { $0.path(percentEncoded: false) }
        let descriptors = files.map { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        defer { for descriptor in descriptors { close(descriptor) } }
        let process = try ChildProcess.start(
            file.path(percentEncoded: false), arguments, environment: Process.environment(in: folder, environment),
            in: folder.path(percentEncoded: false), input: descriptors[0], output: descriptors[1],
            errors: descriptors[2])
        let watchdog = DispatchWorkItem { process.kill() }
        DispatchQueue.global().asyncAfter(deadline: .now() + Program.deadline, execute: watchdog)
        defer { watchdog.cancel() }
        let status: Int32 =
            switch await process.end() {
            case .exited(let status): status
            case .killed(let signal): 128 + signal
            case .unknown: -1
            }
        let texts = try places.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return Exit(status: status, output: texts[0], errors: texts[1])
    }
}

extension Process {
    convenience init(_ file: URL, _ arguments: [String], in folder: URL, environment: [String: String]) {
        self.init()
        executableURL = file
        self.arguments = arguments
        currentDirectoryURL = folder
        standardInput = FileHandle.nullDevice
        self.environment = Self.environment(in: folder, environment)
    }

    static func environment(in folder: URL, _ environment: [String: String]) -> [String: String] {
        var all = ["HOME": folder.path(), "SIGNET_PASSPHRASE": Program.passphrase]
        for name in ["PATH", "LD_LIBRARY_PATH"] { all[name] = ProcessInfo.processInfo.environment[name] }
        all.merge(environment) { _, new in new }
        return all.filter { !$0.value.isEmpty }
    }

    /// Starts the program and waits for its end; one that does not end is killed.
    func end(within deadline: TimeInterval) async throws -> Int32 {
        let watchdog = DispatchWorkItem { [process = UncheckedBox(self)] in process.value.kill() }
        let end = ProcessEnd(of: self)
        try run()
        DispatchQueue.global().asyncAfter(deadline: .now() + deadline, execute: watchdog)
        await end.wait()
        watchdog.cancel()
        return status
    }

    var status: Int32 { terminationReason == .exit ? terminationStatus : 128 + terminationStatus }

    func kill(_ signal: Int32 = SIGKILL) { if isRunning { _ = sendSignal(signal, to: processIdentifier) } }
}

/// The end of a process that is not started yet. A test whose time limit has passed waits for it too: Foundation ends
/// the whole test run when the status of a running process is read.
struct ProcessEnd: Sendable {
    private let ended: Task<Void, Never>

    init(of process: Process) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in continuation.finish() }
        ended = Task.detached { for await _ in stream {} }
    }

    /// Returns after the end, even in a cancelled task.
    func wait() async { await ended.value }
}

private func sendSignal(_ signal: Int32, to process: Int32) -> Int32 { kill(process, signal) }

/// Carries a reference to another thread, where only thread-safe things are done with it.
struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

// MARK: A program's view of the answers

extension Exit {
    /// The lines of standard output.
    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// The one object on standard output, with its members in order of name.
    func object(_ location: SourceLocation = #_sourceLocation) throws -> [String: Any] {
        try #require(
            lines.count == 1, "one line of JSON, not: \(output.prefix(300)) \(errors.prefix(300))",
            sourceLocation: location)
        return try Self.object(lines[0], location)
    }

    static func object(_ line: String, _ location: SourceLocation = #_sourceLocation) throws -> [String: Any] {
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], sourceLocation: location)
        let again = try JSONDecoder().decode(CanonicalJSON.self, from: Data(line.utf8))
        #expect(again.text == line, "the members are in order of name", sourceLocation: location)
        return object
    }

    /// The names of the members of the one object.
    func keys(_ location: SourceLocation = #_sourceLocation) throws -> [String] {
        try object(location).keys.sorted()
    }

    /// The sentence of a refusal: the line after `signet: `.
    var complaint: String {
        let line = errors.split(separator: "\n").first { $0.hasPrefix("signet: ") || $0.hasPrefix("signetd: ") }
        return line.map { String($0.split(separator: ":", maxSplits: 1)[1].dropFirst()) } ?? errors
    }
}

/// Expects the documented exit status, and shows the output otherwise.
func expect(
    _ status: Int32, _ exit: Exit, _ what: String = "", location: SourceLocation = #_sourceLocation
) {
    let seen = "\(what) gave \(exit.status): \(exit.output.prefix(300)) \(exit.errors.prefix(300))"
    #expect(exit.status == status, "\(seen)", sourceLocation: location)
    #expect(!exit.errors.contains("Fatal error"), "\(seen)", sourceLocation: location)
}
