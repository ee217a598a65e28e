// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A running `signet call`, read line by line.
final class CallProcess {
    private let process: UncheckedBox<Process>
    private let owner: String
    /// The call's name.
    private(set) var name = ""
    private let keyboard = Pipe()
    private var lines: AsyncStream<String>.Iterator
    private let errors: URL
    private let folder: URL

    static func start(
        _ town: Town, _ home: String, with others: [String], _ options: String..., typing file: URL? = nil
    ) async throws -> CallProcess {
        try CallProcess(["start"], town, home, others, options, typing: file)
    }

    /// The first starts, the others join one after the other.
    static func startAll(_ names: [String], _ town: Town) async throws -> [CallProcess] {
        var (calls, name): ([CallProcess], String?) = ([], nil)
        for home in names {
            let others = names.filter { $0 != home }
            let verb = name.map { ["join", $0] } ?? ["start"]
            let call = try CallProcess(verb, town, home, others, ["--outage-for-tests", "6"])
            if name == nil { name = try await call.first { $0["call"] as? String } }
            call.name = name ?? ""
            calls.append(call)
        }
        return calls
    }

    /// Starts `signet call wait`, and returns when it is waiting.
    static func wait(_ town: Town, _ home: String, _ options: String...) async throws -> CallProcess {
        let process = try CallProcess(["wait"] + options, town, home, [])
        _ = try await process.first { $0["waiting"] as? Bool }
        return process
    }

    /// Rings people.
    static func ring(_ town: Town, _ home: String, _ others: [String], for seconds: Int = 45) throws -> CallProcess {
        let people = others.map { "\($0)@example.org" }
        return try CallProcess(["ring"] + people + ["--ring-time", "\(seconds)"], town, home, [])
    }

    static func join(
        _ name: String, _ town: Town, _ home: String, with others: [String], _ faults: String...
    ) async throws -> CallProcess {
        try CallProcess(["join", name], town, home, others, faults)
    }

    /// - Parameter file: the whole standard input; nil for a keyboard.
    private init(
        _ verb: [String], _ town: Town, _ home: String, _ others: [String], _ faults: [String] = [],
        typing file: URL? = nil
    ) throws {
        owner = home
        folder = town.folder
        let people = others.flatMap { ["--with", "\($0)@example.org"] }
        let process = Process(
            Program.signet.file, ["call"] + verb + people + faults + ["--rotate", "2", "--json", "--home", home],
            in: town.folder, environment: [:])
        let pipe = Pipe()
        process.standardOutput = pipe
        if let file {
            process.standardInput = try FileHandle(forReadingFrom: file)
        } else {
            process.standardInput = keyboard
        }
        errors = town.folder.appending(component: ".\(UUID().uuidString).err")
        try Data().write(to: errors)
        let complaints = try FileHandle(forWritingTo: errors)
        // Foundation would keep the handle for the length of the test run.
        defer { try? complaints.close() }
        process.standardError = complaints
        try process.run()
        self.process = UncheckedBox(process)
        lines = Self.lines(of: UncheckedBox(pipe.fileHandleForReading)).makeAsyncIterator()
    }

    deinit { try? keyboard.fileHandleForWriting.close() }

