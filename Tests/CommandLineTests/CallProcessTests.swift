import Foundation
import Testing

/// Three people in a call, each a process of their own, over a relay that loses one frame in twenty and delays and reorders
/// the rest.
struct CallProcessTests {
    private static let badNetwork = [
        "--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0",
        "--bad-network-for-tests", "0.05,20,80,7",
    ]

    /// The host makes fresh keys every two seconds and is killed; its successor does the same; then somebody leaves.
    @Test(.timeLimit(.minutes(3))) func noKeyIsMissedAcrossRotations_aKilledHost_andALeave() async throws {
        try await Town.with { town in
            try await town.serving(options: Self.badNetwork) {
                try await town.befriendCarol()
                let alice = try await CallProcess.start(town, "alice", with: ["bob", "carol"])
                let name = try #require(try await alice.first { $0["call"] as? String })
                let bob = try await CallProcess.join(name, town, "bob", with: ["alice", "carol"])
                // Whoever comes first takes over first.
                try await alice.hears(["bob"], generations: 1)
                let carol = try await CallProcess.join(name, town, "carol", with: ["alice", "bob"])
                defer { for call in [alice, bob, carol] { call.kill() } }
                for call in [alice, bob, carol] { try await call.hears(["alice", "bob", "carol"], generations: 3) }
                alice.kill()
                let generations = try await bob.first { status in
                    status["isHost"] as? Bool == true ? status["generations"] as? Int : nil
                }
                for call in [bob, carol] {
                    try await call.hears(["bob", "carol"], generations: (generations ?? 0) + 2)
                }
                expect(0, try await town.signet("carol", "call", "leave"))
                let ends = [try await carol.end(), try await bob.leave()]
                for end in ends {
                    #expect(end["undecryptable"] as? Int == 0, "\(end)")
                    let frames = try #require(end["frames"] as? Int)
                    #expect(frames > 300, "\(end)")
                    // The network was bad: frames were lost that no key could have opened.
                    #expect(end.lost * 50 > frames, "\(end)")
                }
            }
        }
    }

    /// One of two, or of three, loses all signals and frames for six seconds. Nobody does anything about it, and it is one call.
    @Test(.timeLimit(.minutes(3)), arguments: [["alice", "bob"], ["alice", "bob", "carol"]])
    func sixSecondsWithoutANetworkAreLivedThrough(_ names: [String]) async throws {
        try await Town.with { town in
            try await town.serving(options: Self.goodNetwork) {
                if names.contains("carol") { try await town.befriendCarol() }
                let calls = try await CallProcess.everybody(names, town)
                defer { for call in calls { call.kill() } }
                for call in calls { try await call.hears(names, generations: 2) }
                calls[1].loseTheNetwork()
                // The gap in the numbers of frames is seen when they come again: it is over then.
                try await calls[1].misses(names, atLeast: 200)
                for call in calls { try await call.misses(["bob"], atLeast: 200) }
                let generations = try await calls[0].first { $0["generations"] as? Int } ?? 0
                for call in calls {
                    try await call.isOfOneMind(isHost: call === calls[0], generations: generations + 1)
                }
                if names.count == 3 { try await Self.removeAndReadmit(calls[2], by: calls[0], town) }
                for call in calls[..<2].reversed() {
                    let end = try await call.leave()
                    #expect(end["undecryptable"] as? Int == 0, "\(end)")
                }
            }
        }
    }

    /// The third is put out by a typed line and does not come in again, until another line lets it.
    private static func removeAndReadmit(_ carol: CallProcess, by alice: CallProcess, _ town: Town) async throws {
        alice.type("remove carol@example.org")
        _ = try await carol.end()
        let people = ["--with", "alice@example.org", "--with", "bob@example.org", "--home", "carol"]
        expect(1, try await town.signet(["call", "join", alice.name, "--for", "5"] + people))
        alice.type("readmit carol@example.org/1")
        let back = try await CallProcess.join(alice.name, town, "carol", with: ["alice", "bob"])
        defer { back.kill() }
        try await back.hears(["alice", "bob", "carol"], generations: 1)
        #expect(try await back.leave()["undecryptable"] as? Int == 0)
    }

    private static let goodNetwork = [
        "--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0",
    ]

    @Test func withoutACallThereIsNothingToLeave() async throws {
        try await Town.with { town in expect(64, try await town.signet("alice", "call", "leave")) }
    }

    @Test func nobodyIsCalledWhomOneHasNotAdded() async throws {
        try await Town.withServer { town, _ in
            let exit = try await town.signet("alice", "call", "start", "--with", "nobody@example.org", "--json")
            expect(4, exit)
        }
    }

