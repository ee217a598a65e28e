// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A running `signet meet`, read line by line, whose owner can type.
final class MeetProcess {
    private let process: UncheckedBox<Process>
    private let owner: String
    private let keyboard = Pipe()
    private let complaints: URL
    private let end: ProcessEnd
    private var lines: AsyncStream<String>.Iterator
    private var last = ""

    /// Shows a code at loopback.
    ///
    /// - Returns: the process, and the link.
    static func host(_ town: Town, _ home: String, _ options: String...) async throws -> (MeetProcess, String) {
        try await host(town, home, options: options)
    }

    /// The same.
    static func host(_ town: Town, _ home: String, options: [String]) async throws -> (MeetProcess, String) {
        let process = try MeetProcess(["--address", "127.0.0.1"] + options, town, home)
        let link = try await process.next("link")
        return (process, link)
    }

    /// Joins by a link.
    static func guest(
        _ town: Town, _ home: String, _ link: String, options: [String] = []
    ) throws -> MeetProcess {
        try MeetProcess([link] + options, town, home)
    }

    /// Joins by a picture of the code.
    static func scanning(_ town: Town, _ home: String, _ picture: String) throws -> MeetProcess {
        try MeetProcess(["--scan", picture], town, home)
    }

    private init(_ arguments: [String], _ town: Town, _ home: String) throws {
        owner = home
        let process = Process(
            Program.signet.file, ["meet"] + arguments + ["--json", "--home", home], in: town.folder, environment: [:])
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = keyboard
        complaints = town.folder.appending(component: ".\(UUID().uuidString).err")
        try Data().write(to: complaints)
        let errors = try FileHandle(forWritingTo: complaints)
        // Foundation would keep the handle for the length of the test run.
        defer { try? errors.close() }
        process.standardError = errors
        end = ProcessEnd(of: process)
        lines = Self.lines(of: UncheckedBox(pipe.fileHandleForReading)).makeAsyncIterator()
        try process.run()
        self.process = UncheckedBox(process)
    }

    deinit {
        try? keyboard.fileHandleForWriting.close()
        process.value.kill()
    }

    private static func lines(of handle: UncheckedBox<FileHandle>) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var rest = Data()
            while case let more = handle.value.availableData, !more.isEmpty {
                rest += more
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            try? handle.value.close()
            continuation.finish()
        }
        return stream
    }

    /// The next line of output as an object; nil at the end.
    private func nextObject() async throws -> [String: Any]? {
        var iterator = lines
        let line = await iterator.next()
        lines = iterator
        guard let line else { return nil }
        last = line
        return try Exit.object(line)
    }

    /// The member of the next line that has it.
    private func next(_ name: String) async throws -> String {
        while let object = try await nextObject() {
            if let text = object[name] as? String { return text }
        }
        let said = try String(contentsOf: complaints, encoding: .utf8)
        return try #require(nil, "\(owner)'s meeting ended: \(said)")
    }

    /// The words on this screen.
    func words() async throws -> String { try await next("words") }

    func type(_ line: String) { keyboard.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    /// The owner leaves the keyboard.
    func leave() { try? keyboard.fileHandleForWriting.close() }

    /// Ends the process at once, as a power cut does.
    func kill() async {
        process.value.kill()
        await end.wait()
    }

    /// How the process ended; the output is its last line.
    func exit() async throws -> Exit {
        let watchdog = DispatchWorkItem { [process] in process.value.kill() }
        DispatchQueue.global().asyncAfter(deadline: .now() + Program.deadline, execute: watchdog)
        while try await nextObject() != nil {}
        await end.wait()
        watchdog.cancel()
        let errors = try String(contentsOf: complaints, encoding: .utf8)
        return Exit(status: process.value.status, output: last, errors: errors)
    }
}

extension Town {
    /// Two people meet, and each types what is on the other's screen.
    ///
    /// - Returns: how both processes ended.
    @discardableResult
    func meet(_ first: String, _ second: String) async throws -> (host: Exit, guest: Exit) {
        let (host, link) = try await MeetProcess.host(self, first)
        let guest = try MeetProcess.guest(self, second, link)
        let (hostWords, guestWords) = (try await host.words(), try await guest.words())
        host.type(guestWords)
        guest.type(hostWords)
        return (try await host.exit(), try await guest.exit())
    }

    /// How a home's list shows each person, without asking the directory.
    func list(_ home: String) async throws -> String {
        try await signet(home, "people", "list", "--offline").output
    }
}
