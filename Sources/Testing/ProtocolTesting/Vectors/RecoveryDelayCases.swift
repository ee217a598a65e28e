// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog

/// Recoveries as a contact finds them who pinned the person with their guardians: honest ones, and ones with one fault each.
enum RecoveryDelayCases {
    static func all() throws -> [RecoveryDelayVector] {
        let story = try RecoveryStory(recorded: LookupVectorSignatures.table())
        return try good(story) + rushed(story) + unseen(story) + replaced(story) + steps(story) + unexplained(story)
    }

    private static func make(
        _ story: RecoveryStory, _ outcome: String, _ name: String, _ why: String, check: String? = nil,
        _ change: (inout RecoveryDelayDraft) throws -> Void
    ) throws -> RecoveryDelayVector {
        var draft = try RecoveryDelayDraft(story)
        try change(&draft)
        let time = outcome == "recovered" ? RecoveryStory.ended : nil
        return try draft.vector("\(outcome)-\(name)", why, .init(outcome: outcome, check: check, at: time))
    }

    private static let least = UInt64(RecoveryStory.delay) - RecoveryDelay.tolerance

    private static func good(_ story: RecoveryStory) throws -> [RecoveryDelayVector] {
        let (started, tolerance) = (RecoveryStory.started, RecoveryDelay.tolerance)
        return [
            try make(story, "recovered", "after-its-delay", "the log shows twice the delay") { _ in },
            try make(story, "recovered", "with-the-least-delay", "less than the delay by what clocks may be apart") {
                $0.times[3] = started + least
            },
            try make(story, "recovered", "after-a-look-then", "asked for in the epoch of the contact's last look") {
                $0.lookedAt = started
            },
            try make(
                story, "recovered", "by-a-slow-clock",
                "the request claims to be older than the last look, by no more "
                    + "than clocks may be apart"
            ) {
                ($0.times[2], $0.times[3]) = (started + tolerance, RecoveryStory.ended)
                $0.lookedAt = started + tolerance
            },
            try make(
                story, "recovered", "by-the-contacts-own-clock",
                "on the contact's own clock just the delay has passed since the look, and an hour and a quarter"
            ) { ($0.lookedAt, $0.lookedBy) = (started, latestLook) },
        ]
    }

    /// The last moment of a look on the contact's own clock that leaves room for the delay. Since it is a short one, the clock was set
    /// back after that.
    private static let latestLook = PaperDirectory.now + RecoveryDelay.uncountable - UInt64(RecoveryStory.delay)

    private static func rushed(_ story: RecoveryStory) throws -> [RecoveryDelayVector] {
        let (now, started) = (PaperDirectory.now, RecoveryStory.started)
        return [
            try make(story, "rushed", "at-once", "request and takeover were logged in the same second") {
                ($0.times[2], $0.times[3]) = (now, now)
            },
            try make(story, "rushed", "a-second-too-soon", "the takeover was logged a second before it may be") {
                $0.times[3] = started + least - 1
            },
            try make(story, "rushed", "epochs-not-shown", "nothing shows in which epochs request and takeover came") {
                $0.editSteps = { steps, _ in steps = [] }
            },
            try make(story, "rushed", "request-not-shown", "nothing shows in which epoch the request came") {
                $0.editSteps = { steps, _ in steps.removeFirst() }
            },
            try make(story, "rushed", "takeover-not-shown", "nothing shows in which epoch the takeover came") {
                $0.editSteps = { steps, _ in steps.removeLast() }
            },
            try make(
                story, "rushed", "logged-before-the-last-look",
                "the request was logged a second sooner than clocks may differ before the contact saw the person without it"
            ) { $0.lookedAt = started + EpochTimeRule.standard.clockSkew + 1 },
            try make(
                story, "rushed", "claims-to-be-older-than-the-last-look",
                "logged after the contact's last look, the request claims a time before it"
            ) {
                ($0.times[2], $0.times[3]) = (started + 1500, started + 2000)
                $0.lookedAt = started + RecoveryDelay.tolerance + 1
            },
            try make(
                story, "rushed", "by-the-contacts-own-clock",
                "on the contact's own clock a second less than the delay has passed since the look, and an hour and a quarter"
            ) { ($0.lookedAt, $0.lookedBy) = (started, latestLook + 1) },
        ]
    }

