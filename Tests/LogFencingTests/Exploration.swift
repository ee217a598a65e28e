// SPDX-License-Identifier: Apache-2.0

/// Every state that a world can come to, breadth first.
///
/// A state is remembered by its hash of 64 bits, whose key is another one in each run. Of two million states, two have the same hash with
/// a probability of one in ten million, and then something would be overlooked in this run.
struct Exploration: CustomStringConvertible {
    /// How many states there are.
    private(set) var stateCount = 0
    /// How many steps lead from one to another.
    private(set) var stepCount = 0
    /// How many steps the longest of the shortest ways has.
    private(set) var depth = 0
    /// How many states have a candidate that leads, by how many lead at once.
    private(set) var leading: [Int: Int] = [:]
    /// How many states have a candidate that has stopped for good.
    private(set) var halted = 0
    /// The first violation, and the steps that lead to it.
    private(set) var found: (violation: Violation, way: [Step])?

    private var ways: [Int: (before: Int, step: Step)?] = [:]

    /// Explores until there is nothing new, or something is found.
    init(_ budget: Budget, candidates: Int = 2, _ rules: Rules = Rules()) async {
        let start = World(budget, candidates: candidates)
        var layer = [(start, start.hashValue)]
        ways[layer[0].1] = .some(nil)
        while !layer.isEmpty {
            var next: [(World, Int)] = []
            for (world, fingerprint) in layer {
                count(world)
                // Tests of real servers share this thread.
                if stateCount % 256 == 0 { await Task.yield() }
                for step in world.steps {
                    stepCount += 1
                    var after = world
                    do throws(Violation) { try after.take(step, rules) } catch {
                        found = (error, way(to: fingerprint) + [step])
                        return
                    }
                    let reached = after.hashValue
                    guard ways[reached] == nil else { continue }
                    ways[reached] = (fingerprint, step)
                    next.append((after, reached))
                }
            }
            layer = next
            if !next.isEmpty { depth += 1 }
        }
    }

    private mutating func count(_ world: World) {
        stateCount += 1
        leading[world.candidates.count { if case .leading = $0.program { true } else { false } }, default: 0] += 1
        if world.candidates.contains(where: { $0.program == .halted }) { halted += 1 }
    }

    var description: String {
        "\(stateCount) states, \(stepCount) steps, depth \(depth), with leaders: \(leading.sorted { $0.key < $1.key }), "
            + "stopped: \(halted)\(found.map { "; \($0.violation.rawValue) after \($0.way)" } ?? "")"
    }

    private func way(to fingerprint: Int) -> [Step] {
        var (way, place) = ([Step](), fingerprint)
        while case .some(.some(let last)) = ways[place] {
            way.append(last.step)
            place = last.before
        }
        return way.reversed()
    }
}
