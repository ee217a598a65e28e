// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog
import VerifiableMap

/// Walks over the milestones of four days: honest ones, and ones with one fault each.
enum MilestoneCases {
    static func all(_ bench: MilestoneVectorBench) throws -> [MilestoneVector] {
        try good(bench) + forms(bench) + pointers(bench) + neighbours(bench) + contents(bench)
    }

    private static func good(_ bench: MilestoneVectorBench) throws -> [MilestoneVector] {
        let epochs = try bench.scene.epochs()
        return [
            try bench.good("since-registration", "each of the three days since is compared", count: 3) { _ in },
            try bench.good("since-later-that-day", "the last check was of a later epoch of the first day", count: 3) {
                $0.last = MilestoneMark(index: epochs[1], day: bench.firstDay)
            },
            try bench.good("since-the-second-day", "the last check was at a milestone", count: 2) {
                $0.last = MilestoneMark(index: epochs[2], day: bench.firstDay + 1)
            },
            try bench.good("nothing-new", "the last check was of the log's last epoch", count: 0) {
                $0.last = MilestoneMark(index: epochs[5], day: bench.firstDay + 3)
            },
            try bench.good("ends-in-a-new-day", "the log's last epoch is the first of its day", count: 3) {
                try $0.endEpoch(onDay: 4)
            },
        ]
    }

    private static func forms(_ bench: MilestoneVectorBench) throws -> [MilestoneVector] {
        [
            try bench.bad("envelope", "version-1", "the first line names version 1") {
                $0.edit = { $0[19] = UInt8(ascii: "1") }
            },
            try bench.bad("envelope", "cut", "cut within the last milestone") { $0.edit = { $0.removeLast() } },
            try bench.bad("order", "reversed", "the oldest milestone comes first") { $0.answers.reverse() },
            try bench.bad("surplus", "one-twice", "the last milestone comes a second time") {
                $0.answers.append($0.answers[$0.answers.count - 1])
            },
            try bench.bad("missing", "last-left-out", "the oldest milestone was left out") { $0.answers.removeLast() },
            try bench.bad("missing", "all-left-out", "no milestone at all") { $0.answers = [] },
        ]
    }

    /// Records that were logged and signed, each with one lie.
    private static func pointers(_ bench: MilestoneVectorBench) throws -> [MilestoneVector] {
        let epochs = try bench.scene.epochs()
        return [
            try bench.bad(
                "missesMark", "pointer-to-the-last-check", "the last record names the epoch that was checked last"
            ) { try $0.endEpoch { $0.with(milestone: epochs[0]) } },
            try bench.bad("missesMark", "pointer-to-nothing", "the last record names index 0") {
                try $0.endEpoch { $0.with(milestone: 0) }
            },
            try bench.bad("skipsDays", "pointer-to-an-earlier-day", "the last record leads past a day") {
                try $0.endEpoch { $0.with(milestone: epochs[2]) }
            },
            try bench.bad("skipsDays", "pointer-from-a-milestone", "a milestone leads past two days") {
                try $0.endEpoch(onDay: 4) { $0.with(milestone: epochs[2]) }
                try $0.endEpoch(onDay: 4)
            },
            try bench.bad("notFirstOfDay", "later-that-day", "the last record names the second epoch of a day") {
                try $0.endEpoch { $0.with(milestone: epochs[5]) }
            },
        ]
    }

    private static func neighbours(_ bench: MilestoneVectorBench) throws -> [MilestoneVector] {
        let scene = bench.scene
        let epochs = try scene.epochs()
        return [
            try bench.bad("notRightBefore", "before-the-last-an-older-one", "an older epoch than the one right before")
            {
                $0.before = try scene.epoch(at: epochs[3])
            },
            try bench.bad("notRightBefore", "before-the-last-itself", "the last epoch as the one right before it") {
                $0.before = try scene.epoch(at: epochs[5])
            },
            try bench.bad("notRightBefore", "before-the-last-none", "the last epoch is said to be the first") {
                $0.before = nil
            },
            try bench.bad("notRightBefore", "before-a-milestone-none", "a milestone is said to be the first epoch") {
                $0.answers[0] = $0.answers[0].with(before: .some(nil))
            },
            try bench.bad("inclusion", "before-not-in-the-log", "the epoch right before has another time than logged") {
                guard let honest = $0.before else { throw PaperFault.notThere }
                $0.before = PlacedEpoch(
                    index: honest.index, record: honest.record.with(time: honest.record.time - 1), path: honest.path)
            },
            try bench.bad("inclusion", "milestone-not-in-the-log", "a milestone has another label count than logged") {
                let record = $0.answers[0].epoch.record
                $0.answers[0] = $0.answers[0].with(record: record.with(labelCount: record.labelCount + 1))
            },
        ]
    }

    /// What the index said of the label at a milestone.
    private static func contents(_ bench: MilestoneVectorBench) throws -> [MilestoneVector] {
        func change(_ count: UInt64, _ draft: inout MilestoneVectorDraft) throws {
            guard let present = draft.answers[0].present else { throw PaperFault.notThere }
            draft.answers[0] = draft.answers[0].with(present: .init(count: count, path: present.path))
        }
        return [
            try bench.bad("index", "shown-for-a-day", "on the third day the index held something else of the label") {
                $0.scene = try WatchScene(flashingOnDay: 2, recorded: LookupVectorSignatures.table())
                try $0.answerHonestly()
            },
            try bench.bad("index", "fewer-entries", "a part of the history that the index did not hold that day") {
                try change(4, &$0)
            },
            try bench.bad("index", "denied", "the label is denied, by the absence from an empty index") {
                $0.answers[0] = $0.answers[0].with(present: .some(nil))
            },
            try bench.bad("anotherHistory", "more-entries", "more entries than the history has") { try change(6, &$0) },
            try bench.bad("anotherHistory", "no-entries", "a label in the index without any entry") {
                try change(0, &$0)
            },
        ]
    }
}