    @Test func whoIsNotInvitedDoesNotGetIn() async throws {
        try await Town.withServer { town, _ in
            let name = String(repeating: "0", count: 32)
            let exit = try await town.signet("bob", "call", "join", name, "--with", "alice@example.org", "--for", "5")
            expect(1, exit)
        }
    }
}

extension Town {
    fileprivate func serving(options: [String], _ body: () async throws -> Void) async throws {
        try await serving(.signetd, options) { _ in try await body() }
    }

    /// A third person, whom the two others have added.
    fileprivate func befriendCarol() async throws {
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
    fileprivate var participants: [[String: Any]] { self["participants"] as? [[String: Any]] ?? [] }
    fileprivate var lost: Int { participants.reduce(0) { $0 + ($1["lost"] as? Int ?? 0) } }
}

/// A running `signet call`, read line by line.
private final class CallProcess {
    private let process: UncheckedBox<Process>
    private let owner: String
    /// The call's.
    private(set) var name = ""
    private let keyboard = Pipe()
    private var lines: AsyncStream<String>.Iterator
    private let errors: URL
    private let folder: URL

    static func start(_ town: Town, _ home: String, with others: [String]) async throws -> CallProcess {
        try CallProcess(["start"], town, home, others)
    }

    /// The first starts, the others join one after the other.
    static func everybody(_ names: [String], _ town: Town) async throws -> [CallProcess] {
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

    static func join(
        _ name: String, _ town: Town, _ home: String, with others: [String]
    ) async throws -> CallProcess {
        try CallProcess(["join", name], town, home, others)
    }

    private init(_ verb: [String], _ town: Town, _ home: String, _ others: [String], _ faults: [String] = []) throws {
        owner = home
        folder = town.folder
        let people = others.flatMap { ["--with", "\($0)@example.org"] }
        let process = Process(
            Program.signet.file, ["call"] + verb + people + faults + ["--rotate", "2", "--json", "--home", home],
            in: town.folder, environment: [:])
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = keyboard
        errors = town.folder.appending(component: ".\(UUID().uuidString).err")
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        self.process = UncheckedBox(process)
        lines = Self.lines(of: UncheckedBox(pipe.fileHandleForReading)).makeAsyncIterator()
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
            continuation.finish()
        }
        return stream
    }

    /// The first line, from now on, of which `read` makes something.
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

    /// Waits until frames of all of these but its own arrive, and it has sent under so many generations.
    func hears(_ people: [String], generations: Int) async throws {
        _ = try await first { status in
            let heard = status.participants.filter { $0["frames"] as? Int ?? 0 > 50 }
            let names = heard.compactMap { $0["participant"] as? String }
            let hasAll = people.filter { $0 != owner }.allSatisfy { names.contains("\($0)@example.org/1") }
            return hasAll && status["generations"] as? Int ?? 0 >= generations ? true : nil
        }
    }

    /// Waits until so many frames of each of these, but of its own, are known to be lost.
    func misses(_ people: [String], atLeast count: Int) async throws {
        let others = people.filter { $0 != owner }.map { "\($0)@example.org/1" }
        _ = try await first { status in
            let holes = status.participants.filter { $0["lost"] as? Int ?? 0 >= count }
            let names = Set(holes.compactMap { $0["participant"] as? String })
            return names.isSuperset(of: others) ? true : nil
        }
    }

    /// Waits until everybody is heard under the epoch that it sends under itself, as a host or as none.
    func isOfOneMind(isHost: Bool, generations: Int) async throws {
        _ = try await first { status -> Bool? in
            let heard = status.participants.compactMap { $0["epoch"] as? String }
            let isOneEpoch = Set(heard + [status["epoch"] as? String ?? ""]).count == 1
            let isFurther = status["generations"] as? Int ?? 0 >= generations
            return isOneEpoch && isFurther && status["isHost"] as? Bool == isHost ? true : nil
        }
    }

    func type(_ line: String) { keyboard.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    func loseTheNetwork() { process.value.kill(SIGUSR1) }

    /// The last line, after the call was told to leave.
    func end() async throws -> [String: Any] {
        var last = ""
        while let line = await next() { last = line }
        let end = try Exit.object(last)
        #expect(end["isOver"] as? Bool == true)
        return end
    }

    func leave() async throws -> [String: Any] {
        process.value.kill(SIGINT)
        return try await end()
    }

    func kill() { process.value.kill() }
}
