// SPDX-License-Identifier: Apache-2.0

import LogEngine
import ObjectStores
import ObjectTesting
import SQLStores
import SharedLog
import Testing

/// A log of 250 entries that nobody leads, of which each run has a copy.
let ledTemplate = Task {
    let fixture = try SharedLogFixture()
    try await fixture.engines.create(try fixture.configuration())
    let leader = try await fixture.lead("z")
    _ = try await leader.append(SharedLogFixture.entries(0..<250))
    _ = try await leader.awaitPublished(size: 250)
    await leader.close()
    fixture.engines.database.close()
    return fixture
}

/// A first leader is disturbed at each of its operations in each way; then a second one takes over; then the first one goes on. They read the log
/// when they claim it, or have followed it before.
@Suite("Leaders that are stopped at any point", .serialized)
struct EveryPointTests {
    /// Claim; four heads that are published, the first of which was there; three frames.
    private static let statements = 1 + 4 + 3
    /// Of the candidate: `signed` and `checkpoint`. For each of four heads: tail, `signed`, and `checkpoint`, which is read and written; the first
    /// tail is there, and is compared. For three heads the tail before is removed. One of them fills a bundle and a tile of hashes.
    private static let objectCalls = 2 + 4 * 4 + 1 + 3 + 2

    private static let points =
        (1...statements).map { Point(engine: .link, number: $0) }
        + (1...objectCalls).map { Point(engine: .objects, number: $0) }
        + [Point(engine: .frames, number: 1), Point(engine: .lease, number: 1)]

    private func run(
        _ gates: Gate..., meanwhile: TakeoverRun.Meanwhile, _ looseness: Looseness? = nil,
        memory: TakeoverRun.Memory = .none
    ) async throws -> [String] {
        let fixture = try SharedLogFixture(copyOf: try await ledTemplate.value)
        var run = TakeoverRun(fixture, gates, meanwhile, looseness)
        run.memory = memory
        return try await run.run()
    }

    @Test func thePointsAreAllThatThereAre() async throws {
        let gate = Gate()
        #expect(try await run(gate, meanwhile: .claims) == [])
        // What comes after that is the refused frame.
        #expect(gate.counts[.link] == Self.statements + 1)
        #expect(gate.counts[.objects] == Self.objectCalls)
        #expect(gate.counts[.frames] == 1)
        #expect(gate.counts[.lease, default: 0] >= 1)
        #expect(Self.points.count == 34)
    }

    /// As SIGSTOP for longer than the lease, and SIGCONT; and as operations that fail or of which nobody knows the outcome.
    @Test(arguments: Stop.allCases, TakeoverRun.Meanwhile.allCases)
    func nothingIsLostOrForkedAtAnyPoint(stop: Stop, meanwhile: TakeoverRun.Meanwhile) async throws {
        var reached = 0
        for point in Self.points {
            let gate = Gate(stop, at: point)
            let violations = try await run(gate, meanwhile: meanwhile)
            #expect(violations == [], "\(stop.rawValue), \(point), \(meanwhile.rawValue)")
            if gate.isReached { reached += 1 }
        }
        #expect(reached == 34)
    }

    /// Those that have followed read no frames: there is none that the first one does not know.
    @Test func thePointsOfALeaderThatHasFollowed() async throws {
        let gate = Gate()
        #expect(try await run(gate, meanwhile: .claims, memory: .older) == [])
        #expect(gate.counts[.link] == Self.statements + 1)
        #expect(gate.counts[.objects] == Self.objectCalls)
        #expect(gate.counts[.frames, default: 0] == 0)
    }

    /// What a leader and those after it know of the log before they claim it, and what the last one does before the first one goes on.
    static let ways = [
        (meanwhile: TakeoverRun.Meanwhile.claims, memory: TakeoverRun.Memory.older), (.writes, .followed),
    ]

