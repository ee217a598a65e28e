// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VRF

/// What a contact is told of another identity when the log was handed over on the way: the log that goes on begins with the
/// last state alone, and what came before is in the one that ended.
@Suite struct HandedOverRecoveryTests {
    let account: RecoverableAccount

    init() throws { account = try RecoverableAccount() }

    private static let begun = PaperDirectory.now - 20_000

    private var steps: [PaperPerson] {
        [account.first, account.committed, account.asked, account.recovered].map { account.person($0) }
    }

    /// What both logs hold of alice, and the answer about her now.
    private struct Past {
        let former: VerifiedHistory
        let next: VerifiedHistory
        let lookup: VerifiedLookup
    }

    /// A log that ended after the first `count` of alice's states, and another one that goes on from there.
    ///
    /// - Parameters:
    ///   - times: when versions were logged, in seconds since 1970; by default as an honest recovery has them.
    ///   - inherited: what the next log begins with, if not with the last of those states.
    ///   - begun: when the next log says that it began, if not when the first one ended; in seconds since 1970.
    private func handOver(
        _ people: [PaperPerson], after count: Int, loggedAt times: [UInt64: UInt64] = [:],
        beginningWith inherited: PaperPerson? = nil, at begun: UInt64? = nil
    ) throws -> Past {
        let usual: [UInt64: UInt64] = [3: RecoverableAccount.started, 4: RecoverableAccount.ended]
        func time(_ person: PaperPerson) -> UInt64 { times[person.version] ?? usual[person.version] ?? Self.begun }
        let (before, after) = (Array(people.prefix(count)), people.dropFirst(count))
        var old = try PaperDirectory(from: Self.begun)
        for person in before {
            try old.log(person)
            try old.endEpoch(at: time(person) * 1000)
        }
        let end = time(people[count - 1])
        let log = try FormerLog(trust: old.trust(), note: old.note(at: end))
        let answer = FormerResponse(
            consistency: ConsistencyProof(hashes: []), history: try old.history(of: before, at: end))
        let former = try FormerVerifier(log).verify(
            answer.encoded, for: account.alice.handle, beginning: .known(LabelHead(.empty)))

        var successor = try PaperDirectory(from: begun ?? end, after: old.note(at: end))
        successor.vrf = try VRFPrivateKey([9] + [UInt8](repeating: 0, count: 31))
        let first = inherited ?? people[count - 1]
        try successor.log(first)
        try successor.endEpoch(at: (begun ?? end) * 1000)
        for person in after {
            try successor.log(person)
            try successor.endEpoch(at: time(person) * 1000)
        }
        try successor.endEpoch()
        let shown = [first] + after
        let next = try HistoryVerifier(trust: successor.trust()).verify(
            successor.history(of: shown), for: account.alice.handle, knowing: nil, since: MerkleFrontier(),
            at: PaperDirectory.now)
        return Past(
            former: former, next: next, lookup: try PeerTrustTests.lookup(shown[shown.count - 1], in: successor))
    }

    /// The verdict of somebody who pinned one of her states in the log that ended.
    private func identity(
        _ past: Past, pinned: PaperPerson, showingFormer: Bool = true, after end: UInt64? = nil
    ) throws -> IdentityChange? {
        let state = try AccountState(decoding: pinned.encodedState).authored
        let peer = PinnedPeer(
            uncheckedHandle: state.handle, identityKey: state.identityKey, version: state.version,
            stateHash: state.hash,
            devices: state.devices.map(PinnedDevice.init), history: LabelHead(.empty), pinnedAt: Self.begun)
        let decision = PeerTrustDecision(
            past.lookup, comparedWith: peer, by: past.next,
            after: showingFormer ? FormerHistories([past.former]) : FormerHistories(after: end))
        return if case .mismatch(let change) = decision { change.identity } else { nil }
    }

