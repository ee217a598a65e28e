// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import LogWitness
import Synchronization
import Testing
import TransparencyLog

@testable import SignetServer

/// A log that has an epoch of next year is refused by all clients until next year.
struct LogClockTests {
    private static let now: UInt64 = 1_800_000_000
    private static let hour: UInt64 = 3600
    private static let year: UInt64 = 365 * 86_400

    /// A machine with a clock that can be set, and one that cannot.
    private final class Machine: Sendable {
        private let clocks = Mutex((time: LogClockTests.now, uptime: UInt64(5)))

        var clock: ServerClock {
            ServerClock(time: { self.clocks.withLock { $0.time } }, uptime: { self.clocks.withLock { $0.uptime } })
        }

        func set(_ time: UInt64) { clocks.withLock { $0.time = time } }

        func pass(_ seconds: UInt64) {
            clocks.withLock { $0 = ($0.time + seconds, $0.uptime + seconds * 1_000_000_000) }
        }
    }

    // MARK: Witnesses

    private static func witness(_ number: Int) throws -> Policy.Name { try #require(Policy.Name("w\(number)".utf8)) }

    private static func key(_ number: Int) throws -> String {
        let signer = try NoteSigner(
            name: KeyName(Array("witness.example/\(number)".utf8)), algorithm: .cosignatureV1,
            seed: [UInt8](repeating: UInt8(number), count: 32))
        return String(decoding: signer.verifierKey.encoded, as: UTF8.self)
    }

    /// Three witnesses at addresses, and the server's own clock, which has none.
    private static func policy(_ lines: String) throws -> Policy {
        let keys = try (0...3).map(key)
        let witnesses = (1...3).map { "witness w\($0) \(keys[$0]) https://w\($0).example/\n" }.joined()
        return try Policy(decoding: Array("witness clock \(keys[0])\n\(witnesses)\(lines)\n".utf8))
    }

    private static let one = "quorum w1"
    private static let two = "group seen 2 w1 w2 w3\nquorum seen"

    private static func times(_ times: [Int: UInt64]) throws -> [Policy.Name: UInt64] {
        Dictionary(uniqueKeysWithValues: try times.map { (try witness($0.key), $0.value) })
    }

    /// A clock whose log has one witness.
    private static func clock(
        after signed: UInt64, named: UInt64? = nil, isAccepted: Bool = false, _ machine: Machine
    ) throws -> LogClock {
        try LogClock(
            after: signed, policy: policy(one), named: named.map { try times([1: $0]) } ?? [:], isAccepted: isAccepted,
            machine.clock)
    }

    private static func clock(
        after signed: UInt64, _ lines: String, disregarding: [Int] = [], named: [Int: UInt64] = [:], _ machine: Machine
    ) throws -> LogClock {
        let consenting = try Set(disregarding.map(witness)).union([#require(Policy.Name("clock".utf8))])
        return try LogClock(
            after: signed, policy: policy(lines), consenting: consenting, named: times(named), machine.clock)
    }

    /// The server's own clock, and two of three witnesses: what the guide recommends.
    private static let both = "group outside 2 w1 w2 w3\ngroup both all clock outside\nquorum both"

    // MARK: Tests

    @Test func aStartFarAfterWhatWasSignedWantsAWord() throws {
        let machine = Machine()
        let pause = LogClock.longestPause
        #expect(throws: ClockAhead(of: .log, seconds: pause + 1)) {
            try LogClock(after: Self.now - pause - 1, machine.clock)
        }
        #expect(try LogClock(after: Self.now - pause, machine.clock).time() == Self.now)
        #expect(try LogClock(after: nil, machine.clock).time() == Self.now)
        let accepted = try LogClock(after: Self.now - Self.year, isAccepted: true, machine.clock)
        #expect(accepted.time() == Self.now && accepted.lead == 0)
    }

    @Test func aLeapIsNotFollowed_andTimeGoesOn() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now, machine.clock)
        machine.pass(60)
        #expect(clock.time() == Self.now + 60)
        machine.set(Self.now + 60 + Self.year)
        #expect(clock.time() == Self.now + 60 && clock.lead == Self.year)
        machine.pass(1000)
        #expect(clock.time() == Self.now + 1060 && clock.lead == Self.year)
        machine.set(Self.now + 1060)
        #expect(clock.time() == Self.now + 1060 && clock.lead == 0)
    }

