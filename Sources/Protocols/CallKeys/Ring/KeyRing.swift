// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import SFrame

/// The generations that frames may be under: one for each value of a frame's four bits, at most.
struct KeyRing {
    private(set) var generations: [UInt32: KeyGeneration] = [:]
    private var opener = FrameOpener()
    private var aliases: [CallDevice: MemberAlias] = [:]
    private var guesses: [UInt16: (since: UInt64, count: Int)] = [:]
    /// What a host announced of secrets that did not come with it.
    private var announced: [(epoch: Epoch, commitment: [UInt8])] = []
    private let suites: CallSuites
    private let times: CallTimes
    /// Outlives every generation.
    let sealers: FrameSealers

    /// Frames of steps ahead that a sender may make us try, in a second.
    private static let guessesPerSecond = 20

    init(suites: CallSuites, times: CallTimes, sealers: FrameSealers = FrameSealers()) {
        self.suites = suites
        self.times = times
        self.sealers = sealers
    }

    enum Verdict {
        case opened(OpenedFrame, from: CallDevice, generation: UInt32)
        case unknownGeneration
        case unknownSender
        case notEntitled
        case expired
        case replayed
        case anotherSender
        case notAuthentic
    }

    var newest: UInt32 { generations.keys.max() ?? 0 }

    /// Whether the secret of a generation of this tenure is there, and is the host's or has opened a frame of the host's.
    func isProven(_ generation: UInt32, in term: UInt32?) -> Bool {
        generations[generation].map { $0.isProven && $0.scope.term == term } ?? false
    }

    func term(of generation: UInt32) -> UInt32? { generations[generation]?.scope.term }

    /// Whether a frame of this member was opened under this generation or a later one.
    func hasHeard(_ index: UInt16, since generation: UInt32) -> Bool {
        generations.values.contains { $0.scope.generation >= generation && $0.heard[index] != nil }
    }

    func newestEpoch(of generation: UInt32) -> Epoch? { generations[generation]?.newest.epoch }

    /// Whether another secret of a generation is there than the one that this announces.
    func contradicts(_ commitment: [UInt8], of generation: UInt32) -> Bool {
        generations[generation]?.commitment.map { $0 != commitment } ?? false
    }

    /// Whether a secret is the one that this device knows of, by having it proven or by its announcement; nil if it knows of none. An
    /// announcement says nothing of later steps.
    func fits(_ secret: GroupSecret, _ epoch: Epoch, in callID: CallID) -> Bool? {
        if let known = generations[epoch.generation], known.isProven, known.scope.term == epoch.term {
            return known.isSame(as: secret, at: epoch.step)
        }
        let scope = CallScope(callID: callID, term: epoch.term, generation: epoch.generation)
        return announced.first { $0.epoch == epoch }.map { $0.commitment == secret.commitment(in: scope) }
    }

    // MARK: Keys come and go

    /// This many announcements are remembered, the newest.
    private static let announcementCount = 16

    /// Remembers what a host announced of a secret that is not there.
    mutating func remember(_ commitment: [UInt8], of epoch: Epoch) {
        guard !announced.contains(where: { $0.epoch == epoch }) else { return }
        if announced.count >= Self.announcementCount { announced.removeFirst() }
        announced.append((epoch, commitment))
    }

