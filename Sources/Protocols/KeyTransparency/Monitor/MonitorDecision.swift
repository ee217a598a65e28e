// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// Something in the own account's history that its owner did not do. Each names what to ask oneself.
public enum MonitorAlarm: Hashable, Sendable {
    /// A device's key was logged that no state of the owner's lists: Ed25519, 32 bytes.
    case unknownDevice([UInt8])
    /// A version was logged that the owner did not make.
    case unknownVersion(UInt64)
    /// A version was logged that the owner did not make, and the directory does not show it.
    case withheldVersion(UInt64)
    /// The identity key was replaced without the old one.
    case reset(version: UInt64)
    /// A recovery was begun, and is under way.
    case recovery(version: UInt64)
    /// A recovery was begun, and is over: it was stopped, it was completed, or another one took its place.
    case formerRecovery(version: UInt64)
    /// Guardians gave the identity to another device.
    case recovered(version: UInt64)
    /// Guardians gave the identity to another device, and the log does not show that the delay for objections passed, or less
    /// than the delay has passed on this device since the last look, which did not show the request.
    case rushed(version: UInt64)
    /// The account was closed.
    case closed(version: UInt64)
    /// The directory broke a rule: versions step by one.
    case wrongStep(expected: UInt64, found: UInt64)
    /// A state does not name the one before it, or has another identity key without a reset.
    case doesNotFollow(version: UInt64)
    /// The directory denies the account.
    case vanished
    /// At a milestone the index did not say what it should.
    case milestone(MilestoneFault)
    /// The account was not looked at for so long that what the index said of it on these days since 1970 can no longer
    /// be shown.
    case unseenDays(Range<UInt64>)
}

/// Compares a verified history with what the owner did.
///
/// Every entry has to be explained: a state by an act of the owner's, a device's key by the state that follows it.
public struct MonitorDecision: Hashable, Sendable {
    /// What is not explained, in the order of the log; empty when all is well.
    public private(set) var alarms: [MonitorAlarm] = []
    /// The watch if everything is, or is declared to be, the owner's own doing.
    public private(set) var watch: OwnWatch

    private let acts: [OwnAct]
    private var version: UInt64
    private var stateHash: [UInt8]
    private var last: AccountState?
    private var devices: [[UInt8]]
    /// The hash of the recovery that is under way after the last state; nil if none is.
    private var underWay: [UInt8]?
    /// Whether the next state is the first in a log that goes on where another one ended: it repeats the last one there.
    private var isFirstInLog: Bool
    /// Versions by which the identity was taken over without the delay, although the request is among the new entries.
    private let rushed: Set<UInt64>
    /// Device keys logged since the last state.
    private var pending: [[UInt8]] = []

    /// Decides about the entries since `watch`.
    ///
    /// - Parameters:
    ///   - look: when the look ended that `watch` is of, by this device's clock, in seconds since 1970; nil if that is not known.
    ///   - now: the same clock; nil compares nothing with it.
    public init(
        _ history: VerifiedHistory, since watch: OwnWatch, acts: [OwnAct], lookedAt look: UInt64? = nil,
        at now: UInt64? = nil
    ) {
        self.watch = watch
        self.acts = acts
        version = watch.version
        stateHash = watch.stateHash
        devices = watch.devices
        isFirstInLog = history.known.size == 0 && watch.version > 0
        rushed = Self.rushed(in: history, since: watch, lookedAt: look, at: now)
        for entry in history.entries { take(entry) }
        self.watch = OwnWatch(
            history: history.frontier, version: version, stateHash: stateHash, devices: devices,
            milestone: watch.milestone)
    }

    /// Takes everything that was found for the owner's own doing.
    public mutating func accept() { alarms = [] }

    /// Adds an alarm that the history alone does not show.
    public mutating func raise(_ alarm: MonitorAlarm) { alarms.append(alarm) }

    /// Remembers a milestone.
    public mutating func check(at milestone: MilestoneMark) { watch = watch.checked(at: milestone) }