    static func lines(of handle: UncheckedBox<FileHandle>) -> AsyncStream<String> {
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

    /// The next line of which `read` makes a value.
    func first<Value: Sendable>(_ read: ([String: Any]) throws -> Value?) async throws -> Value? {
        while let line = await next() {
            if let value = try read(try Exit.object(line)) { return value }
        }
        let said = try String(contentsOf: errors, encoding: .utf8)
        Issue.record("\(owner)'s call ended: \(said)")
        return nil
    }

    private func next() async -> String? {
        var iterator = lines
        let line = await iterator.next()
        lines = iterator
        if let line { ShownKeys.expectNone(Exit(status: 0, output: line, errors: ""), of: ["call"], in: folder) }
        return line
    }

    /// Waits until frames of all these people, except its own, have arrived, and it has sent under that many
    /// generations.
    func hears(_ people: [String], generations: Int) async throws {
        _ = try await first { status in
            let heard = status.participants.filter { $0["frames"] as? Int ?? 0 > 50 }
            let names = heard.compactMap { $0["participant"] as? String }
            let hasAll = people.filter { $0 != owner }.allSatisfy { names.contains("\($0)@example.org/1") }
            return hasAll && status["generations"] as? Int ?? 0 >= generations ? true : nil
        }
    }

    /// Waits until it has sent under that many more generations.
    func rotates(times: Int) async throws {
        var from: Int?
        _ = try await first { status in
            guard let now = status["generations"] as? Int else { return nil as Bool? }
            from = from ?? now
            return now >= (from ?? now) + times ? true : nil
        }
    }

    /// Waits until no more frames have arrived than a second before.
    func hearsNothingMore() async throws {
        var before = -1
        _ = try await first { status in
            let frames = status["frames"] as? Int ?? 0
            defer { before = frames }
            return frames == before ? true : nil
        }
    }

    /// Waits until that many frames of each of these people, except its own, are known to be lost.
    func misses(_ people: [String], atLeast count: Int) async throws {
        let others = people.filter { $0 != owner }.map { "\($0)@example.org/1" }
        _ = try await first { status in
            let holes = status.participants.filter { $0["lost"] as? Int ?? 0 >= count }
            let names = Set(holes.compactMap { $0["participant"] as? String })
            return names.isSuperset(of: others) ? true : nil
        }
    }

    /// Waits until all members' frames arrive under the epoch under which it sends itself.
    ///
    /// - Returns: whether it is the host.
    func usesOneEpoch(generations: Int) async throws -> Bool {
        let isHost = try await first { $0.usesOneEpoch(generations: generations) ? $0["isHost"] as? Bool : nil }
        return try #require(isHost as Bool?)
    }

    /// Waits until all are in one call again, and a report counts no more undecryptable frames than the one before.
    ///
    /// - Returns: how many they are.
    func isHealed(generations: Int) async throws -> Int {
        var before = -1
        let lost = try await first { status -> Int? in
            let lost = status["undecryptable"] as? Int
            defer { before = lost ?? -1 }
            return status.usesOneEpoch(generations: generations) && lost == before ? lost : nil
        }
        return try #require(lost as Int?)
    }

    func type(_ line: String) { keyboard.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    func loseTheNetwork() { process.value.kill(SIGUSR1) }

    /// Waits for this report of a ring.
    @discardableResult func rings(_ what: String, by caller: String = "alice") async throws -> String? {
        try await first { line in
            guard line["ring"] as? String == what else { return nil }
            #expect(line["caller"] as? String == "\(caller)@example.org")
            return line["call"] as? String ?? ""
        }
    }

    /// Waits for the outcome of ringing a person.
    func rung(_ who: String, _ outcome: String) async throws {
        _ = try await first { line in
            guard line["rung"] as? String == "\(who)@example.org" else { return nil as Bool? }
            #expect(line["outcome"] as? String == outcome)
            return true
        }
    }

    /// Waits until the process has ended.
    func exitStatus() async -> Int32 {
        while await next() != nil {}
        // A cancelled task reads nothing more.
        if Task.isCancelled { kill() }
        process.value.waitUntilExit()
        return process.value.terminationStatus
    }

    /// The last line, after the call was told to leave.
    func end() async throws -> [String: Any] {
        var last = ""
        while let line = await next() { last = line }
        let said = try String(contentsOf: errors, encoding: .utf8)
        try #require(!last.isEmpty, "\(owner)'s call said nothing more: \(said)")
        let end = try Exit.object(last)
        #expect(end["isOver"] as? Bool == true, "\(owner)'s call has not ended: \(last) \(said)")
        return end
    }

    func leave() async throws -> [String: Any] {
        process.value.kill(SIGINT)
        return try await end()
    }

    func interrupt() { process.value.kill(SIGINT) }

    func terminate() { process.value.kill(SIGTERM) }

    func kill() { process.value.kill() }
}

extension Town {
    func serving(options: [String], _ body: () async throws -> Void) async throws {
        try await serving(.signetd, options) { _ in try await body() }
    }

    /// Runs a lying server over the data directory, and points every home to it.
    func lying(_ arguments: [String], _ body: () async throws -> Void) async throws {
        let server = try await RunningServer.start(
            .lyingServer, arguments + ["--data", "server", "--port", "0"], in: folder)
        do {
            try point(to: server.port)
            try await body()
        } catch {
            try await server.stop(SIGKILL)
            throw error
        }
        try await server.stop()
    }

    /// A third person, whom the two others have added.
    func befriendCarol() async throws {
        try prepareHome("carol", "carol@example.org", withIdentity: true)
        let steps = [
            ["account", "create", "carol@example.org", "--directory", "server/directory.signet", "--home", "carol"],
            ["people", "add", "carol@example.org", "--home", "alice"],
            ["people", "accept", "alice@example.org", "--home", "carol"],
            ["people", "add", "carol@example.org", "--home", "bob"],
            ["people", "accept", "bob@example.org", "--home", "carol"],
        ]
        for step in steps {
            let exit = try await signet(step)
            try #require(exit.status == 0, "\(step): \(exit.errors)")
        }
    }
}

extension [String: Any] {
    func usesOneEpoch(generations: Int) -> Bool {
        let heard = participants.compactMap { $0["epoch"] as? String }
        let isOneEpoch = Set(heard + [self["epoch"] as? String ?? ""]).count == 1
        return isOneEpoch && self["generations"] as? Int ?? 0 >= generations
    }

    var participants: [[String: Any]] { self["participants"] as? [[String: Any]] ?? [] }
    var lost: Int { participants.reduce(0) { $0 + ($1["lost"] as? Int ?? 0) } }
}