    /// Every epoch is as an honest recovery has it; what differs is since when the quorum has seen the request.
    private static func unseen(_ story: RecoveryStory) throws -> [RecoveryDelayVector] {
        func absent(
            _ name: String, _ why: String, _ outcome: String = "rushed",
            _ edit: @escaping (LoggedStep, PaperDirectory) throws -> SeenCheckpoint?
        ) throws -> RecoveryDelayVector {
            try make(story, outcome, name, why) {
                $0.editSteps = { steps, directory in
                    steps[1] = steps[1].with(absent: .some(try edit(steps[1], directory)))
                }
            }
        }
        func seen(
            _ name: String, _ why: String, _ outcome: String = "rushed",
            _ edit: @escaping (LoggedStep, PaperDirectory) throws -> SeenCheckpoint?
        ) throws -> RecoveryDelayVector {
            try make(story, outcome, name, why) {
                $0.editSteps = { steps, directory in
                    steps[0] = steps[0].with(seen: .some(try edit(steps[0], directory)))
                }
            }
        }
        let (started, ended) = (RecoveryStory.started, RecoveryStory.ended)
        return [
            try seen(
                "seen-for-the-least-delay", "the quorum saw the request for the delay, less what clocks may be apart",
                "recovered"
            ) { try $1.seen(size: $0.epoch.index + 1, at: ended - least) },
            try seen("seen-in-a-larger-log", "the checkpoint that shows the request is of an entry later", "recovered")
            {
                try $1.seen(size: $0.epoch.index + 2, at: started)
            },
            try seen("epoch-dated-back", "the quorum saw the request a second too late; its epoch claims to be older") {
                try $1.seen(size: $0.epoch.index + 1, at: ended - least + 1)
            },
            try seen("request-not-seen", "nothing shows since when the quorum has seen the request") { _, _ in nil },
            try seen("seen-without-the-request", "the quorum saw the log end right before the request") {
                try $1.seen(size: $0.inclusion.index, at: started)
            },
            try seen("seen-by-one", "one of the two witnesses had seen the request") {
                try $1.seen(size: $0.epoch.index + 1, at: started, cosigners: [$1.witnesses[0]])
            },
            try seen(
                "seen-by-one-before-the-other", "one of the two witnesses saw the request in time, and one too late"
            ) {
                let (size, late) = ($0.epoch.index + 1, ended - least + 1)
                let (first, second) = (
                    try $1.note(size: size, at: started, cosigners: [$1.witnesses[0]]),
                    try $1.note(size: size, at: late, cosigners: [$1.witnesses[1]])
                )
                let note = try SignedNote(
                    text: first.text, signatures: first.signatures + second.signatures.dropFirst())
                return SeenCheckpoint(note: note.encoded, consistency: try $1.seen(size: size, at: late).consistency)
            },
            try seen("seen-in-another-log", "the quorum saw the request in a log that this one does not extend") {
                let seen = try $1.seen(size: $0.epoch.index + 1, at: started)
                let text = try Checkpoint(
                    origin: $1.log.verifierKey.name, head: TreeHead(size: $0.epoch.index + 1, root: .emptyTree)
                ).text
                return SeenCheckpoint(note: try $1.sign(text, at: started).encoded, consistency: seen.consistency)
            },
            try absent(
                "absent-for-the-least-delay", "the quorum saw no takeover for the delay, less what clocks may be apart",
                "recovered"
            ) { try $1.seen(size: $0.epoch.record.start, at: started + least) },
            try absent(
                "takeover-dated-ahead",
                "the quorum last saw no takeover a second too soon; its epoch claims to be later"
            ) {
                try $1.seen(size: $0.epoch.record.start, at: started + least - 1)
            },
            try absent("takeover-never-absent", "nothing shows when the takeover was not there yet") { _, _ in nil },
            try absent("absent-with-the-takeover", "the log that is to show no takeover has it") {
                try $1.seen(size: $0.inclusion.index + 1, at: ended)
            },
            try absent("absent-for-one", "one of the two witnesses saw no takeover") {
                try $1.seen(size: $0.epoch.record.start, at: ended, cosigners: [$1.witnesses[0]])
            },
            try make(
                story, "rushed", "request-dated-ahead",
                "the quorum saw the request's place taken before the contact's last look; its epoch claims to be later"
            ) {
                $0.lookedAt = started
                $0.editSteps = { steps, directory in
                    let before = started - EpochTimeRule.standard.clockSkew - 1
                    steps[0] = steps[0].with(
                        absent: try directory.seen(size: steps[0].epoch.record.start, at: before))
                }
            },
        ]
    }

