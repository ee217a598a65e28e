// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// What a contact is told of another identity: amber after a logged recovery, red for everything else.
@Suite struct IdentityChangeTests {
    let account: RecoverableAccount

    init() throws { account = try RecoverableAccount() }

    /// Alice as one of her states has her.
    private func person(_ state: AccountState, kind: StateKind = .set) -> PaperPerson {
        account.person(state, kind: kind)
    }

    /// A directory that logged each state at a time; a request and its end when they say so, unless given by version.
    private func directory(_ people: [PaperPerson], loggedAt times: [UInt64: UInt64] = [:]) throws -> PaperDirectory {
        var directory = try PaperDirectory(from: PaperDirectory.now - 20_000)
        for person in people {
            let usual: UInt64 =
                switch person.version {
                case 1, 2: PaperDirectory.now - 20_000
                case 3: RecoverableAccount.started
                case 4: RecoverableAccount.ended
                default: PaperDirectory.now
                }
            try directory.log(person)
            try directory.endEpoch(at: (times[person.version] ?? usual) * 1000)
        }
        try directory.endEpoch()
        return directory
    }

    /// Alice's history as the directory shows it.
    private func history(
        of people: [PaperPerson], in directory: PaperDirectory, hiding hidden: UInt64? = nil, withSteps: Bool = true,
        at now: UInt64 = PaperDirectory.now, seenAt seen: [UInt64: UInt64] = [:],
        absentAt absent: [UInt64: UInt64] = [:]
    ) throws -> VerifiedHistory {
        let bytes = try directory.history(
            of: people, hiding: hidden, withSteps: withSteps, seenAt: seen, absentAt: absent)
        return try HistoryVerifier(trust: directory.trust()).verify(
            bytes, for: account.alice.handle, knowing: nil, since: MerkleFrontier(), at: now)
    }

    /// The decision about the last of these states, by somebody who pinned one of them.
    private func decide(
        _ people: [PaperPerson], pinned: PinnedPeer, hiding hidden: UInt64? = nil, withSteps: Bool = true,
        loggedAt times: [UInt64: UInt64] = [:], lookedAt look: UInt64? = nil, seenAt: UInt64? = nil,
        at now: UInt64? = nil, quorumSaw seen: [UInt64: UInt64] = [:], quorumMissed absent: [UInt64: UInt64] = [:]
    ) throws -> (without: PeerTrustDecision, with: PeerTrustDecision) {
        let directory = try directory(people, loggedAt: times)
        let lookup = try PeerTrustTests.lookup(people[people.count - 1], in: directory)
        let history = try history(
            of: people, in: directory, hiding: hidden, withSteps: withSteps, seenAt: seen, absentAt: absent)
        return (
            PeerTrustDecision(lookup, comparedWith: pinned),
            PeerTrustDecision(
                lookup, comparedWith: pinned, by: history,
                lookedAt: look.map { PeerLook(handle: account.alice.handle, epochTime: $0, seenAt: seenAt) }, at: now)
        )
    }

    private func pin(_ people: [PaperPerson]) throws -> PinnedPeer {
        PinnedPeer(
            try PeerTrustTests.lookup(people[people.count - 1], in: directory(people)), at: PaperDirectory.now)
    }

    private func identity(_ decision: PeerTrustDecision) -> IdentityChange? {
        if case .mismatch(let change) = decision { change.identity } else { nil }
    }

    private var steps: [PaperPerson] {
        [account.first, account.committed, account.asked, account.recovered].map { person($0) }
    }

    @Test func aLoggedRecoveryIsAmberAndSaysWhen() throws {
        for count in 1...3 {
            let decision = try decide(steps, pinned: pin(Array(steps.prefix(count))))
            #expect(identity(decision.with) == .recovered(at: RecoverableAccount.ended))
            #expect(identity(decision.without) == .unexplained)
        }
    }

    /// The handle was released and taken over: how the log calls the step that was accepted says nothing of those after it.
    @Test func aRecoveryOfWhoWasPinnedAtAResetIsAmber_andAResetAfterThatIsNot() throws {
        for (place, expected) in [(0, IdentityChange.recovered(at: RecoverableAccount.ended)), (1, .unexplained)] {
            var people = steps
            people[place].kind = .reset
            let decision = try decide(people, pinned: pin(Array(people.prefix(1))))
            #expect(identity(decision.with) == expected, "\(place)")
        }
    }