    private mutating func take(_ entry: HistoryEntry) {
        switch entry {
        case .device(let key): pending.append(key)
        case .state(let record, let state): take(record, state)
        case .withheld(let record):
            step(to: record.version)
            let act = acts.first { $0.version == record.version && $0.commitment == record.commitment }
            if let act {
                raiseAboutPending(except: act.devices)
            } else {
                alarms.append(
                    record.kind == .reset ? .reset(version: record.version) : .withheldVersion(record.version))
                raiseAboutPending(except: devices)
            }
            settle(record.version, hash: act?.stateHash ?? OwnWatch.beginning.stateHash, state: nil)
        case .closed(let record):
            step(to: record.version)
            endRecoveries()
            alarms.append(.closed(version: record.version))
            raiseAboutPending(except: devices)
            settle(record.version, hash: OwnWatch.beginning.stateHash, state: nil)
        }
    }

    private mutating func take(_ record: StateRecord, _ state: AccountState) {
        let isKnown = state.hash == stateHash && state.version == version
        let isNext = !isFirstInLog || record.version == version &+ 1
        step(to: record.version)
        if !isKnown, isNext { checkOrder(record, state) }
        if state.pendingRecovery != underWay { endRecoveries() }
        underWay = state.pendingRecovery
        if isKnown || acts.contains(where: { $0.version == state.version && $0.stateHash == state.hash }) {
            raiseAboutPending(except: state.devices.map(\.keys.signing))
        } else {
            alarms.append(alarm(about: record, state))
            raiseAboutPending(except: devices)
        }
        settle(state.version, hash: state.hash, state: state)
    }

    private static func rushed(
        in history: VerifiedHistory, since watch: OwnWatch, lookedAt look: UInt64?, at now: UInt64?
    ) -> Set<UInt64> {
        var versions: Set<UInt64> = []
        let joined = JoinedHistory(history)
        for (place, entry) in history.entries.enumerated() {
            guard case .state(let record, let state) = entry, case .recovered(let succession) = state.step else {
                continue
            }
            // A request that was looked at before is not shown again, but as the first state of a log that goes on, and cannot
            // be compared here.
            let isNew = history.entries.prefix(place).contains {
                $0.start?.hash == succession.start.hash && $0.state?.hash != watch.stateHash
            }
            let isInTime =
                joined.showsDelay(of: succession, at: place) && joined.showsTimeOfFormer(in: succession, at: place)
                && hadTime(succession.start, since: look, at: now)
            if isNew, !isInTime { versions.insert(record.version) }
        }
        return versions
    }

    /// Whether this device's clock leaves room for the delay.
    private static func hadTime(_ start: RecoveryStart, since look: UInt64?, at now: UInt64?) -> Bool {
        guard let look, let now else { return true }
        return RecoveryDelay.couldHavePassed(start.commitment.delay, sinceLookAt: look, at: now)
    }

    private func alarm(about record: StateRecord, _ state: AccountState) -> MonitorAlarm {
        if record.kind == .reset { return .reset(version: state.version) }
        if case .recovered = state.step {
            return rushed.contains(state.version) ? .rushed(version: state.version) : .recovered(version: state.version)
        }
        return state.pendingRecovery == nil ? .unknownVersion(state.version) : .recovery(version: state.version)
    }

    /// What was under way until here is nothing that could be stopped any more.
    private mutating func endRecoveries() {
        alarms = alarms.map { if case .recovery(let version) = $0 { .formerRecovery(version: version) } else { $0 } }
    }

    /// Rule S.
    private mutating func step(to found: UInt64) {
        defer { isFirstInLog = false }
        if isFirstInLog, found >= version { return }
        guard version == UInt64.max || found != version + 1 else { return }
        alarms.append(.wrongStep(expected: version &+ 1, found: found))
    }

    /// A next state names the one before it, and only a recovery or a reset changes the identity key.
    private mutating func checkOrder(_ record: StateRecord, _ state: AccountState) {
        let isKnownHash = stateHash != OwnWatch.beginning.stateHash || version == 0
        let follows = !isKnownHash || state.previous == stateHash
        let keepsIdentity = last.map { $0.identityKey == state.identityKey || $0.isFollowed(by: state) } ?? true
        if !follows || (record.kind == .set && !keepsIdentity) { alarms.append(.doesNotFollow(version: state.version)) }
    }

    private mutating func raiseAboutPending(except known: [[UInt8]]) {
        alarms += pending.filter { !known.contains($0) }.map { .unknownDevice($0) }
    }

    private mutating func settle(_ version: UInt64, hash: [UInt8], state: AccountState?) {
        for key in pending + (state?.devices.map(\.keys.signing) ?? []) where !devices.contains(key) {
            devices.append(key)
        }
        pending = []
        self.version = version
        stateHash = hash
        last = state
    }
}