    /// Takes a secret in. One that is there already stays, unless nothing has proven it, or it is of another tenure and this one of
    /// the tenure of our host: two that host apart give the same numbers. Of the generations whose numbers end in the same four bits
    /// one stays: an unproven one never replaces a proven one.
    mutating func install(
        _ scope: CallScope, step: UInt8, secret: GroupSecret, members: [UInt16: CallDevice], isProven: Bool,
        hostTerm: UInt32, at now: UInt64
    ) {
        var keyIDs: Set<UInt64> = []
        if let known = generations[scope.generation] {
            let isOutranked = isProven && scope.term != known.scope.term && scope.term == hostTerm
            let isSame = !known.isProven && known.scope == scope && known.isSame(as: secret, at: step)
            if !isOutranked && (known.isProven || isSame && known.firstStep <= step) {
                generations[scope.generation]?.members.merge(members) { known, _ in known }
                if isProven { generations[scope.generation]?.isProven = true }
                return
            }
            // A member gave a later step of the same secret: what was opened under it stays opened.
            if isSame { keyIDs = known.keyIDs }
            isSame ? generations[scope.generation] = nil : remove(scope.generation)
        }
        let others = generations.keys.filter { $0 & 15 == scope.generation & 15 }
        guard isProven || !others.contains(where: { generations[$0]?.isProven ?? false }) else { return }
        for other in others { remove(other) }
        generations[scope.generation] = KeyGeneration(
            scope, step: step, secret: secret, members: members, isProven: isProven, at: now)
        generations[scope.generation]?.keyIDs = keyIDs
    }

    /// From now on no other secret takes the place of this one.
    mutating func prove(_ generation: UInt32) { generations[generation]?.isProven = true }

    mutating func remove(_ generation: UInt32) {
        guard let known = generations.removeValue(forKey: generation) else { return }
        for keyID in known.keyIDs { opener.remove(keyID: keyID) }
        sealers.end(known.scope)
    }

    mutating func removeAll() {
        for generation in generations.values { sealers.end(generation.scope) }
        self = KeyRing(suites: suites, times: times, sealers: sealers)
    }

    mutating func advance(_ generation: UInt32, to step: UInt8, at now: UInt64) {
        generations[generation]?.advance(to: step, at: now)
    }

    mutating func setMembers(_ members: [UInt16: CallDevice], of generation: UInt32) {
        generations[generation]?.members = members
    }

    /// Begins the retention of all before `generation`.
    mutating func retire(before generation: UInt32, at now: UInt64) {
        for old in generations.keys where old < generation && generations[old]?.retiredAt == nil {
            generations[old]?.retiredAt = now
        }
    }

    /// Wipes what is no longer needed; `current` is the generation in use.
    mutating func wipe(current: UInt32, at now: UInt64) {
        for (number, generation) in generations {
            for step in generations[number]?.forgetSteps(replacedBefore: Self.before(now, times.stepRetention)) ?? [] {
                forgetKeys(of: number, step: step)
            }
            let isOver = generation.retiredAt.map { now >= $0 + times.sessionRetention } ?? false
            let isUnused = number > current && now >= generation.installedAt + times.futureRetention
            if isOver || isUnused || isLeftBehind(generation, at: now) { remove(number) }
        }
    }

    private mutating func forgetKeys(of number: UInt32, step: UInt8) {
        if let scope = generations[number]?.scope { sealers.end(scope, step: step) }
        for keyID in generations[number]?.keyIDs ?? [] where keyID & 15 == UInt64(step) {
            opener.remove(keyID: keyID)
            generations[number]?.keyIDs.remove(keyID)
        }
    }

    private static func before(_ now: UInt64, _ duration: UInt64) -> UInt64 { now > duration ? now - duration : 0 }

    /// Whether every member that was sending has been heard under a later generation, a while ago.
    private func isLeftBehind(_ generation: KeyGeneration, at now: UInt64) -> Bool {
        guard let retiredAt = generation.retiredAt else { return false }
        let later = generations.values.filter { $0.scope.generation > generation.scope.generation }
        var movedAt = retiredAt
        for (index, moments) in generation.heard where moments.last + 5000 >= retiredAt {
            guard let moved = later.compactMap({ $0.heard[index]?.first }).min() else { return false }
            movedAt = max(movedAt, moved)
        }
        return now >= movedAt + times.wipeDelay
    }

    // MARK: Frames

