// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VerifiableMap

/// What somebody was shown of alice, looked for again at the next milestone.
@Suite struct ShownKeysTests {
    let scene: WatchScene
    /// The epoch of the second day, in which she has five entries.
    private let second: MilestoneMark

    init() throws {
        scene = try WatchScene()
        second = MilestoneMark(index: try scene.epochs()[2], day: PaperDirectory.now / WatchScene.day + 1)
    }

    private func shown(_ tree: MerkleTree, in epoch: MilestoneMark) throws -> ShownKeys {
        ShownKeys(
            handle: scene.alice.handle, history: LabelHead(try tree.head(size: tree.size)), epoch: epoch, shownAt: 0,
            response: [])
    }

    private func check(_ shown: ShownKeys, in scene: WatchScene) throws {
        let history = try scene.verify(scene.answer())
        try shown.check(history)
        try shown.check(scene.milestones(after: shown.epoch.index).response.encoded, with: history)
    }

    @Test func keysInTheHistoryAndAtEachMilestoneRaiseNoAlarm() throws {
        try check(shown(scene.tree(), in: second), in: scene)
    }

    @Test func keysThatWereShownToOneAndTakenBackAreAnAlarm() throws {
        // Another state in the last place, for one epoch, for one person: the others' history does not have it.
        var other = MerkleTree()
        for entry in try scene.logged().dropLast() { other.append(.leaf(entry.entry)) }
        other.append(.leaf([1]))
        #expect(throws: ShownKeysFault.takenBack) { try check(shown(other, in: second), in: scene) }
        var longer = try scene.tree()
        longer.append(.leaf([1]))
        #expect(throws: ShownKeysFault.takenBack) { try check(shown(longer, in: second), in: scene) }
    }

    @Test func anotherPersonsHistorySaysNothing() throws {
        let bob = try Handle(typed: Array("bob@example.org".utf8))
        let shown = try shown(scene.tree(), in: second)
        let other = ShownKeys(handle: bob, history: shown.history, epoch: second, shownAt: 0, response: [])
        #expect(throws: ShownKeysFault.takenBack) { try check(other, in: scene) }
    }

    @Test func anIndexThatSaidSomethingElseSinceIsAnAlarm() throws {
        let scene = try WatchScene(flashingOnDay: 2)
        #expect(throws: ShownKeysFault.milestone(.index(day: second.day + 1, .rootMismatch))) {
            try check(shown(scene.tree(), in: second), in: scene)
        }
    }

    @Test func aMilestoneThatIsLeftOutIsAnAlarm() throws {
        let history = try scene.verify(scene.answer())
        var draft = try scene.milestones(after: second.index)
        draft.answers.removeLast()
        #expect(throws: ShownKeysFault.milestone(.missing(before: second.day + 2))) {
            try shown(scene.tree(), in: second).check(draft.response.encoded, with: history)
        }
    }

    @Test func daysThatCannotBeShownAreNamed() throws {
        var scene = scene
        for day in 4...100 {
            try scene.directory.endEpoch(at: (PaperDirectory.now + UInt64(day) * WatchScene.day) * 1000)
        }
        let now = PaperDirectory.now + 100 * WatchScene.day
        let history = try scene.verify(scene.answer(at: now), at: now)
        #expect(throws: ShownKeysFault.unseenDays(second.day..<(second.day + 9))) {
            try shown(scene.tree(), in: second).check(
                scene.milestones(after: second.index).response.encoded, with: history)
        }
    }
}