    /// The attack: a start with a clock that is three hours ahead would lock everybody out for three hours.
    @Test func aStartAheadOfAllWitnessesWantsAWord() throws {
        let machine = Machine()
        let skew = Readiness.clockSkew
        #expect(throws: ClockAhead(of: .witnesses, seconds: skew + 1)) {
            try Self.clock(after: Self.now - 60, named: Self.now - skew - 1, machine)
        }
        let within = try Self.clock(after: Self.now - 600, named: Self.now - skew, machine)
        #expect(within.time() == Self.now - skew, "the log goes on by the witness's clock, or it would not cosign")
        #expect(try Self.clock(after: Self.now - 60, named: Self.now + 1000, machine).time() == Self.now)
    }

    /// A wrong clock locks nobody out where witnesses know better, even if the operator vouches for it.
    @Test func anAcceptedClockStarts_andDoesNotOverruleAQuorum() throws {
        let machine = Machine()
        let right = Self.now - 86_400
        let accepted = try Self.clock(after: right - 60, named: right, isAccepted: true, machine)
        #expect(accepted.time() == right && accepted.fault == .ahead(seconds: 86_400))
        #expect(accepted.epochTime() == right)
        let alone = try Self.clock(after: right - 60, isAccepted: true, machine)
        #expect(alone.time() == Self.now && alone.epochTime() == right - 60, "no quorum has named the time yet")
        alone.heard(try Self.times([1: Self.now]))
        #expect(alone.epochTime() == Self.now)
        let few = try LogClock(
            after: right - 60, policy: Self.policy(Self.two), named: Self.times([2: right]), isAccepted: true,
            machine.clock)
        #expect(few.time() == Self.now && few.lead == 0, "one of three is no quorum")
    }

    /// The server was off for two hours, and its log needs an auditor, which cosigns no old epoch. So no quorum names the time, and no epoch gets a
    /// later one.
    @Test func anAcceptedClockDatesEpochs_onceAWitnessAnswersThatNamesNoTime() throws {
        let signed = Self.now - 2 * Self.hour
        let policy = try Self.policy("group all all w1 w2\nquorum all")
        func clock(isAccepted: Bool, disregarding: [Int] = []) throws -> LogClock {
            try LogClock(
                after: signed, policy: policy, consenting: Set(disregarding.map(Self.witness)), isAccepted: isAccepted,
                Machine().clock)
        }
        let held = try clock(isAccepted: false)
        #expect(held.fault == nil, "nobody refuses")
        held.heard(try Self.times([1: Self.now]), isEnough: false, isRefused: true)
        #expect(held.epochTime() == signed && held.time() == Self.now && held.fault == .unnamed(seconds: 2 * Self.hour))
        held.heard(try Self.times([1: Self.now, 2: Self.now]))
        #expect(held.epochTime() == Self.now && held.fault == nil)
        let accepted = try clock(isAccepted: true)
        #expect(accepted.epochTime() == signed, "nobody has answered")
        accepted.heard([:], isEnough: false, isRefused: true)
        #expect(accepted.epochTime() == Self.now && accepted.fault == nil)
        for (disregarding, time) in [([], Self.now - Self.hour), ([1], Self.now)] as [([Int], UInt64)] {
            let limited = try clock(isAccepted: true, disregarding: disregarding)
            limited.heard(try Self.times([1: Self.now - Self.hour]), isEnough: false, isRefused: true)
            #expect(limited.epochTime() == time)
        }
    }

    /// A witness that was not told of the log says nothing of the time, and neither does a proxy before one.
    @Test func onlyTheRefusalOfAnAuditorSaysThatAnEpochIsOld() throws {
        let signed = Self.now - 2 * Self.hour
        let policy = try Self.policy("group all all w1 w2\nquorum all")
        for status in [403, 404, 418, 422, 429, 500, 502, 503] {
            let isRefusal = WitnessOutcome.refused(WitnessAnswer(status: status, body: [])).isRefusal
            #expect(isRefusal == (status == 503), "\(status)")
            let held = try LogClock(after: signed, policy: policy, Machine().clock)
            held.heard(try Self.times([1: Self.now]), isEnough: false, isRefused: isRefusal)
            #expect((held.fault == .unnamed(seconds: 2 * Self.hour)) == (status == 503), "\(status)")
            let accepted = try LogClock(after: signed, policy: policy, isAccepted: true, Machine().clock)
            accepted.heard([:], isEnough: false, isRefused: isRefusal)
            #expect(accepted.epochTime() == (status == 503 ? Self.now : signed), "\(status)")
        }
        for outcome in [WitnessOutcome.failed(.unreachable), .overloaded, .unknownKey, .cosigned(time: Self.now)] {
            #expect(!outcome.isRefusal, "\(outcome)")
        }
    }

    /// The operator vouches for a start, and for nothing that comes after it.
    @Test func aClockThatWasAcceptedIsComparedFromThenOn() throws {
        let machine = Machine()
        let clock = try Self.clock(after: Self.now - Self.year, isAccepted: true, machine)
        clock.heard(try Self.times([1: Self.now]))
        machine.set(Self.now + 2 * 86_400)
        #expect(clock.time() == Self.now && clock.fault == .ahead(seconds: 2 * 86_400))
    }

    /// The attack: a boot without a network, with a clock two days ahead. What is logged then would be published when the network is there.
    @Test func nothingIsLoggedWithATimeThatNoWitnessHasNamed() throws {
        let machine = Machine()
        let signed = Self.now - 2 * 86_400
        let clock = try Self.clock(after: signed, machine)
        machine.pass(7)
        #expect(clock.epochTime() == signed + 7 && clock.time() == Self.now + 7)
        clock.heard(try Self.times([1: Self.now + 6]))
        #expect(clock.epochTime() == Self.now + 7, "the clock was right: the server was off for two days")
        let alone = try LogClock(after: signed, machine.clock)
        #expect(alone.epochTime() == Self.now + 7, "nobody is there to ask")
        let unasked = try LogClock(
            after: signed, policy: Policy(decoding: Array("witness w1 \(Self.key(1))\nquorum w1\n".utf8)),
            machine.clock)
        #expect(unasked.epochTime() == Self.now + 7, "the witness has no address: this server does not wait for it")
    }

    /// How a machine starts, and goes on until it is stopped.
    private struct Run {
        /// How far its clock is ahead, in seconds.
        let ahead: UInt64
        /// Whether somebody sets it while the server runs.
        let isSet: Bool
        /// Whether the witnesses answer at the start.
        let isAnsweredAtOnce: Bool
        /// Whether they answer later.
        let isAnsweredLater: Bool

        static let all = [0, 2 * 86_400, 6 * 86_400].flatMap { (ahead: UInt64) in
            [(false, false), (false, true), (true, true)].flatMap { atOnce, later in
                [false, true].map { Run(ahead: ahead, isSet: $0, isAnsweredAtOnce: atOnce, isAnsweredLater: later) }
            }
        }
    }

    /// What a log has, and what time it is.
    private struct Log {
        var now = LogClockTests.now
        /// When it signed its last checkpoint, by its own key.
        var signed = LogClockTests.now
        var lastEpoch = LogClockTests.now

        /// Goes on as a server does: a due epoch ends, and a checkpoint is signed.
        mutating func goOn(by clock: LogClock) {
            let time = clock.epochTime()
            if lastEpoch + Directory.standardHeartbeat <= time { lastEpoch = time }
            signed = time
        }

        /// The machine has been off for an hour, and runs for an hour.
        ///
        /// - Returns: false: the start was refused.
        mutating func run(_ run: Run, _ policy: Policy) throws -> Bool {
            now += LogClockTests.hour
            let machine = Machine()
            machine.set(now + run.ahead)
            let names = policy.witnesses.map(\.name).filter { $0.bytes != Array("clock".utf8) }
            func named() -> [Policy.Name: UInt64] { Dictionary(uniqueKeysWithValues: names.map { ($0, now) }) }
            let clock: LogClock
            do throws(ClockAhead) {
                clock = try LogClock(
                    after: signed, policy: policy, consenting: Set(policy.witnesses.map(\.name)).subtracting(names),
                    named: run.isAnsweredAtOnce ? named() : [:], machine.clock)
            } catch { return false }
            goOn(by: clock)
            machine.pass(LogClockTests.hour)
            now += LogClockTests.hour
            if run.isSet { machine.set(now) }
            goOn(by: clock)
            if run.isAnsweredLater { clock.heard(named()) }
            goOn(by: clock)
            return true
        }
    }

    /// Whatever three starts there were before: with a wrong clock or a right one, and with witnesses or without.
    @Test(arguments: [one, both]) func noOrderOfStartsLogsATimeOfTheFuture(quorum: String) async throws {
        let policy = try Self.policy(quorum)
        var (logs, early, late, refused) = ([Log()], 0, 0, 0)
        for _ in 1...3 {
            var next: [Log] = []
            for log in logs {
                await Task.yield()
                for run in Run.all {
                    var log = log
                    refused += try log.run(run, policy) ? 0 : 1
                    early += log.lastEpoch > log.now || log.signed > log.now ? 1 : 0
                    next.append(log)
                    let isRight = try log.run(
                        Run(ahead: 0, isSet: false, isAnsweredAtOnce: true, isAnsweredLater: true), policy)
                    late += isRight && log.lastEpoch == log.now ? 0 : 1
                }
            }
            logs = next
        }
        #expect(early == 0 && late == 0 && refused > 0)
    }

    @Test func aClockBehindTheWitnessesIsNamed_whileTheyDoNotCosign() throws {
        let machine = Machine()
        let clock = try Self.clock(after: Self.now, machine)
        clock.heard(try Self.times([1: Self.now + 600]), isEnough: false)
        #expect(clock.fault == .behind(seconds: 600))
        clock.heard(try Self.times([1: Self.now + 600]), isEnough: true)
        #expect(clock.fault == nil, "one witness is ahead, and the others cosign")
        clock.heard(try Self.times([1: Self.now + 60]), isEnough: false)
        #expect(clock.fault == nil, "they do not cosign for another reason")
    }

    /// The attack: server and one witness have one wrong clock, as two virtual machines of one host. Two others are right.
    @Test func aWitnessOfTheFutureDoesNotMakeAClockRightThatTheOthersCallWrong() throws {
        let machine = Machine()
        let days: UInt64 = 500_000
        let right = Self.now - days
        let policy = try Self.policy(Self.two)
        for others in [[2: right, 3: right], [3: right]] as [[Int: UInt64]] {
            #expect(throws: ClockAhead(of: .witnesses, seconds: days)) {
                try LogClock(
                    after: right - 60, policy: policy,
                    named: Self.times(others.merging([1: Self.now]) { $1 }), machine.clock)
            }
        }
        #expect(throws: ClockAhead(of: .witnesses, seconds: days), "too few answer, and all say that it is wrong") {
            try LogClock(after: right - 60, policy: policy, named: Self.times([2: right]), machine.clock)
        }
        let clock = try LogClock(after: right - 60, policy: policy, named: Self.times([1: Self.now]), machine.clock)
        #expect(clock.epochTime() == right - 60, "one is not enough to name the time")
        clock.heard(try Self.times([1: Self.now, 2: right]), isEnough: false)
        #expect(clock.epochTime() == right && clock.fault == .ahead(seconds: days))
    }

    /// The attack: who is told that this machine's clock is behind sets it, and the log goes on two days ahead.
    @Test func aWitnessOfTheFutureIsNamed_andNobodyIsToldToSetARightClock() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now - 60, policy: Self.policy(Self.two), machine.clock)
        let days: UInt64 = 2 * 86_400
        let named = try Self.times([1: Self.now + days, 3: Self.now])
        clock.heard(named, isEnough: false)
        #expect(clock.fault == .disputed([WitnessClock(name: try Self.witness(1), ahead: Int64(days))]))
        machine.set(Self.now + days)
        clock.heard(named, isEnough: false)
        #expect(clock.time() == Self.now && clock.fault == .ahead(seconds: days))
        machine.set(Self.now)
        clock.heard(named, isEnough: true)
        #expect(clock.fault == nil)
        clock.heard(try Self.times([1: Self.now - 600, 2: Self.now, 3: Self.now]), isEnough: false)
        #expect(clock.fault == .disputed([WitnessClock(name: try Self.witness(1), ahead: -600)]))
        clock.heard(try Self.times([1: Self.now + 600, 2: Self.now + 700]), isEnough: false)
        #expect(clock.fault == .behind(seconds: 600), "two are a quorum")
    }

    /// What it said before does not count any more.
    @Test func aWitnessMayCorrectItself() throws {
        let machine = Machine()
        let clock = try Self.clock(after: Self.now, named: Self.now + Self.hour, machine)
        machine.set(Self.now + Self.hour)
        #expect(clock.time() == Self.now + Self.hour)
        clock.heard(try Self.times([1: Self.now]))
        #expect(clock.time() == Self.now && clock.lead == Self.hour)
    }

    /// The server's own clock cannot be asked, and has no opinion of the time that the others name.
    @Test(
        arguments: [
            ("quorum w1", [1: 7], 7), ("group seen 2 clock w1 w2\nquorum seen", [1: 1000, 2: 7], 1000),
            ("group seen 2 clock w1 w2\nquorum seen", [1: 7], 7),
            ("group seen 3 clock w1 w2\nquorum seen", [1: 1000, 2: 7], 7), (both, [1: 1000, 2: 7], 7),
        ] as [(String, [Int: UInt64], UInt64)])
    func theOwnClockConsents(quorum: String, named: [Int: UInt64], time: UInt64) throws {
        let machine = Machine()
        let clock = try Self.clock(
            after: Self.now - Self.hour, quorum, named: named.mapValues { Self.now + $0 }, machine)
        machine.set(Self.now + 3 * Self.hour)
        #expect(clock.time() == Self.now + time)
    }

    /// The attack: one of three witnesses, which has a clock that is a day behind or says so, holds back the time of a log that needs its own
    /// clock and two of them. No start was possible, or nothing was published any more.
    @Test func oneOfThreeWitnessesDoesNotHoldTheTimeBack_whereTheOwnClockIsNeededToo() throws {
        let machine = Machine()
        let day: UInt64 = 86_400
        let all: [Int: UInt64] = [1: Self.now, 2: Self.now, 3: Self.now - day]
        let start = try Self.clock(after: Self.now - 60, Self.both, named: all, machine)
        #expect(start.time() == Self.now && start.fault == nil)
        let running = try Self.clock(after: Self.now - 60, Self.both, machine)
        running.heard(try Self.times([3: Self.now - day]))
        #expect(running.time() == Self.now, "one is no quorum with the own clock")
        running.heard(try Self.times([1: Self.now, 3: Self.now - day]), isEnough: false)
        running.heard(try Self.times([1: Self.now, 2: Self.now]))
        machine.pass(Self.hour)
        #expect(running.time() == Self.now + Self.hour && running.lead == 0)
        let flat = try Self.clock(
            after: Self.now - 60, "group seen 2 clock w1 w2\nquorum seen", named: [1: Self.now + Self.hour], machine)
        flat.heard(try Self.times([2: Self.now - day]))
        #expect(flat.time() == Self.now + Self.hour)
    }

    /// Whatever the policy, and whatever the witnesses say that are not needed.
    @Test func whatAQuorumNamesIsRight_ifThoseThatAreRightAreAQuorumAndTheOthersAreNone() async throws {
        let times: [UInt64?] = [nil, Self.now - 86_400, Self.now, Self.now + 86_400]
        var (right, early, late, wrong) = (0, 0, 0, 0)
        for policy in try Self.smallPolicies() {
            await Task.yield()
            let names = policy.witnesses.map(\.name)
            for consents in 0...2 {
                let (consenting, asked) = (Set(names.prefix(consents)), names.dropFirst(consents))
                for choice in 0..<1 << (2 * asked.count) {
                    var named: [Policy.Name: UInt64] = [:]
                    for (place, name) in asked.enumerated() { named[name] = times[choice >> (2 * place) & 3] }
                    let time = policy.timeNamed(by: named, consenting: consenting)
                    func isQuorum(_ isOne: (UInt64) -> Bool) -> Bool {
                        policy.isQuorumMet(by: consenting.union(named.filter { isOne($0.value) }.keys))
                    }
                    let isNeeded = !policy.isQuorumMet(by: consenting)
                    wrong += (time != nil) == (isNeeded && isQuorum { _ in true }) ? 0 : 1
                    guard let time else { continue }
                    let (notEarly, notLate) = (isQuorum { $0 >= Self.now }, !isQuorum { $0 > Self.now })
                    wrong += (time >= Self.now) == notEarly && (time <= Self.now) == notLate ? 0 : 1
                    right += notEarly && notLate ? 1 : 0
                    early += notEarly ? 0 : 1
                    late += notLate ? 0 : 1
                }
            }
        }
        #expect(wrong == 0 && right > 0 && early > 0 && late > 0)
    }

    /// The policies of the server's own clock and three witnesses that need some of a group, which may be in another one.
    private static func smallPolicies() throws -> [Policy] {
        let names = ["clock", "w1", "w2", "w3"]
        return try (1..<16).flatMap { inner -> [Policy] in
            let members = names.indices.filter { inner >> $0 & 1 == 1 }.map { names[$0] }
            let rest = names.filter { !members.contains($0) }
            return try (1...members.count).flatMap { threshold -> [Policy] in
                let group = "group inner \(threshold) \(members.joined(separator: " "))\n"
                let alone = try policy(group + "quorum inner")
                let nested = try (0...rest.count).map { outer -> Policy in
                    let all = (["inner"] + rest).joined(separator: " ")
                    return try policy(group + "group outer \(outer + 1) \(all)\nquorum outer")
                }
                return [alone] + nested
            }
        }
    }

    /// The attack: nobody is asked before a checkpoint is published, so no round corrects what the clock was at the start. Epochs had the time of
    /// what was signed before, and everybody was locked out until the next start; or a machine that had stood still kept its old time.
    @Test(
        arguments: [
            ("quorum clock", []), ("quorum none", []), ("group seen any clock w1\nquorum seen", []),
            ("group seen 2 clock w1 w2\nquorum seen", [2]), ("group outside 2 w1 w2 w3\nquorum outside", [2, 3]),
        ] as [(String, [Int])])
    func theMachinesClockCounts_whereThoseThatConsentAreAQuorum(quorum: String, disregarding: [Int]) throws {
        let machine = Machine()
        let silent = try Self.clock(after: Self.now - 2 * Self.hour, quorum, disregarding: disregarding, machine)
        #expect(silent.epochTime() == Self.now)
        #expect(throws: ClockAhead(of: .witnesses, seconds: Self.hour), "a start compares it all the same") {
            try Self.clock(
                after: Self.now - 2 * Self.hour, quorum, disregarding: disregarding, named: [1: Self.now - Self.hour],
                machine)
        }
        let asked = try Self.clock(
            after: Self.now - 60, quorum, disregarding: disregarding, named: [1: Self.now], machine)
        machine.set(Self.now + Self.hour)
        #expect(asked.time() == Self.now + Self.hour && asked.epochTime() == Self.now + Self.hour)
        #expect(asked.fault == nil)
    }

    /// It cosigns, and a round may have no other answer than its own and that of one more: what that one names is enough.
    @Test func aDisregardedWitnessConsents() throws {
        let machine = Machine()
        let signed = Self.now - 2 * Self.hour
        let clock = try Self.clock(after: signed, Self.both, disregarding: [3], machine)
        clock.heard(try Self.times([3: Self.now - 86_400]), isEnough: false)
        #expect(clock.epochTime() == signed, "its word does not count")
        let ahead = -86_400 as Int64
        #expect(clock.fault == .disputed([WitnessClock(name: try Self.witness(3), ahead: ahead)]))
        clock.heard(try Self.times([1: Self.now, 3: Self.now - 86_400]))
        #expect(clock.epochTime() == Self.now && clock.fault == nil)
    }

    /// A server knows by its keys which of the witnesses it is itself.
    @Test(arguments: [false, true])
    func aServersOwnKeyConsents_andAWitnessThatIsDisregarded(disregards: Bool) async throws {
        let lines = "witness w1 \(try Self.key(1)) http://127.0.0.1:1\ngroup both all clock w1\nquorum both\n"
        try await withDataDirectory(witnesses: Array(lines.utf8)) { data in
            var guarding = RollbackGuard()
            if disregards { guarding.disregarded = [try Self.witness(1)] }
            let stored = try await StoredDirectory.open(data, guarding: guarding, logger: silent)
            let (clock, time) = (try #require(stored.clock), try #require(stored.directory.lastEpochTime))
            clock.heard(try Self.times([1: time - 86_400]))
            #expect((clock.fault?.kind == .ahead) == !disregards)
            await stored.directory.close()
        }
    }

    /// The attack: where two of this machine and two witnesses are enough, one of them says that it is a day later.
    @Test func oneOfTwoWitnessesDoesNotCallAClockBehind_withWhichTheOtherWouldBeAQuorum() throws {
        let machine = Machine()
        let day: UInt64 = 86_400
        let clock = try Self.clock(after: Self.now, "group seen 2 clock w1 w2\nquorum seen", machine)
        clock.heard(try Self.times([1: Self.now + day]), isEnough: false)
        #expect(clock.fault == .disputed([WitnessClock(name: try Self.witness(1), ahead: Int64(day))]))
        clock.heard(try Self.times([1: Self.now + day, 2: Self.now + day]), isEnough: false)
        #expect(clock.fault == .behind(seconds: day))
        let needed = try Self.clock(after: Self.now, Self.both, machine)
        needed.heard(try Self.times([1: Self.now + day, 2: Self.now + day]), isEnough: false)
        #expect(needed.fault == .behind(seconds: day), "there is no quorum without the two")
    }

    /// Between two minutes and five, the log followed the clock, no witness cosigned, and their operators were blamed.
    @Test(arguments: [(120, 0), (121, 121), (200, 200), (300, 300)] as [(UInt64, UInt64)])
    func aClockWithWhichNoQuorumWouldCosignIsNotFollowed(ahead: UInt64, lead: UInt64) throws {
        let machine = Machine()
        machine.set(Self.now + ahead)
        let all: [Int: UInt64] = [1: Self.now, 2: Self.now, 3: Self.now]
        let clock = try Self.clock(after: Self.now - 60, Self.both, named: all, machine)
        #expect(clock.lead == lead && clock.time() == Self.now + ahead - lead)
        #expect(clock.fault == (lead > 0 ? .ahead(seconds: lead) : nil))
    }

    @Test func whatIsWrongIsToldWhenItChanges() throws {
        let machine = Machine()
        let told = Mutex([ClockFault?]())
        let clock = try LogClock(after: Self.now, policy: Self.policy(Self.one), machine.clock) { fault in
            told.withLock { $0.append(fault) }
        }
        clock.heard(try Self.times([1: Self.now]))
        machine.set(Self.now + Self.hour)
        _ = clock.time()
        machine.set(Self.now + Self.hour + 1)
        _ = clock.time()
        machine.set(Self.now)
        _ = clock.time()
        clock.heard(try Self.times([1: Self.now + Self.hour]), isEnough: false)
        #expect(told.withLock { $0 } == [.ahead(seconds: Self.hour), nil, .behind(seconds: Self.hour)])
    }

    /// A witness that names a time of the future does not move the other limit.
    @Test func aWitnessOfTheFutureVouchesForNoLeap() throws {
        let machine = Machine()
        let clock = try Self.clock(after: Self.now, named: Self.now + 2 * Self.year, machine)
        machine.set(Self.now + Self.year)
        #expect(clock.time() == Self.now && clock.lead == Self.year)
    }

    /// A pause of more than a week wants a person's word, as after a week in which the server was off: all may go by one time server.
    @Test func aLongerPauseIsNotFollowed_evenIfAQuorumNamesIt() throws {
        let machine = Machine()
        let clock = try Self.clock(after: Self.now, named: Self.now, machine)
        for (pause, isFollowed) in [(LogClock.longestPause, true), (2 * LogClock.longestPause + 1, false)] {
            machine.set(Self.now + pause)
            clock.heard(try Self.times([1: Self.now + pause]), isEnough: false)
            #expect((clock.time() == Self.now + pause) == isFollowed && (clock.lead == 0) == isFollowed)
        }
    }

    @Test func aClockThatLeapsAheadOfTheWitnessesIsNotFollowed() throws {
        let machine = Machine()
        let clock = try Self.clock(after: Self.now, named: Self.now, machine)
        machine.pass(100)
        #expect(clock.time() == Self.now + 100)
        machine.set(Self.now + 100 + Self.hour)
        #expect(clock.time() == Self.now + 100 && clock.lead == Self.hour)
        machine.pass(50)
        #expect(clock.time() == Self.now + 150)
        machine.set(Self.now + 150)
        #expect(clock.time() == Self.now + 150 && clock.lead == 0)
    }

    /// A virtual machine stands still for an hour, and its clock is right afterwards: the first round with the witnesses says so.
    @Test func timeThatTheMachineDidNotCountIsFollowedOnceAWitnessNamesIt() throws {
        let machine = Machine()
        let clock = try Self.clock(after: Self.now, named: Self.now, machine)
        machine.set(Self.now + Self.hour)
        #expect(clock.time() == Self.now)
        clock.heard(try Self.times([1: Self.now + Self.hour - 2]))
        #expect(clock.time() == Self.now + Self.hour && clock.lead == 0)
    }

    /// The witnesses did not answer at the start, and say later that the clock was wrong then.
    @Test func aClockThatWasWrongFromTheStartIsNotFollowedOnceAWitnessNamesTheTime() throws {
        let machine = Machine()
        let clock = try Self.clock(after: Self.now - Self.hour, machine)
        #expect(clock.time() == Self.now)
        clock.heard(try Self.times([1: Self.now - Self.hour]))
        #expect(clock.time() == Self.now - Self.hour && clock.lead == Self.hour)
    }

    /// As long as it is asked now and then, any time may pass.
    @Test func timeThatPassesIsFollowed() throws {
        let machine = Machine()
        let clock = try LogClock(after: Self.now, machine.clock)
        for day in 1...400 as ClosedRange<UInt64> {
            machine.pass(86_400)
            #expect(clock.time() == Self.now + day * 86_400)
        }
        machine.pass(Self.year)
        #expect(clock.time() == Self.now + 400 * 86_400 + Self.year && clock.lead == 0)
    }

    /// A machine whose clock has no battery begins in 1970, until the network has set it.
    @Test func aClockThatWasBehindMayBeSet() throws {
        let machine = Machine()
        machine.set(0)
        let clock = try LogClock(after: Self.now, machine.clock)
        machine.pass(30)
        #expect(clock.time() == 30, "clients see an old checkpoint meanwhile")
        machine.set(Self.now + 40)
        #expect(clock.time() == Self.now + 40 && clock.lead == 0)
    }
}
