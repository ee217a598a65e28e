// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogFencing
import Testing

/// Every order in which the steps of candidates, databases, store and witness can happen, to a bound; and the same with one rule less,
/// which must be found.
@Suite struct FencingExplorationTests {
    /// A bound, and how many states it has at least: fewer would mean that something was cut off.
    struct Bound: CustomTestStringConvertible {
        let testDescription: String
        var candidates = 2
        let budget: Budget
        let floor: Int
    }

    static let bounds = [
        Bound(
            testDescription: "three epochs, failover",
            budget: Budget(generations: 2, frames: 3, crashes: 0, restarts: 0, breaks: 0), floor: 29_000),
        Bound(
            testDescription: "three leaders after each other, failover",
            budget: Budget(generations: 3, frames: 2, crashes: 0, restarts: 0, breaks: 0), floor: 36_000),
        Bound(
            testDescription: "two epochs, failover, the old primary restarts",
            budget: Budget(generations: 2, frames: 2, crashes: 0, restarts: 1, breaks: 0), floor: 114_000),
        Bound(
            testDescription: "one epoch, failover, restart, a crash at any point",
            budget: Budget(generations: 2, frames: 1, crashes: 1, restarts: 1, breaks: 0), floor: 310_000),
        Bound(
            testDescription: "one epoch, failover, restart, an unknown outcome at any point",
            budget: Budget(generations: 2, frames: 1, crashes: 0, restarts: 1, breaks: 1), floor: 370_000),
        Bound(
            testDescription: "three candidates at once, failover", candidates: 3,
            budget: Budget(generations: 2, frames: 1, crashes: 0, restarts: 0, breaks: 0), floor: 148_000),
    ]

    @Test(arguments: bounds) func nothingIsViolatedInAnyOrder(bound: Bound) async {
        let exploration = await Exploration(bound.budget, candidates: bound.candidates)
        #expect(exploration.found == nil)
        #expect(exploration.stateCount >= bound.floor, "\(exploration)")
        #expect(exploration.leading[2, default: 0] > 1000, "two lead at once, and do no harm")
        #expect(exploration.halted == 0, "nobody has to be called")
        print("fencing: \(bound.testDescription): \(exploration)")
    }

    private static let isDeep = ProcessInfo.processInfo.environment["SIGNET_EXPLORE_DEEPER"] != nil

    @Test(
        .enabled(if: isDeep, "minutes and gigabytes: with SIGNET_EXPLORE_DEEPER=1"),
        arguments: [
            Budget(generations: 2, frames: 2, crashes: 1, restarts: 1, breaks: 0),
            Budget(generations: 3, frames: 3, crashes: 0, restarts: 1, breaks: 0),
            Budget(generations: 2, frames: 1, crashes: 1, restarts: 1, breaks: 1),
        ])
    func nothingIsViolatedInAnyOrder_deeper(budget: Budget) async {
        let exploration = await Exploration(budget)
        #expect(exploration.found == nil)
        #expect(exploration.halted == 0)
        print("fencing, deeper: \(exploration)")
    }

    /// A database that acknowledges what its standby lacks loses it at a promotion. Then the log stops, and does not fork.
    @Test func aDatabaseThatLosesEntriesStopsTheLog_whichDoesNotFork() async {
        var rules = Rules(weakening: .asynchronous)
        rules.violations = [.twoRootsSigned, .memoryFell, .receiptLost, .outOfTurn]
        let budget = Budget(generations: 2, frames: 1, crashes: 0, restarts: 1, breaks: 0)
        let exploration = await Exploration(budget, rules)
        #expect(exploration.found == nil)
        #expect(exploration.halted > 1000, "\(exploration)")
        print("fencing, asynchronous: \(exploration)")
    }

    // MARK: With a rule less

    struct Control: CustomTestStringConvertible {
        let testDescription: String
        let weakening: Weakening
        let violation: Violation
        var budget = Budget(generations: 2, frames: 1, crashes: 0, restarts: 1, breaks: 1)
    }

    static let controls = [
        Control(
            testDescription: "the database compares the size alone", weakening: .generationIgnored,
            violation: .oldGenerationCommits),
        Control(
            testDescription: "and so a candidate is told that a whole database is behind",
            weakening: .generationIgnored,
            violation: .stopWithoutLoss),
        Control(
            testDescription: "a head is signed before it is committed", weakening: .signedEarly,
            violation: .twoRootsSigned),
        Control(
            testDescription: "a row is believed before the own claim", weakening: .believedEarly,
            violation: .signedUncommitted),
        Control(
            testDescription: "and there is no second memory",
            weakening: [.believedEarly, .noSecondMemory, .witnessesAway],
            violation: .twoRootsSigned),
        Control(
            testDescription: "the database loses entries, and there is no second memory",
            weakening: [.asynchronous, .noSecondMemory, .witnessesAway], violation: .twoRootsSigned),
        Control(
            testDescription: "the second memory takes every put", weakening: .plainPut, violation: .memoryFell,
            budget: Budget(generations: 2, frames: 2, crashes: 0, restarts: 0, breaks: 0)),
        Control(
            testDescription: "an unknown commit is tried again", weakening: .unknownIsRetried, violation: .batchTwice),
        Control(
            testDescription: "an unknown commit is looked up", weakening: .unknownIsRead,
            violation: .signedUncommitted),
        Control(
            testDescription: "and there is no second memory",
            weakening: [.unknownIsRead, .noSecondMemory, .witnessesAway], violation: .twoRootsSigned),
        Control(
            testDescription: "a larger head stops a candidate without a confirmation", weakening: .notConfirmed,
            violation: .stopWithoutLoss),
    ]

    @Test(arguments: controls) func oneRuleLessIsFound(control: Control) async {
        let rules = Rules(weakening: control.weakening, violations: [control.violation])
        let exploration = await Exploration(control.budget, rules)
        #expect(exploration.found?.violation == control.violation, "\(exploration)")
    }
}
