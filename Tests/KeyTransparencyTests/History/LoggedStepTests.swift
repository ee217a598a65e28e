// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// In which epoch an entry was logged: answers in which only that is wrong.
@Suite struct LoggedStepTests {
    let scene: WatchScene

    init() throws { scene = try WatchScene() }

    private func verify(_ steps: [LoggedStep], since known: Int = 0) throws -> VerifiedHistory {
        try scene.verify(scene.answer(since: known, steps: steps), since: known)
    }

    private func step(_ count: Int, place: Int? = nil) throws -> LoggedStep {
        try scene.directory.step(UInt64(count), at: scene.places()[(place ?? count) - 1])
    }

    private func refusal(_ steps: [LoggedStep], since known: Int = 0) -> HistoryRefusal? {
        do {
            _ = try verify(steps, since: known)
            return nil
        } catch { return error as? HistoryRefusal }
    }

    @Test func anHonestAnswerSaysInWhichEpochEachEntryCame() throws {
        let days = try verify(try (1...5).map { try step($0) }).loggedIn.mapValues(\.epoch.day)
        let first = PaperDirectory.now / WatchScene.day
        #expect(days == [1: first, 2: first, 3: first, 4: first + 1, 5: first + 1])
        #expect(try verify([step(4), step(5)], since: 3).loggedIn.count == 2)
        #expect(try verify([]).loggedIn.isEmpty)
    }

    @Test func entriesThatAreNotInTheAnswerOrOutOfOrderAreRefused() throws {
        #expect(refusal([try step(5), try step(4)]) == .step(.noSuchEntry))
        #expect(refusal([try step(4), try step(4)]) == .step(.noSuchEntry))
        #expect(refusal([try step(3)], since: 3) == .step(.noSuchEntry))
        #expect(refusal([try step(6, place: 5)]) == .step(.noSuchEntry))
        #expect(refusal([try step(0, place: 1)]) == .step(.noSuchEntry))
    }

    @Test func anotherEntrysPlaceIsRefused() throws {
        #expect(refusal([try step(5, place: 3)]) == .step(.entry(.rootMismatch)))
    }