    /// The one sealer of an epoch's key; nil if there is no such key, or if it was wiped after use.
    func sealer(_ index: UInt16, _ context: MediaContext, _ epoch: Epoch) -> FrameSealer? {
        guard let scope = generations[epoch.generation]?.scope else { return nil }
        return sealers.sealer(FrameSealers.Name(scope, step: epoch.step, index: index, context: context)) {
            frameKey(index, context, epoch)
        }
    }

    /// The key of any member's frames.
    func frameKey(_ index: UInt16, _ context: MediaContext, _ epoch: Epoch) -> FrameKey? {
        let keyID = CallKeyID(index: index, context: context, generation: epoch.generation, step: epoch.step)
        return generations[epoch.generation]?.mediaKey(epoch.step).flatMap { suites.frameKey($0, keyID) }
    }

    mutating func open(_ held: HoldBuffer.Held, at now: UInt64) -> Verdict {
        let keyID = held.keyID
        guard let number = generations.keys.first(where: { $0 & 15 == UInt32(keyID.generationBits) }),
            let generation = generations[number]
        else { return .unknownGeneration }
        guard let sender = generation.members[keyID.index] else { return .unknownSender }
        if let alias = held.carriedFor, alias != self.alias(of: sender, generation.scope.callID) {
            return .anotherSender
        }
        let isProven = generation.isProven
        guard keyID.step >= generation.firstStep else { return isProven ? .notEntitled : .unknownGeneration }
        if let retiredAt = generation.retiredAt, now > retiredAt + times.retention(keyID.context) { return .expired }
        let isAhead = keyID.step > generation.headStep
        let isGuess = isAhead && !generation.keyIDs.contains(keyID.rawValue)
        if isGuess, !mayGuess(keyID.index, at: now) { return isProven ? .expired : .unknownGeneration }
        guard isAhead || generation.mediaKey(keyID.step) != nil else { return .expired }
        return open(held.frame, keyID, number, sender, isGuess: isGuess, at: now)
    }

    private mutating func open(
        _ frame: [UInt8], _ keyID: CallKeyID, _ number: UInt32, _ sender: CallDevice, isGuess: Bool, at now: UInt64
    ) -> Verdict {
        deriveKey(keyID, of: number, isGuess: isGuess)
        do throws(FrameOpenError) {
            let opened = try opener.open(frame)
            generations[number]?.hear(keyID.index, at: now)
            return .opened(opened, from: sender, generation: number)
        } catch {
            if isGuess { forget(keyID, of: number) }
            if case .replay = error { return .replayed }
            // A secret that may be wrong takes no frame away that the right one opens.
            return generations[number]?.isProven == true ? .notAuthentic : .unknownGeneration
        }
    }

    private mutating func deriveKey(_ keyID: CallKeyID, of number: UInt32, isGuess: Bool) {
        guard let generation = generations[number], !generation.keyIDs.contains(keyID.rawValue) else { return }
        guard let mediaKey = isGuess ? generation.mediaKey(ahead: keyID.step) : generation.mediaKey(keyID.step),
            let key = suites.frameKey(mediaKey, keyID)
        else { return }
        opener.insert(key)
        generations[number]?.keyIDs.insert(keyID.rawValue)
    }

    private mutating func forget(_ keyID: CallKeyID, of number: UInt32) {
        opener.remove(keyID: keyID.rawValue)
        generations[number]?.keyIDs.remove(keyID.rawValue)
    }

    private mutating func alias(of device: CallDevice, _ call: CallID) -> MemberAlias {
        if let alias = aliases[device] { return alias }
        let alias = MemberAlias(of: device, in: call)
        aliases[device] = alias
        return alias
    }

    private mutating func mayGuess(_ index: UInt16, at now: UInt64) -> Bool {
        if now >= (guesses[index]?.since ?? 0) + 1000 { guesses[index] = (now, 0) }
        guesses[index]?.count += 1
        return (guesses[index]?.count ?? 0) <= Self.guessesPerSecond
    }
}
