// SPDX-License-Identifier: Apache-2.0

import LogWitness
import Synchronization
package import TransparencyLog

/// The clock by which a log of one machine gets its times: that of the machine, unless it is far ahead of what the log has signed, or of the
/// witnesses.
///
/// An epoch with a time that has not come yet cannot be taken back: clients refuse the log until it has come. So a clock that leaps by more than
/// ``longestPause`` is not followed while the server runs, whatever the witnesses say; nor one that is so far ahead of the time that a quorum of
/// them names that no quorum would cosign at it. A start with a clock that is ahead of the log by that pause, or of the witnesses by more than
/// clients allow, wants the operator's word.
///
/// A quorum names the latest time such that the clocks at it or later make a quorum, as clients date a checkpoint. The server's own keys cosign
/// at whatever time the log has, so they have no opinion of it, and those that the operator disregards are given none: they consent
/// (`Policy.timeNamed`). If those that consent are a quorum without the others, checkpoints are published
/// without an answer of any other, and the running server goes by the machine's clock, as where there is no witness. Otherwise nothing
/// is published without answers by which a quorum names the time. Until one has, epochs get no later time than the log had, and what has passed
/// since: nobody could publish them, and they cannot be taken back. If the operator has vouched for the clock, that ends with the first
/// answer of a witness that names a time, or that it does not cosign now (503), and the latest time that any of them names is the limit: an auditor
/// cosigns no new checkpoint that ends in an old epoch, and names no time without a new one.
///
/// What a witness has named last counts for as long as the server runs: if it was forgotten, nothing would hold back a clock that leaps while no
/// witness answers. It does not hold the time back against the others, because a round goes on until the answers in it are a quorum's, and what
/// was named before makes their time no earlier.
///
/// Security: where no witness is needed, a smaller error is followed; clients refuse the log for as long as it was ahead. The same goes for an
/// error that so many witnesses share that they are a quorum with those that consent. So many witnesses whose clocks are behind that the others
/// are no quorum with those that consent hold the log's time back.
package final class LogClock: Sendable {
    /// A server may be off, or a machine stand still, for so long that the log need not be told by a person: a week, in seconds.
    package static let longestPause: UInt64 = 7 * 86_400
    /// Witnesses that are further from the log's time do not count as cosigning, in seconds.
    private static let tolerance = WitnessQuorum.Configuration().tolerance

    /// A time in seconds since 1970, and when it was that, in nanoseconds that never go back.
    private struct Moment {
        var time: UInt64
        var uptime: UInt64

        /// What time it is at a later moment.
        func now(at uptime: UInt64) -> UInt64 {
            time + (uptime > self.uptime ? (uptime - self.uptime) / 1_000_000_000 : 0)
        }
    }

    private struct State {
        /// The latest time that the log has.
        var newest: Moment
        /// What each witness has named last.
        var named: [Policy.Name: Moment] = [:]
        /// What a quorum of them names.
        var witnessed: Moment?
        /// How far the machine's clock is ahead, in seconds, while it is not followed.
        var lead: UInt64 = 0
        /// What else is wrong with it by the witnesses, while too few of them cosign.
        var dispute: ClockFault?
        /// How far epochs are behind, in seconds, until a quorum names the time.
        var hold: UInt64 = 0
        /// Whether a witness has named a time since the start, or has refused as an auditor does.
        var isAnswered = false
        /// Whether too few cosigned in the last round, and one of the others refused as an auditor does.
        var isRefused = false
        /// The last that ``changed`` was told.
        var told: ClockFault.Kind?

        var fault: ClockFault? {
            guard lead == 0 else { return .ahead(seconds: lead) }
            return dispute ?? (isRefused && hold > LogClock.tolerance ? .unnamed(seconds: hold) : nil)
        }
    }

    private let clock: ServerClock
    private let policy: Policy?
    private let consenting: Set<Policy.Name>
    private let changed: @Sendable (ClockFault?) -> Void
    /// What was signed last; epochs go by its time until a quorum has named the time. Nil: no witness is waited for.
    private let signed: Moment?
    private let isAccepted: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - newest: the time of what the log signed last, in seconds since 1970; nil: it has signed nothing.
    ///   - policy: the clients'. Those of its witnesses that have an address will name the time; nil: there are none.
    ///   - consenting: those of its witnesses that cosign and whose clocks say nothing: the server's own, and those that are disregarded.
    ///   - named: what time it is by the clocks of the witnesses that answer now, in seconds since 1970.
    ///   - isAccepted: whether the operator vouches for what the machine's clock is now. The start is not refused then, and epochs go by it as
    ///     soon as a witness names a time or refuses as an auditor does; what the witnesses name counts all the same.
    ///   - changed: gets what is wrong with the machine's clock when it is something else than before; nil: nothing any more.
    /// - Throws: ``ClockAhead``: nothing may be signed by this clock.
    package init(
        after newest: UInt64?, policy: Policy? = nil, consenting: Set<Policy.Name> = [],
        named: [Policy.Name: UInt64] = [:], isAccepted: Bool = false,
        _ clock: ServerClock = .system, changed: @escaping @Sendable (ClockFault?) -> Void = { _ in }
    ) throws(ClockAhead) {
        let (now, uptime) = (clock.time(), clock.uptime())
        let newest = newest ?? now
        if !isAccepted {
            // Too few answer to be a quorum: if all of them say that it is wrong, it is not taken for right.
            let witnessed = policy?.timeNamed(by: named, consenting: consenting) ?? named.values.max()
            if let witnessed, now > witnessed, now - witnessed > Readiness.clockSkew {
                throw ClockAhead(of: .witnesses, seconds: now - witnessed)
            }
            try ClockAhead.check(now, after: newest)
        }
        self.clock = clock
        self.policy = policy
        self.consenting = consenting
        self.changed = changed
        self.isAccepted = isAccepted
        let isWitnessed = policy.map { $0.isWaitedFor && !$0.isQuorumMet(by: consenting) } ?? false
        signed = isWitnessed ? Moment(time: newest, uptime: uptime) : nil
        state = Mutex(State(newest: Moment(time: max(newest, now), uptime: uptime)))
        heard(named)
    }

    /// Takes down what time it is by the clocks of witnesses that have just answered, in seconds since 1970. What each said last counts.
    ///
    /// - Parameters:
    ///   - isEnough: whether enough witnesses have cosigned in the same round.
    ///   - isRefused: whether one has answered that it does not cosign now, as an auditor does where the last epoch is old.
    package func heard(_ times: [Policy.Name: UInt64], isEnough: Bool = true, isRefused: Bool = false) {
        guard let policy, !times.isEmpty || isRefused else { return }
        let (now, uptime) = (clock.time(), clock.uptime())
        state.withLock { state in
            state.isAnswered = true
            state.isRefused = isRefused && !isEnough
            for (name, time) in times { state.named[name] = Moment(time: time, uptime: uptime) }
            let named = state.named.mapValues { $0.now(at: uptime) }
            let time = policy.timeNamed(by: named, consenting: consenting)
            state.witnessed = time.map { Moment(time: $0, uptime: uptime) }
            guard !times.isEmpty else { return }
            state.dispute = isEnough ? nil : dispute(times, among: named, agreed: time, policy, now)
        }
        _ = self.time()
    }

    /// What is wrong by the witnesses when too few of them cosign: because of this machine's clock, or of theirs.
    ///
    /// It is this machine's that is behind if a quorum names a later time, and no quorum can do without those that name one: with two of this
    /// machine and two witnesses, one witness alone is as likely to be wrong.
    private func dispute(
        _ times: [Policy.Name: UInt64], among named: [Policy.Name: UInt64], agreed: UInt64?, _ policy: Policy,
        _ now: UInt64
    ) -> ClockFault? {
        let latest = now + Self.tolerance
        let others = policy.witnesses.map(\.name).filter { consenting.contains($0) || named[$0] ?? 0 <= latest }
        if let agreed, agreed > latest, !policy.isQuorumMet(by: Set(others)) { return .behind(seconds: agreed - now) }
        let far = times.filter { max($0.value, now) - min($0.value, now) > Self.tolerance }
        guard !far.isEmpty else { return nil }
        return .disputed(
            far.map { WitnessClock(name: $0.key, ahead: Int64(clamping: $0.value) - Int64(clamping: now)) }
                .sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) })
    }

    /// Seconds since 1970.
    package func time() -> UInt64 { times().now }

    /// For what is logged and signed, in seconds since 1970.
    package func epochTime() -> UInt64 { times().epoch }

    private func times() -> (now: UInt64, epoch: UInt64) {
        let (now, uptime) = (clock.time(), clock.uptime())
        let (believed, hold, fault, isNews): (UInt64, UInt64, ClockFault?, Bool) = state.withLock { state in
            let passed = state.newest.now(at: uptime).allowing(Self.longestPause, for: now)
            let named = state.witnessed?.now(at: uptime).allowing(Self.tolerance, for: now) ?? now
            let believed = min(passed, named)
            state.lead = now - believed
            if believed == now, now > state.newest.time { state.newest = Moment(time: now, uptime: uptime) }
            state.hold = believed - held(believed, state, uptime)
            let fault = state.fault
            let isNews = fault?.kind != state.told
            state.told = fault?.kind
            return (believed, state.hold, fault, isNews)
        }
        if isNews { changed(fault) }
        return (believed, believed - hold)
    }

    /// The latest time that an epoch may have, at most this one.
    private func held(_ time: UInt64, _ state: State, _ uptime: UInt64) -> UInt64 {
        guard let signed, state.witnessed == nil else { return time }
        var latest = signed.now(at: uptime)
        if isAccepted, state.isAnswered {
            let named = state.named.filter { !consenting.contains($0.key) }.values.map { $0.now(at: uptime) }
            latest = max(latest, named.max() ?? time)
        }
        return min(time, latest)
    }

    /// How far the machine's clock is ahead of the one that is in use, in seconds; 0: it is in use itself.
    package var lead: UInt64 {
        _ = time()
        return state.withLock { $0.lead }
    }

    /// What is wrong with the machine's clock; nil: nothing is known.
    package var fault: ClockFault? {
        _ = time()
        return state.withLock { $0.fault }
    }
}

