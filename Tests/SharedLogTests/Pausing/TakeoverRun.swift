// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import SharedLog
import TransparencyLog

/// Leaders that write three frames and are disturbed, one after the other, then one that takes over undisturbed, and then those before, who go
/// on: with a follower beside them, and everything in a chronicle.
struct TakeoverRun {
    /// What the last leader does before the others go on.
    enum Meanwhile: String, CaseIterable, Sendable {
        case claims
        case writes
    }

    /// What leaders know of the log before they claim it.
    enum Memory: Sendable {
        /// Nothing: they read all of it.
        case none
        /// What was published before the first one led.
        case older
        /// What was published before each of them claimed.
        case followed
    }

    let fixture: SharedLogFixture
    /// Of the leaders that are disturbed, in their order.
    let gates: [Gate]
    let meanwhile: Meanwhile
    let looseness: Looseness?
    var memory = Memory.none
    var onBegin: @Sendable () -> Void = {}
    /// What happens while leaders are away, before and after the take-over.
    var beforeTakeover: @Sendable (Chronicle) async -> Void = { _ in }
    var afterTakeover: @Sendable (Chronicle) async -> Void = { _ in }
    let chronicle: Chronicle
    private let objects: any ObjectStore
    private let new: Leader

    /// - Parameters:
    ///   - fixture: a log that nobody leads; of its own.
    ///   - objects: instead of those of the fixture.
    init(
        _ fixture: SharedLogFixture, _ gates: [Gate], _ meanwhile: Meanwhile, _ looseness: Looseness? = nil,
        objects: (any ObjectStore)? = nil
    ) {
        (self.fixture, self.gates, self.meanwhile, self.looseness) = (fixture, gates, meanwhile, looseness)
        chronicle = Chronicle(fixture.engines.policy)
        self.objects = objects ?? fixture.objects
        new = Leader("the last", chronicle)
    }

    /// Runs it.
    ///
    /// - Returns: what did not hold.
    func run() async throws -> [String] {
        try await begin()
        let follower = try await LogFollower.open(plain, LogFollowing(), clock: { .zero })
        let lastGate = Gate()
        var memories: [LogFollower?] = []
        for gate in gates + [lastGate] { memories.append(try await remembered(gate)) }
        onBegin()
        var disturbed: [(leader: Leader, gate: Gate, work: Task<Void, any Error>)] = []
        for (number, gate) in gates.enumerated() {
            let leader = Leader("leader \(number)", chronicle)
            await freshen(memories[number])
            disturbed.append((leader, gate, begin(leader, gate, memories[number])))
            await gate.settled()
            await step(follower)
            await beforeTakeover(chronicle)
            try fixture.execute("UPDATE lease SET holder = 'nobody', expires = 0")
        }
        await freshen(memories[gates.count])
        await takeOver(lastGate, memories[gates.count])
        await step(follower)
        await afterTakeover(chronicle)
        for (leader, gate, work) in disturbed {
            gate.open()
            try await work.value
            await end(leader)
        }
        if await !new.write(frames: 2..<4) { chronicle.violate("the last leader was hindered: \(describe(new))") }
        await step(follower)
        await finish(disturbed.map(\.leader))
        return chronicle.violations
    }

    private var plain: SharedLogEngines {
        SharedLogEngines(
            database: fixture.engines.database, objects: objects, policy: fixture.engines.policy,
            origin: fixture.engines.origin)
    }

    private func database(_ base: any SQLDatabase) -> any SQLDatabase {
        let database = ChronicledDatabase(base: base, chronicle: chronicle)
        return looseness?.database(database) ?? database
    }

    private func engines(_ gate: Gate) -> SharedLogEngines {
        let chronicled = ChronicledObjects(base: objects, chronicle: chronicle)
        return SharedLogEngines(
            database: GatedDatabase(
                base: database(fixture.engines.database), gate: gate, reading: .frames, writing: .lease),
            objects: GatedObjects(base: looseness?.objects(chronicled) ?? chronicled, gate: gate),
            policy: fixture.engines.policy, origin: fixture.engines.origin)
    }

    private func link(_ gate: Gate) throws -> any SQLDatabase {
        GatedDatabase(base: database(try fixture.link()), gate: gate, reading: .link, writing: .link)
    }

    private func remembered(_ gate: Gate) async throws -> LogFollower? {
        guard memory != .none else { return nil }
        return try await Gate.$isWideOpen.withValue(true) {
            try await LogFollower.open(engines(gate), LogFollowing(), clock: { .zero })
        }
    }

    private func freshen(_ follower: LogFollower?) async {
        guard memory == .followed, let follower else { return }
        await Gate.$isWideOpen.withValue(true) { await step(follower) }
    }

    private func begin(_ leader: Leader, _ gate: Gate, _ follower: LogFollower?) -> Task<Void, any Error> {
        Task {
            await leader.lead(engines(gate), over: try link(gate), try fixture.configuration(), from: follower)
            _ = await leader.write(frames: 0..<3)
            gate.end()
        }
    }

    private func begin() async throws {
        if let row = try await fixture.engines.database.read({ try $0.chronicled() }) { chronicle.saw(row) }
        for path in try await objects.list("") {
            if let object = try await objects.get(path) { chronicle.saw(object.bytes, at: path) }
        }
    }

    private func takeOver(_ gate: Gate, _ follower: LogFollower?) async {
        do {
            await new.lead(engines(gate), over: try link(gate), try fixture.configuration(), from: follower)
        } catch { return chronicle.violate("\(error)") }
        if meanwhile == .writes { _ = await new.write(frames: 0..<2) }
        if new.log == nil || new.failure != nil { chronicle.violate("nobody took over: \(describe(new))") }
    }

    /// Whatever a leader before still did, now it does no more.
    private func end(_ old: Leader) async {
        if let log = old.log, old.failure == nil {
            if let range = try? await log.append([Array("too late".utf8)]) {
                return chronicle.violate("\(old.name) has appended \(range)")
            }
            await old.failed()
        }
        if !old.hasEndedWell { chronicle.violate("\(old.name) ended by \(describe(old))") }
    }

    private func describe(_ leader: Leader) -> String {
        leader.end.map { "\($0)" } ?? leader.failure.map { "\($0)" } ?? "nothing"
    }

    private func step(_ follower: LogFollower) async {
        do { try await follower.step() } catch { chronicle.violate("the follower: \(error)") }
        chronicle.saw(follower.log.published, by: "a follower")
    }

    /// Compares everything with the log as somebody finds it who comes later.
    private func finish(_ old: [Leader]) async {
        for leader in old + [new] { await leader.log?.close() }
        do {
            let later = try await LogFollower.open(plain, LogFollowing(), clock: { .zero }).log
            for head in chronicle.heads where try later.root(size: head.size) != head.root {
                chronicle.violate("another root of \(head.size) entries than what was seen")
            }
            for (index, entry) in chronicle.acknowledged where try await later.entry(at: index) != entry {
                chronicle.violate("entry \(index) was acknowledged, and is another one")
            }
            let placed = ChronicledObjects(base: objects, chronicle: chronicle)
            await placed.demandPlaced(later.published.head)
        } catch { chronicle.violate("the log is not whole: \(error)") }
    }
}