    /// Other guardians, named in version 3, ask in version 4 and take over in version 5. The change claims a time that leaves those
    /// before them none of their delay.
    private static func replaced(_ story: RecoveryStory) throws -> [RecoveryDelayVector] {
        let started = RecoveryStory.started
        let claimed = started - UInt64(RecoveryStory.delay)
        func changed(
            _ outcome: String, _ name: String, _ why: String, at time: UInt64, seenAt seen: UInt64? = nil
        ) throws -> RecoveryDelayVector {
            try make(story, outcome, name, why) {
                $0.states = try story.replaced(claiming: claimed)
                $0.times.insert(time, at: 2)
                guard let seen else { return }
                $0.editSteps = { steps, directory in
                    steps[0] = steps[0].with(seen: try directory.seen(size: steps[0].epoch.index + 1, at: seen))
                }
            }
        }
        func changedTwice(
            _ outcome: String, _ name: String, _ why: String, at time: UInt64
        ) throws -> RecoveryDelayVector {
            try make(story, outcome, name, why) {
                $0.states = try story.replacedTwice(claiming: claimed - UInt64(RecoveryStory.delay), claimed)
                $0.times.insert(contentsOf: [time, claimed], at: 2)
            }
        }
        return [
            try changed(
                "recovered", "after-a-change-of-guardians",
                "those before had their delay, from the change to the request",
                at: claimed),
            try changed(
                "recovered", "after-the-least-time-of-those-before",
                "those before had less than their delay by what clocks may be apart", at: started - least),
            try changed(
                "rushed", "change-of-guardians-dated-back",
                "the change was logged a second later than leaves those before their delay, and claims to be older",
                at: started - least + 1),
            try changed(
                "rushed", "change-of-guardians-with-the-request",
                "the change was logged in the second of the request, and claims to be older by the delay", at: started),
            try changed(
                "rushed", "change-of-guardians-seen-too-late",
                "the change's epoch claims to be older by the delay; the quorum saw it with the request",
                at: claimed, seenAt: started),
            try changedTwice(
                "recovered", "after-two-changes-of-guardians", "everybody who was replaced had their delay",
                at: claimed - UInt64(RecoveryStory.delay)),
            try changedTwice(
                "rushed", "after-two-changes-at-once",
                "those who were replaced last had their delay; those whom they had replaced had none", at: claimed),
        ]
    }

    /// What is said of the epochs of the steps: entries 4 (the request) and 6 (the takeover, after its device).
    private static func steps(_ story: RecoveryStory) throws -> [RecoveryDelayVector] {
        func bad(
            _ check: String, _ name: String, _ why: String,
            _ edit: @escaping (inout [LoggedStep], PaperDirectory) throws -> Void
        ) throws -> RecoveryDelayVector {
            try make(story, "refused", name, why, check: "step: \(check)") { $0.editSteps = edit }
        }
        return [
            try bad("noSuchEntry", "steps-in-another-order", "the takeover comes before the request") { steps, _ in
                steps.reverse()
            },
            try bad("noSuchEntry", "step-of-no-entry", "a step of an entry that the label does not have") { steps, _ in
                steps[1] = steps[1].with(count: steps[1].count + 1)
            },
            try bad("entry", "place-of-another-entry", "the request is said to stand where the takeover stands") {
                steps, _ in steps[0] = steps[0].with(inclusion: steps[1].inclusion, epoch: steps[1].epoch)
            },
            try bad("epoch", "epoch-not-in-the-log", "the request's epoch has an earlier time than logged") {
                steps, _ in
                let epoch = steps[0].epoch
                let earlier = epoch.record.with(time: epoch.record.time - 86_400_000)
                steps[0] = steps[0].with(
                    epoch: PlacedEpoch(index: epoch.index, record: earlier, path: epoch.path))
            },
            try bad("anotherEpoch", "earlier-epoch", "the request is said to have come in the epoch before its own") {
                steps, directory in
                steps[0] = steps[0].with(epoch: try directory.epoch(at: steps[0].epoch.record.start - 1))
            },
            try bad("anotherEpoch", "later-epoch", "the takeover is said to have come in the log's last epoch") {
                steps, directory in
                steps[1] = steps[1].with(epoch: try directory.epoch(at: directory.tree.size - 1))
            },
        ]
    }

    private static func unexplained(_ story: RecoveryStory) throws -> [RecoveryDelayVector] {
        [
            try make(story, "unexplained", "request-withheld", "the directory does not show the request") {
                $0.hidden = 3
            },
            try make(story, "unexplained", "without-a-request", "nothing was logged before the takeover") {
                $0.states = [$0.states[0], $0.states[1], try story.recovered(after: $0.states[1])]
                $0.times.remove(at: 2)
            },
            try make(story, "unexplained", "time-to-come", "the takeover claims a time after the log's last epoch") {
                let started = PaperDirectory.now - 500
                $0.states[2] = try story.asked(at: started)
                $0.states[3] = try story.recovered(after: $0.states[2], started: started, at: started + 1000)
            },
            try make(story, "unexplained", "logged-as-a-reset", "the takeover was logged as a reset") { $0.reset = 4 },
        ]
    }
}

extension LoggedStep {
    /// The step with some parts replaced.
    fileprivate func with(
        count: UInt64? = nil, inclusion: InclusionProof? = nil, epoch: PlacedEpoch? = nil,
        absent: SeenCheckpoint?? = nil,
        seen: SeenCheckpoint?? = nil
    ) -> LoggedStep {
        LoggedStep(
            count: count ?? self.count, inclusion: inclusion ?? self.inclusion, epoch: epoch ?? self.epoch,
            absent: absent ?? self.absent, seen: seen ?? self.seen)
    }
}