    @Test func anEpochThatIsNotInTheLogIsRefused() throws {
        let honest = try step(5)
        let earlier = honest.epoch.record.with(time: honest.epoch.record.time - 86_400_000)
        let epoch = PlacedEpoch(index: honest.epoch.index, record: earlier, path: honest.epoch.path)
        #expect(
            refusal([LoggedStep(count: 5, inclusion: honest.inclusion, epoch: epoch)])
                == .step(.epoch(.rootMismatch)))
    }

    @Test func anEarlierOrLaterEpochIsRefused() throws {
        let honest = try step(5)
        for place in try scene.epochs() where place != honest.epoch.index {
            let step = LoggedStep(count: 5, inclusion: honest.inclusion, epoch: try scene.epoch(at: place))
            #expect(refusal([step]) == .step(.anotherEpoch))
        }
    }

    // MARK: Since when the quorum has seen it

    /// When the quorum saw entry 5, by a step in which something is shown of that.
    private func seenAt(_ seen: SeenCheckpoint?) throws -> UInt64? {
        let honest = try step(5)
        let step = LoggedStep(count: 5, inclusion: honest.inclusion, epoch: honest.epoch, seen: seen)
        return try verify([step]).loggedIn[5]?.seenAt
    }

    private let time = PaperDirectory.now + WatchScene.day

    /// How large the log was when entry 5 was published.
    private var size: UInt64 { get throws { try step(5).epoch.index + 1 } }

    @Test func anHonestAnswerSaysSinceWhenTheQuorumHasSeenAnEntry() throws {
        #expect(try verify([step(5)]).loggedIn[5]?.seenAt == time)
        #expect(try seenAt(scene.directory.seen(size: size, at: time + 1)) == time + 1)
        #expect(try seenAt(scene.directory.seen(size: scene.directory.tree.size, at: time)) == time)
        #expect(try seenAt(nil) == nil)
    }

    /// The attack: the server shows a log with the request to one witness alone, and to the others only when the delay is over.
    @Test func oneWitnessThatWasShownALogLongBeforeTheOthersMakesNothingOlder() throws {
        let (directory, size) = (scene.directory, try size)
        let text = try Checkpoint(
            origin: directory.log.verifierKey.name, head: directory.tree.head(size: size)
        ).text
        for (first, second) in [(time, time + 1000), (time + 1000, time)] {
            let note = try SignedNote(
                text: text,
                signatures: [
                    directory.log.sign(text), directory.witnesses[0].cosign(text, time: first),
                    directory.witnesses[1].cosign(text, time: second),
                ])
            let shown = SeenCheckpoint(
                note: note.encoded,
                consistency: try directory.tree.consistencyProof(from: size, to: directory.tree.size))
            #expect(try seenAt(shown) == time + 1000)
        }
        // Missing it was as long as the quorum says, which is the earlier time.
        let place = try step(5).inclusion.index
        let before = try Checkpoint(
            origin: directory.log.verifierKey.name, head: directory.tree.head(size: place)
        ).text
        let note = try SignedNote(
            text: before,
            signatures: [
                directory.log.sign(before), directory.witnesses[0].cosign(before, time: time),
                directory.witnesses[1].cosign(before, time: time + 1000),
            ])
        let absent = SeenCheckpoint(
            note: note.encoded,
            consistency: try directory.tree.consistencyProof(from: place, to: directory.tree.size))
        #expect(try absentAt(absent) == time)
    }

    @Test func aCheckpointFromBeforeAnEntryShowsNothingOfIt() throws {
        let place = try step(5).inclusion.index
        #expect(try seenAt(scene.directory.seen(size: place, at: time)) == nil)
        #expect(try seenAt(scene.directory.seen(size: place + 1, at: time)) == time)
    }

    @Test func aCheckpointThatTheQuorumDidNotSeeShowsNothing() throws {
        let one = scene.directory.witnesses[0]
        #expect(try seenAt(scene.directory.seen(size: size, at: time, cosigners: [one])) == nil)
    }

    @Test func aCheckpointOfAnotherLogOfThePolicyShowsNothing() throws {
        let trust = try scene.directory.trust()
        let other = try PaperDirectory.signer("other.example/log", .ed25519, seed: 9)
        let policy = try Policy(
            logs: trust.policy.listedLogs + [Policy.Log(key: other.verifierKey, url: nil)],
            witnesses: trust.policy.witnesses,
            groups: trust.policy.groups, quorum: trust.policy.quorum)
        let (size, honest) = (try size, try step(5))
        let seen = SeenCheckpoint(
            note: try scene.directory.note(size: size, at: time, by: other).encoded,
            consistency: try scene.directory.tree.consistencyProof(from: size, to: scene.directory.tree.size))
        let step = LoggedStep(count: 5, inclusion: honest.inclusion, epoch: honest.epoch, seen: seen)
        let history = try HistoryVerifier(
            trust: DirectoryTrust(policy: policy, vrfKey: trust.vrfKey, freshness: trust.freshness)
        ).verify(
            scene.answer(steps: [step]), for: scene.alice.handle, knowing: nil, since: MerkleFrontier(),
            at: WatchScene.now)
        #expect(history.loggedIn[5]?.seenAt == nil)
    }

    @Test func aCheckpointOfALogThatThisOneDoesNotExtendShowsNothing() throws {
        let size = try size
        var fork = try PaperDirectory()
        while fork.tree.size < size { fork.logUnseen([1]) }
        let seen = SeenCheckpoint(
            note: try fork.note(size: size, at: time).encoded,
            consistency: try scene.directory.tree.consistencyProof(from: size, to: scene.directory.tree.size))
        #expect(try seenAt(seen) == nil)
    }

    // MARK: When the quorum saw it missing

    private func absentAt(_ absent: SeenCheckpoint?) throws -> UInt64? {
        let honest = try step(5)
        let step = LoggedStep(count: 5, inclusion: honest.inclusion, epoch: honest.epoch, absent: absent)
        return try verify([step]).loggedIn[5]?.absentAt
    }

    @Test func anHonestAnswerSaysWhenTheQuorumSawTheLogWithoutAnEntry() throws {
        let place = try step(5).inclusion.index
        #expect(try verify([step(5)]).loggedIn[5]?.absentAt == time)
        #expect(try absentAt(scene.directory.seen(size: place, at: time - 1)) == time - 1)
        #expect(try absentAt(nil) == nil)
    }

    @Test func aCheckpointWithAnEntryDoesNotShowThatItWasMissing() throws {
        let place = try step(5).inclusion.index
        #expect(try absentAt(scene.directory.seen(size: place + 1, at: time)) == nil)
    }

    // MARK: Forms

    @Test func theFirstFormIsRefusedByItsFirstLine() throws {
        let old = Array("signet-history/v1\n".utf8) + [0, 0, 0, 0, 0, 0, 0, 0]
        #expect(throws: LookupMessageError.unknownFormat) { try HistoryResponse(decoding: old) }
    }

    /// A directory keeps what a former log held in the form of its day.
    @Test func theFormBeforeIsReadAndShowsNotSinceWhen() throws {
        let honest = try step(5)
        let step = LoggedStep(count: 5, inclusion: honest.inclusion, epoch: honest.epoch)
        let present = HistoryResponse(lookup: [], steps: [step], entries: []).encoded
        // The last four bytes count the entries; the four before say that there are no checkpoints.
        let old = Array("signet-history/v2\n".utf8) + present.dropFirst(18).dropLast(8) + present.suffix(4)
        #expect(try HistoryResponse(decoding: old).steps == [step])
        let read = try HistoryResponse(decoding: HistoryResponse(lookup: [], steps: [honest], entries: []).encoded)
        #expect(read.steps == [honest])
        #expect(honest.seen != nil && honest.absent != nil)
    }
}