    @Test(arguments: Stop.allCases, ways)
    func nothingIsLostOrForkedByThoseWhoHaveFollowed(
        stop: Stop, way: (meanwhile: TakeoverRun.Meanwhile, memory: TakeoverRun.Memory)
    ) async throws {
        var reached = 0
        for point in Self.points where point.engine != .frames {
            let gate = Gate(stop, at: point)
            let violations = try await run(gate, meanwhile: way.meanwhile, memory: way.memory)
            #expect(violations == [], "\(stop.rawValue), \(point), \(way)")
            if gate.isReached { reached += 1 }
        }
        #expect(reached == 33)
    }

    /// Where the first of two stopped leaders is.
    enum First: CaseIterable, Sendable {
        /// Its first frame is committed, and it does not know.
        case committing
        /// It has signed that, and its note is on the way to the second memory.
        case remembering

        /// How many operations the next one needs for as much: it compares the tail that is there already.
        var pointsAfter: Int { self == .committing ? 33 : 34 }

        var gate: Gate {
            switch self {
            case .committing: Gate(.afterIt, at: Point(engine: .link, number: 3))
            case .remembering: Gate(.beforeIt, at: Point(engine: .objects, number: 9))
            }
        }
    }

    /// The second one is stopped at each of its points while the first one is, and a third one takes over.
    @Test(arguments: First.allCases, [Stop.beforeIt, .afterIt])
    func nothingIsLostOrForkedWithTwoStoppedLeaders(first: First, stop: Stop) async throws {
        try await stopTwo(first, stop, .none)
    }

    /// What the first one has committed is all that the second one reads.
    @Test(arguments: First.allCases, [Stop.beforeIt, .afterIt])
    func nothingIsLostOrForkedWithTwoStoppedLeadersThatHaveFollowed(first: First, stop: Stop) async throws {
        try await stopTwo(first, stop, .older)
    }

    private func stopTwo(_ first: First, _ stop: Stop, _ memory: TakeoverRun.Memory) async throws {
        let whole = Gate()
        #expect(try await run(first.gate, whole, meanwhile: .writes, memory: memory) == [])
        var reached = 0
        for engine in Point.Engine.allCases {
            // The lease is renewed once, and given back at the end.
            let count = engine == .lease ? 1 : whole.counts[engine, default: 0] - (engine == .link ? 1 : 0)
            for number in stride(from: 1, through: count, by: 1) {
                let (one, two) = (first.gate, Gate(stop, at: Point(engine: engine, number: number)))
                let violations = try await run(one, two, meanwhile: .writes, memory: memory)
                #expect(violations == [], "\(first), \(stop.rawValue), \(engine.rawValue) \(number)")
                // Whether a run lasts until the lease is renewed is for the machine to say.
                if one.isReached, two.isReached, engine != .lease { reached += 1 }
            }
        }
        #expect(reached == first.pointsAfter)
    }

    // MARK: What the same checks find

    /// Looks at the points of one engine.
    private func found(
        _ looseness: Looseness, at engine: Point.Engine, _ meanwhile: TakeoverRun.Meanwhile, _ words: String
    ) async throws -> Bool {
        for stop in Stop.allCases where stop.isPause {
            for point in Self.points where point.engine == engine {
                let violations = try await run(Gate(stop, at: point), meanwhile: meanwhile, looseness)
                if violations.contains(where: { $0.contains(words) }) { return true }
            }
        }
        return false
    }

    @Test func aDatabaseThatDoesNotCompareTheGenerationIsFound() async throws {
        #expect(try await found(.withoutGeneration, at: .link, .claims, "a frame of another generation"))
    }

    @Test func aStoreThatIgnoresConditionsIsFound() async throws {
        #expect(try await found(.withoutVersions, at: .objects, .writes, "signed shrank"))
    }

    @Test func aHeadThatIsSignedBeforeItIsCommittedIsFound() async throws {
        #expect(try await found(.committedLater, at: .link, .writes, "of which"))
    }
}