    @Test(arguments: 1...4) func aLoggedRecoveryIsAmberWhereverTheLogWasHandedOver(_ count: Int) throws {
        let past = try handOver(steps, after: count)
        for pinned in steps.prefix(min(count, 3)) {
            #expect(try identity(past, pinned: pinned) == .recovered(at: RecoverableAccount.ended))
        }
        let shown = try identity(past, pinned: steps[0], showingFormer: false)
        #expect(shown == (count == 1 ? .recovered(at: RecoverableAccount.ended) : .unexplained))
    }

    /// The attack: a takeover without the delay, and a handover by which the log that shows it is gone.
    @Test(arguments: 2...4) func aTakeoverThatWasRushedIsRedWhereverTheLogWasHandedOver(_ count: Int) throws {
        let started = RecoverableAccount.started
        let past = try handOver(steps, after: count, loggedAt: [3: started, 4: started + 99])
        for pinned in steps.prefix(min(count, 3)) { #expect(try identity(past, pinned: pinned) == .rushed) }
    }

    /// The attack: whoever has a device and the server names guardians of their own, dates that back, and hands the log over, so
    /// that nothing in the next one says since when they are the guardians.
    @Test(arguments: 3...4) func aChangeOfGuardiansBeforeAHandoverIsNoOlderThanItIs(_ count: Int) throws {
        let (started, delay) = (RecoverableAccount.started, UInt64(RecoverableAccount.delay))
        let people = try account.replaced(claiming: started - delay).map { account.person($0) }
        for (changed, expected) in [
            (started - delay + RecoveryDelay.tolerance + 1, IdentityChange.rushed),
            (started - delay + RecoveryDelay.tolerance, .recovered(at: RecoverableAccount.ended)),
        ] {
            let past = try handOver(
                people, after: count, loggedAt: [3: changed, 4: started, 5: RecoverableAccount.ended])
            for pinned in people.prefix(3) { #expect(try identity(past, pinned: pinned) == expected, "\(changed)") }
            // Who is shown the next log alone counts from its beginning.
            let alone = try identity(past, pinned: people[2], showingFormer: false)
            #expect(alone == (count == 3 ? expected : .unexplained), "\(changed)")
        }
    }

    /// The attack: the next log dates its first epochs before the last one's end, and in them a request that nobody saw there.
    @Test func aRequestFromBeforeTheHandoverInTheNextLogIsRed() throws {
        let (asked, lag) = (RecoverableAccount.started, EpochTimeRule.standard.maximumLag)
        for (end, expected) in [
            (asked + lag, IdentityChange.recovered(at: RecoverableAccount.ended)), (asked + lag + 1, .rushed),
        ] {
            let past = try handOver(steps, after: 2, loggedAt: [2: end], at: asked)
            #expect(try identity(past, pinned: steps[1]) == expected)
            // Nor does it help not to show what the last log held: how it ended is known.
            #expect(try identity(past, pinned: steps[1], showingFormer: false, after: end) == expected)
        }
    }

    @Test func aLogThatDoesNotBeginWithWhatTheLastOneHeldExplainsNothing() throws {
        let other = try steps[0].next()
        let past = try handOver(steps, after: 2, beginningWith: other)
        #expect(try identity(past, pinned: steps[0]) == .unexplained)
    }

    /// The next log repeats the request as its first state. An owner who looked at it in the last one has seen it before.
    @Test func aRequestThatTheOwnerHasSeenIsNotCountedFromTheNextLogsBeginning() throws {
        let past = try handOver(steps, after: 3)
        let watch = OwnWatch(
            history: MerkleFrontier(), version: 3, stateHash: account.asked.hash, devices: [], milestone: nil)
        let look = PaperDirectory.now + RecoveryDelay.tolerance + RecoveryDelay.lookAge
        func alarms(since watch: OwnWatch) -> [MonitorAlarm] {
            MonitorDecision(past.next, since: watch, acts: [], lookedAt: look, at: PaperDirectory.now).alarms
        }
        #expect(alarms(since: watch).contains(.recovered(version: 4)))
        let unseen = OwnWatch(
            history: MerkleFrontier(), version: 2, stateHash: account.committed.hash, devices: [], milestone: nil)
        #expect(alarms(since: unseen).contains(.rushed(version: 4)))
    }
}
