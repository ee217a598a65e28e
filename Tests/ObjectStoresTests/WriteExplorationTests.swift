// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import ObjectTesting
import Testing

/// Two writers of one path, of whom each is after the same version: every order of their requests, in which each request or answer may be
/// lost, and each request may arrive late, at any moment.
private struct World: Hashable {
    static let path = "signed"
    var store = PaperObjects()
    var writers: [ConditionalWrite]
    /// Whose requests are under way.
    var late: [Int] = []
    /// The contents that the path has had, in order.
    var history: [[UInt8]] = []
    /// Whose request may still arrive, or has been lost without an answer.
    var unanswered: Set<Int> = []

    init(after first: [UInt8]?, writerCount: Int, attempts: Int) {
        var condition = PutCondition.ifAbsent
        writers = []
        if let first, case .written(let tag) = store.put(first, at: Self.path, .ifAbsent) {
            condition = .ifVersion(tag)
            history = [first]
        }
        writers = (0..<writerCount).map { ConditionalWrite([UInt8($0)], condition, attempts: attempts) }
    }

    private mutating func arrive(_ writer: Int) -> PutOutcome {
        let outcome = store.put(writers[writer].bytes, at: Self.path, writers[writer].condition)
        if case .written = outcome { history.append(writers[writer].bytes) }
        return outcome
    }

    /// All worlds that can be next.
    var next: [World] {
        let lost = ObjectFault.outcomeUnknown(.connection)
        let away = ObjectFault.unavailable(.connection)
        var worlds: [World] = []
        func add(_ change: (inout World) -> Void) {
            var world = self
            change(&world)
            worlds.append(world)
        }
        for number in writers.indices {
            switch writers[number].step {
            case .put:
                add { $0.writers[number].putAnswered($0.arrive(number)) }
                add { $0.writers[number].putFailed(away) }
                for arrives in [false, true] {
                    add {
                        if arrives { _ = $0.arrive(number) }
                        $0.unanswered.insert(number)
                        $0.writers[number].putFailed(lost)
                    }
                }
                add {
                    $0.late.append(number)
                    $0.unanswered.insert(number)
                    $0.writers[number].putFailed(lost)
                }
            case .read:
                add { $0.writers[number].readAnswered($0.store.get(Self.path)) }
                add { $0.writers[number].readFailed(away) }
            case .finished: break
            }
        }
        for index in late.indices {
            add { world in
                _ = world.arrive(world.late.remove(at: index))
            }
        }
        return worlds
    }

    private var ends: [(Int, ConditionalWrite.End)] {
        writers.indices.compactMap { number in
            if case .finished(let end) = writers[number].step { (number, end) } else { nil }
        }
    }

    /// What does not hold here.
    var broken: String? {
        let winners = ends.filter { $0.1.isSuccess }.map(\.0)
        if winners.count > 1 { return "two winners after one tag" }
        if winners.contains(where: { !history.contains(writers[$0].bytes) }) { return "acknowledged, and never there" }
        for (number, end) in ends {
            let wasThere = history.contains(writers[number].bytes)
            switch end {
            case .written, .same: break
            case .other(let object):
                if object?.bytes == writers[number].bytes { return "told that its own bytes are another's" }
                if wasThere && !unanswered.contains(number) { return "told of another's, and took effect" }
            case .failed(.outcomeUnknown): break
            case .failed: if wasThere { return "told that nothing was done, and it was" }
            }
        }
        if Set(history).count < history.count { return "the same bytes took effect twice" }
        return nil
    }
}

extension ConditionalWrite.End {
    fileprivate var isSuccess: Bool {
        switch self {
        case .written, .same: true
        case .other, .failed: false
        }
    }
}

struct WriteExplorationTests {
    /// Every world that can be reached.
    private func explore(_ first: World) -> (worlds: Set<World>, broken: Set<String>) {
        var (seen, open): (Set<World>, [World]) = ([first], [first])
        var broken: Set<String> = []
        while let world = open.popLast() {
            if let words = world.broken { broken.insert(words) }
            for next in world.next where seen.insert(next).inserted { open.append(next) }
        }
        return (seen, broken)
    }

    @Test(arguments: [[UInt8]?.none, [9]])
    func noOrderOfLossesMakesTwoWinnersOrLosesAnAcknowledgedWrite(first: [UInt8]?) {
        let (worlds, broken) = explore(World(after: first, writerCount: 2, attempts: 3))
        #expect(broken.isEmpty)
        // The exploration is one: winners, losers and unknown ends are all among its worlds, and late requests that take effect.
        #expect(worlds.count > 1000)
        func reaches(_ holds: (World) -> Bool) -> Bool { worlds.contains(where: holds) }
        #expect(reaches { $0.writers.contains { if case .finished(.same) = $0.step { true } else { false } } })
        #expect(reaches { $0.writers.contains { if case .finished(.other) = $0.step { true } else { false } } })
        #expect(
            reaches { world in
                world.late.isEmpty && world.history.last == [1] && world.unanswered.contains(1)
                    && world.writers.allSatisfy { if case .finished(.failed) = $0.step { true } else { false } }
            })
    }

    @Test func threeWritersAreNoDifferent() {
        let (worlds, broken) = explore(World(after: [9], writerCount: 3, attempts: 2))
        #expect(broken.isEmpty)
        #expect(worlds.count > 1000)
    }
}