/// A store of objects fails at each of the first leader's operations in each way.
@Suite("Objects that misbehave")
struct MisbehavingObjectsTests {
    /// How an operation goes wrong.
    enum Kind: String, CaseIterable, Sendable {
        case away
        case refused
        case answerLost
        /// It takes effect after the next operation.
        case late
        /// It takes effect when the first leader is gone.
        case lateBeforeTakeover
        /// It takes effect when the second leader has written.
        case lateAfterTakeover
    }

    private func run(
        _ kind: Kind, at number: Int, _ meanwhile: TakeoverRun.Meanwhile
    ) async throws -> (violations: [String], operations: Int) {
        let (count, isOpen) = (Counter(), TimedDatabase.Latch())
        let objects = MemoryObjects { operation in
            guard !Chronicle.isLooking, isOpen.isSet else { return nil }
            return count.count() == number ? Self.fault(kind, operation) : nil
        }
        let fixture = try SharedLogFixture(copyOf: try await ledTemplate.value)
        for path in try await fixture.objects.list("") {
            if let object = try await fixture.objects.get(path) {
                _ = try await objects.put(object.bytes, at: path, .ifAbsent)
            }
        }
        let observed = LateObjects(base: objects, isPrompt: kind == .late)
        var run = TakeoverRun(fixture, [Gate()], meanwhile, objects: observed)
        run.onBegin = { isOpen.set(true) }
        run.beforeTakeover = { chronicle in
            isOpen.set(false)
            if kind == .late || kind == .lateBeforeTakeover { await observed.deliver(to: chronicle) }
        }
        run.afterTakeover = { await observed.deliver(to: $0) }
        return (try await run.run(), count.value)
    }

    private static func fault(_ kind: Kind, _ operation: MemoryObjects.Operation) -> MemoryObjects.Fault {
        let isRead = if case .get = operation { true } else { false }
        let lost: ObjectFault = isRead ? .unavailable(.deadline) : .outcomeUnknown(.deadline)
        return switch kind {
        case .away: .before(.unavailable(.status(503, code: "SlowDown")))
        case .refused: .before(.refused(.status(403, code: "AccessDenied")))
        case .answerLost: .after(lost)
        case .late, .lateBeforeTakeover, .lateAfterTakeover: isRead ? .before(lost) : .late(lost)
        }
    }

    @Test(arguments: Kind.allCases, TakeoverRun.Meanwhile.allCases)
    func nothingIsLostOrForkedAtAnyOperation(kind: Kind, meanwhile: TakeoverRun.Meanwhile) async throws {
        let (violations, operations) = try await run(kind, at: 0, meanwhile)
        #expect(violations == [])
        #expect(operations == 24)
        for number in stride(from: 1, through: operations, by: 1) {
            let (violations, count) = try await run(kind, at: number, meanwhile)
            #expect(violations == [], "\(kind.rawValue), operation \(number), \(meanwhile.rawValue)")
            #expect(count >= number)
        }
    }
}

/// Objects of which late writes arrive, each with a look at what changed.
private struct LateObjects: ObjectStore {
    let base: MemoryObjects
    /// Whether what is late arrives after the next operation.
    let isPrompt: Bool

    func deliver(to chronicle: Chronicle) async {
        base.deliver()
        await Chronicle.$isLooking.withValue(true) {
            for path in ["signed", "checkpoint"] {
                if let object = try? await base.get(path) { chronicle.saw(object.bytes, at: path) }
            }
        }
    }

    func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
        defer { if isPrompt { base.deliver() } }
        return try await base.get(path)
    }

    func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        let isLate = isPrompt
        let outcome = try await base.put(bytes, at: path, condition)
        if isLate { base.deliver() }
        return outcome
    }

    func remove(_ path: String) async throws(ObjectFault) { try await base.remove(path) }

    func list(_ prefix: String) async throws(ObjectFault) -> [String] { try await base.list(prefix) }
}