/// What is wrong with a machine's clock, or with those of its witnesses.
package enum ClockFault: Hashable, Sendable {
    /// It is so many seconds ahead of the time that has passed, or that a quorum of the witnesses names, and the log does not follow it.
    case ahead(seconds: UInt64)
    /// It is so many seconds behind the time that a quorum of the witnesses names, so that they do not cosign.
    case behind(seconds: UInt64)
    /// Too few witnesses cosign, because of these whose clocks are elsewhere. No quorum says that this machine's is wrong.
    case disputed([WitnessClock])
    /// Since the start no quorum has named the time, and a witness refuses: epochs are dated so many seconds behind this machine's clock.
    case unnamed(seconds: UInt64)

    /// Which of them it is.
    enum Kind: Hashable { case ahead, behind, disputed, unnamed }

    var kind: Kind {
        switch self {
        case .ahead: .ahead
        case .behind: .behind
        case .disputed: .disputed
        case .unnamed: .unnamed
        }
    }
}

/// How far a witness's clock is from this machine's.
package struct WitnessClock: Hashable, Sendable {
    /// The witness's name in the policy.
    package let name: Policy.Name
    /// By so many seconds it is ahead of this machine's; negative: behind.
    package let ahead: Int64

    package init(name: Policy.Name, ahead: Int64) { (self.name, self.ahead) = (name, ahead) }
}

