// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import CallSimulation

struct DocumentationTests {
    private static func page(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "Documentation/\(name)"), encoding: .utf8)
    }

    /// `signet call simulate --compare --rotations 20 --seed 1`
    @Test func theTableInTheDocumentationIsWhatTheCommandPrints() async throws {
        // Tests of real servers share the threads of tasks.
        let comparison = await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: SystemComparison(Scenario())) }
        }
        #expect(try Self.page("calls.md").contains(comparison.markdown))
        #expect(try Self.page("calls.svg") == comparison.svg)
    }

    /// `signet call simulate --events`, of which a few rows are played again, and all of them in the long run.
    @Test func theTableOfEventsIsWhatTheCommandPrints() async throws {
        let page = try Self.page("calls.md")
        let start = try #require(page.range(of: EventTable.head))
        let lines = page[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { $0.hasPrefix("|") }.map { "\($0)\n" }
        var expected: [(EventTable.Event, Int, Double)] = []
        for devices in EventTable.allDevices {
            for event in EventTable.Event.allCases {
                expected += EventTable.allLosses.map { (event, devices, $0) }
            }
        }
        try #require(lines.count == expected.count && expected.count == 72)
        for (line, (event, devices, loss)) in zip(lines, expected) {
            let form = try Self.form(event, devices, loss)
            #expect(line.wholeMatch(of: form) != nil, "\(line)")
            let isCheap = devices == 3 && (event == .join || event == .leave && loss == 0.3)
            guard isCheap || Seeds.isEverything else { continue }
            #expect(await EventTable.Row(event, devices: devices, loss: loss, seeds: 1...40).markdown == line)
        }
    }

    /// The form of a line of the table, with any figures.
    private static func form(_ event: EventTable.Event, _ devices: Int, _ loss: Double) throws -> Regex<AnyRegexOutput>
    {
        let figure = "(below 0\\.1|\\d+(\\.\\d)?)"
        let time =
            switch event {
            case .rotations: "everybody under the new key: half \\d+ ms, at most \\d+ ms"
            case .leave, .hostLeave: "old key in use: half \\d+ ms, at most \\d+ ms(, in \\d+ of \\d+)?"
            case .join: ""
            case .crash: "new host: half \\d+ ms, at most \\d+ ms(, in \\d+ of 40)?"
            case .split: "(one call after at most \\d+ ms|not always one call)"
            }
        let goals = EventTable.Goal.allCases.map(\.rawValue).joined(separator: "|")
        let cells = [
            "\(devices)", event.name(devices: devices), "\(Int(loss * 100)) %", figure,
            "\\d+ of 40(, \(figure) with \\d+)?", figure, time, "(\\*\\*missed\\*\\*: (\(goals))(, (\(goals)))*)?",
        ]
        return try Regex("\\| " + cells.joined(separator: " \\| ") + " \\|\n")
    }

    /// A small table: the form of each row, sums that add up, and goals that follow from the figures.
    @Test func theSumsOfASmallTableOfEventsAddUp() async throws {
        let table = await EventTable(devices: [3], losses: [0, 0.3], seeds: 1...2)
        #expect(table.rows.count == 12 && table.markdown == EventTable.head + table.rows.map(\.markdown).joined())
        for row in table.rows {
            let one = Series(row.event.scenario(devices: 3, loss: row.loss), seeds: 1...2)
            #expect(
                (one.frames, one.undecryptable, one.withheld) == (
                    row.series.frames, row.series.undecryptable, row.series.withheld
                ))
            #expect(
                (one.sent, one.worstSeed, one.switches) == (row.series.sent, row.series.worstSeed, row.series.switches))
            #expect(row.series.sent > 0 && row.series.frames > 0)
        }
        // A call that never had another host misses the goal: here it ends before it could have one.
        var crash = EventTable.Event.crash.scenario(devices: 3, loss: 0)
        crash.coolDown = 2000
        let row = EventTable.Row(.crash, devices: 3, loss: 0, seeds: 1...2, Series(crash, seeds: 1...2))
        #expect(row.missed == [.newHost] && row.markdown.contains("in 0 of 2 | **missed**: new host |"))
    }

    @Test func onlyAnExactZeroIsPrintedAsZero() {
        #expect(
            EventTable.figure(0) == "0" && EventTable.figure(0.04) == "below 0.1" && EventTable.figure(0.14) == "0.1")
        #expect(EventTable.figure(219.6) == "220")
    }
}