    // MARK: The delay

    /// As many guardians as are needed and whoever holds the server put a request and a takeover into the log, one right
    /// after the other, with times in them that look as if two days lay between.
    @Test func guardiansAndServerThatRushATakeoverAreRed() throws {
        let now = PaperDirectory.now
        let started = RecoverableAccount.started
        for (asked, taken) in [(now, now), (now - 99, now), (started, started)] {
            let decision = try decide(steps, pinned: pin(Array(steps.prefix(2))), loggedAt: [3: asked, 4: taken])
            #expect(identity(decision.with) == .rushed)
        }
    }

    /// The attack: as many guardians as are needed and whoever holds the server log a request and the takeover in one go, the
    /// request in an epoch that is dated back. Every epoch is as an honest recovery has it; the quorum saw neither before.
    @Test func aRequestThatTheQuorumHasNotSeenForTheDelayIsRed() throws {
        let (ended, least) = (
            RecoverableAccount.ended, UInt64(RecoverableAccount.delay) - RecoveryDelay.tolerance
        )
        let pinned = try pin(Array(steps.prefix(2)))
        for (seen, expected) in [
            (PaperDirectory.now, IdentityChange.rushed), (ended, .rushed), (ended - least + 1, .rushed),
            (ended - least, .recovered(at: ended)),
        ] {
            let decision = try decide(steps, pinned: pinned, quorumSaw: [3: seen])
            #expect(identity(decision.with) == expected, "\(seen)")
        }
        // When the takeover was seen is of no account.
        let later = try decide(steps, pinned: pinned, quorumSaw: [4: PaperDirectory.now])
        #expect(identity(later.with) == .recovered(at: ended))
    }

    /// The attack: the takeover comes right behind the request, in an epoch that is dated ahead by the delay. Every epoch is as an
    /// honest recovery has it; the quorum cosigned nothing without the takeover after that.
    @Test func aTakeoverThatTheQuorumHasSeenBeforeTheDelayIsRed() throws {
        let (started, least) = (
            RecoverableAccount.started, UInt64(RecoverableAccount.delay) - RecoveryDelay.tolerance
        )
        let pinned = try pin(Array(steps.prefix(2)))
        for (absent, expected) in [
            (started, IdentityChange.rushed), (started + least - 1, .rushed),
            (started + least, .recovered(at: RecoverableAccount.ended)),
        ] {
            let decision = try decide(steps, pinned: pinned, quorumMissed: [4: absent])
            #expect(identity(decision.with) == expected, "\(absent)")
        }
    }

    /// The attack: a request is logged, and the index hides it from a look; its epoch is dated ahead, so that it seems newer.
    @Test func aRequestThatIsDatedAheadBehindTheLastLookIsRed() throws {
        let (started, skew) = (RecoverableAccount.started, EpochTimeRule.standard.clockSkew)
        let pinned = try pin(Array(steps.prefix(2)))
        for (absent, expected) in [
            (started - skew - 1, IdentityChange.rushed),
            (started - skew, .recovered(at: RecoverableAccount.ended)),
        ] {
            let decision = try decide(steps, pinned: pinned, lookedAt: started, quorumMissed: [3: absent])
            #expect(identity(decision.with) == expected, "\(absent)")
        }
    }

    /// The attack: whoever has a device names guardians of their own, whose request comes at once in an epoch that is dated ahead.
    @Test func aRequestThatIsDatedAheadOfAChangeOfGuardiansIsRed() throws {
        let (started, delay) = (RecoverableAccount.started, UInt64(RecoverableAccount.delay))
        let people = try replaced(claiming: started - delay)
        let times: [UInt64: UInt64] = [3: started - delay, 4: started, 5: RecoverableAccount.ended]
        let least = started - RecoveryDelay.tolerance
        for (absent, expected) in [
            (started - delay, IdentityChange.rushed), (least - 1, .rushed),
            (least, .recovered(at: RecoverableAccount.ended)),
        ] {
            let decision = try decide(
                people, pinned: pin(Array(people.prefix(2))), loggedAt: times, quorumMissed: [4: absent])
            #expect(identity(decision.with) == expected, "\(absent)")
        }
    }