extension Policy {
    /// The latest time such that the clocks at it or later make a quorum, as clients date a checkpoint.
    ///
    /// Those that consent cosign at any time, so they are with the latest clock: at an earlier one they would help a clock that is behind to
    /// hold the time back, against others that are a quorum with them. For "is the machine's clock later than this", it is the same whether they
    /// are there or at the machine's clock, because a quorum's time is made of nothing but the earliest and the latest of times.
    ///
    /// - Parameters:
    ///   - times: what witnesses name, in seconds since 1970.
    ///   - consenting: witnesses whose clocks do not count, and that cosign.
    /// - Returns: nil: those that have named a time are no quorum with those that consent; or those that consent are one by themselves, so that
    ///   nothing depends on what the others say.
    func timeNamed(by times: [Name: UInt64], consenting: Set<Name>) -> UInt64? {
        guard let latest = times.values.max(), !isQuorumMet(by: consenting) else { return nil }
        var times = times
        for witness in verifiableWitnesses where consenting.contains(witness.name) { times[witness.name] = latest }
        do { return try quorumTime(of: times) } catch { return nil }
    }

    /// Whether a server with this policy asks a witness before it publishes.
    fileprivate var isWaitedFor: Bool { witnesses.contains { $0.url != nil } }
}

extension UInt64 {
    /// A clock's time if it is ahead of this one by no more than so many seconds; otherwise this one.
    fileprivate func allowing(_ seconds: UInt64, for clock: UInt64) -> UInt64 {
        clock > self && clock - self > seconds ? self : clock
    }
}

/// The machine's clock is ahead.
public struct ClockAhead: Error, Hashable, Sendable {
    /// Of what a clock can be ahead.
    public enum Reference: Hashable, Sendable {
        /// The time of what the log signed last.
        case log
        /// The time that the witnesses name.
        case witnesses
    }

    /// What it is ahead of.
    public let of: Reference
    /// By so many seconds.
    public let seconds: UInt64

    /// Demands that a time is at most ``LogClock/longestPause`` after what a log signed last, both in seconds since 1970.
    static func check(_ now: UInt64, after signed: UInt64) throws(ClockAhead) {
        guard now <= signed || now - signed <= LogClock.longestPause else {
            throw ClockAhead(of: .log, seconds: now - signed)
        }
    }
}