    /// The attack: whoever has a device replaces the guardians twice, so that the last ones replaced have no delay.
    @Test func guardiansWhoWereReplacedTwiceHadTheirTimeToo() throws {
        let (started, ended) = (RecoverableAccount.started, RecoverableAccount.ended)
        let latest = started - UInt64(RecoverableAccount.delay) + RecoveryDelay.tolerance
        let people = try account.replacedTwice().map { person($0) }
        for (changed, expected) in [
            (started, IdentityChange.rushed), (latest + 1, .rushed), (latest, .recovered(at: ended)),
        ] {
            let times: [UInt64: UInt64] = [3: changed, 4: started, 5: started, 6: ended]
            let decision = try decide(people, pinned: pin(Array(people.prefix(2))), loggedAt: times)
            #expect(identity(decision.with) == expected, "\(changed)")
        }
        // Nor may the second change shut the first ones out, however long the last ones wait then.
        let atOnce: [UInt64: UInt64] = [3: latest, 4: latest, 5: started, 6: ended]
        let waited = try decide(people, pinned: pin(Array(people.prefix(2))), loggedAt: atOnce)
        #expect(identity(waited.with) == .rushed)
    }

    /// The attack: the same with a change of guardians, dated back behind the time of those before.
    @Test func aChangeOfGuardiansThatTheQuorumHasNotSeenForTheDelayIsRed() throws {
        let (started, delay) = (RecoverableAccount.started, UInt64(RecoverableAccount.delay))
        let people = try replaced(claiming: started - delay)
        let times: [UInt64: UInt64] = [3: started - delay, 4: started, 5: RecoverableAccount.ended]
        let latest = started - delay + RecoveryDelay.tolerance
        for (seen, expected) in [
            (started, IdentityChange.rushed), (latest + 1, .rushed),
            (latest, .recovered(at: RecoverableAccount.ended)),
        ] {
            let decision = try decide(
                people, pinned: pin(Array(people.prefix(2))), loggedAt: times, quorumSaw: [3: seen])
            #expect(identity(decision.with) == expected, "\(seen)")
        }
    }

    /// Other guardians, named in version 3 with a date that says when; they ask in version 4 and take over in version 5.
    private func replaced(claiming since: UInt64) throws -> [PaperPerson] {
        try account.replaced(claiming: since).map { person($0) }
    }

    /// The attack: whoever has a device and the server names guardians of their own, and dates the change back, so that those
    /// before have no time left.
    @Test func aChangeOfGuardiansThatIsDatedBackIsRed() throws {
        let (started, delay) = (RecoverableAccount.started, UInt64(RecoverableAccount.delay))
        let people = try replaced(claiming: started - delay)
        for (changed, expected) in [
            (started, IdentityChange.rushed), (started - delay + RecoveryDelay.tolerance + 1, .rushed),
            (started - delay + RecoveryDelay.tolerance, .recovered(at: RecoverableAccount.ended)),
            (started - delay, .recovered(at: RecoverableAccount.ended)),
        ] {
            let times: [UInt64: UInt64] = [3: changed, 4: started, 5: RecoverableAccount.ended]
            for count in 1...3 {
                let decision = try decide(people, pinned: pin(Array(people.prefix(count))), loggedAt: times)
                #expect(identity(decision.with) == expected, "\(changed) \(count)")
            }
            // The owner's monitor says the same.
            let shown = try history(of: people, in: directory(people, loggedAt: times))
            let alarms = MonitorDecision(shown, since: .beginning, acts: []).alarms
            #expect(alarms.contains(.rushed(version: 5)) == (expected == .rushed))
        }
    }

    @Test func theDelayIsTheOneThatTheAccountCommittedTo() throws {
        // 1,000 seconds, less what honest clocks may be apart.
        let (asked, least) = (RecoverableAccount.started, UInt64(RecoverableAccount.delay) - RecoveryDelay.tolerance)
        let pinned = try pin(Array(steps.prefix(2)))
        let enough = try decide(steps, pinned: pinned, loggedAt: [3: asked, 4: asked + least])
        #expect(identity(enough.with) == .recovered(at: RecoverableAccount.ended))
        let less = try decide(steps, pinned: pinned, loggedAt: [3: asked, 4: asked + least - 1])
        #expect(identity(less.with) == .rushed)
    }

    @Test func aRecoveryWhoseEpochsAreNotShownIsRed() throws {
        let pinned = try pin(Array(steps.prefix(2)))
        #expect(try identity(decide(steps, pinned: pinned, withSteps: false).with) == .rushed)
    }

    @Test func aRequestInAnEpochBeforeTheLastLookIsRed() throws {
        // The contact saw the account without it then.
        let (asked, pinned) = (RecoverableAccount.started, try pin(Array(steps.prefix(2))))
        let latest = asked + EpochTimeRule.standard.clockSkew
        #expect(
            try identity(decide(steps, pinned: pinned, lookedAt: latest).with)
                == .recovered(at: RecoverableAccount.ended))
        #expect(try identity(decide(steps, pinned: pinned, lookedAt: latest + 1).with) == .rushed)
    }

    @Test func aRequestThatClaimsToBeOlderThanTheLastLookIsRed() throws {
        // Logged after the look, and signed with a time long before it.
        let (started, pinned) = (RecoverableAccount.started, try pin(Array(steps.prefix(2))))
        let (asked, taken) = (started + 1_500, started + 2_000)
        for (look, change) in [
            (started + 900, .recovered(at: RecoverableAccount.ended)), (started + 901, .rushed),
        ] as [(UInt64, IdentityChange)] {
            let decision = try decide(steps, pinned: pinned, loggedAt: [3: asked, 4: taken], lookedAt: look)
            #expect(identity(decision.with) == change)
        }
    }

    /// The quorum is the server's, whose clock was slow at the look and is right at the takeover: by the log's epochs the delay passed.
    @Test func aTakeoverForWhichThisDevicesClockLeavesNoTimeIsRed() throws {
        let (asked, pinned) = (RecoverableAccount.started, try pin(Array(steps.prefix(2))))
        let delay = UInt64(RecoverableAccount.delay)
        let allowed = RecoveryDelay.tolerance + RecoveryDelay.lookAge
        func change(seen: UInt64?, now: UInt64?) throws -> IdentityChange? {
            try identity(decide(steps, pinned: pinned, lookedAt: asked, seenAt: seen, at: now).with)
        }
        let seen = PaperDirectory.now
        let recovered = IdentityChange.recovered(at: RecoverableAccount.ended)
        let long: UInt32 = 86_400
        #expect(!RecoveryDelay.couldHavePassed(long, sinceLookAt: seen, at: seen + 86_400 - allowed - 1))
        #expect(RecoveryDelay.couldHavePassed(long, sinceLookAt: seen, at: seen + 86_400 - allowed))
        let early = seen + allowed - delay
        #expect(try change(seen: early + 1, now: seen) == .rushed)
        #expect(try change(seen: early, now: seen) == recovered)
        #expect(try change(seen: nil, now: seen) == recovered)
        #expect(try change(seen: seen, now: nil) == recovered)
    }

    @Test func theOwnersMonitorNamesARushedTakeover() throws {
        let now = PaperDirectory.now
        for (times, alarm) in [
            ([:], .recovered(version: 4)), ([3: now, 4: now], .rushed(version: 4)),
        ] as [([UInt64: UInt64], MonitorAlarm)] {
            let history = try history(of: steps, in: directory(steps, loggedAt: times))
            let acts = [account.first, account.committed].map {
                OwnAct($0, StateCommitment(to: $0, opening: account.alice.opening))
            }
            let alarms = MonitorDecision(history, since: .beginning, acts: acts).alarms
            #expect(alarms.contains(alarm) && alarms.contains(.formerRecovery(version: 3)))
        }
    }

    /// The quorum is the server's: by the log's epochs the delay passed, by the owner's clock it cannot have since the last look.
    @Test func theOwnersMonitorCountsByThisDevicesClockToo() throws {
        let history = try history(of: steps, in: directory(steps))
        func alarms(_ look: UInt64?, _ now: UInt64?) -> [MonitorAlarm] {
            MonitorDecision(history, since: .beginning, acts: [], lookedAt: look, at: now).alarms
        }
        let allowed = RecoveryDelay.tolerance + RecoveryDelay.lookAge
        let now = PaperDirectory.now
        let early = now + allowed - UInt64(RecoverableAccount.delay)
        for (look, time, isRushed) in [
            (early + 1, now, true), (early, now, false), (nil, now, false), (early + 1, nil, false),
        ] as [(UInt64?, UInt64?, Bool)] {
            let alarms = alarms(look, time)
            #expect(alarms.contains(.rushed(version: 4)) == isRushed)
            #expect(alarms.contains(.recovered(version: 4)) == !isRushed)
        }
    }

    // MARK: The steps

    @Test func aRecoveryUnderWayChangesNothingYet() throws {
        let pinned = try pin(Array(steps.prefix(2)))
        #expect(try decide(Array(steps.prefix(3)), pinned: pinned).without == .match)
        // What is pinned under a note is what the note is about.
        #expect(try pin(Array(steps.prefix(3))).stateHash == account.committed.hash)
        let stopped = person(try account.stopped(after: account.asked))
        let pinnedAsked = try pin(Array(steps.prefix(3)))
        #expect(try decide(Array(steps.prefix(3)) + [stopped], pinned: pinnedAsked).without == .match)
    }

    @Test func anotherIdentityWithoutASuccessionIsRed() throws {
        let alice = person(account.first)
        let people = [alice, try alice.next(identity: P256.Signing.PrivateKey())]
        #expect(try identity(decide(people, pinned: pin([people[0]])).with) == .unexplained)
    }

    @Test func aSuccessionThatSkipsItsDelayIsRed() throws {
        // The directory and enough guardians collude: nothing was logged before the succession.
        let quick = try RecoverableAccount.recovered(
            after: account.committed, account.start(), account.newIdentity, account.recoveryKey)
        let people = [person(account.first), person(account.committed), person(quick)]
        #expect(try identity(decide(people, pinned: pin(Array(people.prefix(2)))).with) == .unexplained)
    }

    @Test func aSuccessionAfterAnObjectionIsRed() throws {
        let stopped = try account.stopped(after: account.asked)
        let late = try RecoverableAccount.recovered(
            after: stopped, account.start(), account.newIdentity, account.recoveryKey)
        let people = Array(steps.prefix(3)) + [person(stopped), person(late)]
        #expect(try identity(decide(people, pinned: pin(Array(people.prefix(2)))).with) == .unexplained)
    }

    @Test func aSuccessionThatClaimsATimeToComeIsRed() throws {
        let started = PaperDirectory.now - 500
        let start = try account.start(started: started)
        let asked = try AccountState(
            starting: start, superseding: nil, after: account.committed, with: account.newIdentity.raw)
        let early = try RecoverableAccount.recovered(
            after: asked, start, account.newIdentity, account.recoveryKey, at: start.notBefore)
        let people = [account.first, account.committed, asked, early].map { person($0) }
        #expect(try identity(decide(people, pinned: pin(Array(people.prefix(2)))).with) == .unexplained)
    }

    @Test func aStepThatTheDirectoryDoesNotShowIsRed() throws {
        let pinned = try pin(Array(steps.prefix(2)))
        #expect(try identity(decide(steps, pinned: pinned, hiding: 3).with) == .unexplained)
        // What lies before the pinned state does not matter.
        #expect(
            try identity(decide(steps, pinned: pinned, hiding: 1).with) == .recovered(at: RecoverableAccount.ended))
    }

    @Test func aStepLoggedAsAResetIsRed() throws {
        let people = Array(steps.prefix(3)) + [person(account.recovered, kind: .reset)]
        #expect(try identity(decide(people, pinned: pin(Array(people.prefix(2)))).with) == .unexplained)
    }

    @Test func aStateThatWasPinnedAndIsNotInTheHistoryIsRed() throws {
        let pinned = try pin(Array(steps.prefix(2)))
        let elsewhere = PinnedPeer(
            uncheckedHandle: pinned.handle, identityKey: P256.Signing.PrivateKey().publicBytes, version: 2,
            stateHash: [UInt8](repeating: 7, count: 32), devices: pinned.devices, history: pinned.history, pinnedAt: 0)
        #expect(try identity(decide(steps, pinned: elsewhere).with) == .unexplained)
    }
}
