// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// Decides when a private key may be used: the person is asked, each time, what for.
///
/// A value without clock: times are seconds of a clock that does not go back while the device runs. Keep ``encoded``
/// after every answer, so that a restart does not forget a cooldown.
public struct PresenceGate: Hashable, Sendable {
    /// The rules.
    public let policy: PresencePolicy
    /// Wrong answers in a row.
    public private(set) var failures = 0
    /// Until when nothing is asked.
    public private(set) var blockedUntil: UInt64 = 0

    private var lastTouch: UInt64?
    private var outstanding: PresencePrompt?
    private var last: (action: PresenceAction, time: UInt64)? {
        get { lastAction.map { ($0, lastTime) } }
        set { (lastAction, lastTime) = (newValue?.action, newValue?.time ?? 0) }
    }
    private var lastAction: PresenceAction?
    private var lastTime: UInt64 = 0
    private var nextNumber: UInt64 = 1

    /// A gate that is locked.
    public init(policy: PresencePolicy = .standard) { self.policy = policy }

    /// Whether the program has to be unlocked first. A clock that went back locks too.
    public func isLocked(at now: UInt64) -> Bool {
        guard let lastTouch, now >= lastTouch else { return true }
        return now - lastTouch >= policy.autoLockAfter
    }

    /// The person did something that needs no key. Keeps an unlocked program unlocked.
    public mutating func touch(at now: UInt64) {
        if !isLocked(at: now) { lastTouch = now }
    }

    /// Locks at once.
    public mutating func lock() { (lastTouch, outstanding, last) = (nil, nil, nil) }

    /// What has to happen before a key may be used for `action`. A question that was not answered yet becomes void.
    ///
    /// - Parameter unlocking: the answer unlocks as well. For a program that was started for this one action: its person
    ///   is asked once, by name of the action. A program that stays open asks for ``PresenceAction/unlock`` by itself.
    public mutating func ask(
        _ action: PresenceAction, at now: UInt64, unlocking: Bool = false
    ) -> PresenceStep {
        outstanding = nil
        guard now >= blockedUntil else { return .wait(until: blockedUntil) }
        guard action == .unlock || unlocking || !isLocked(at: now) else { return .unlockFirst }
        let (end, overflow) = now.addingReportingOverflow(policy.promptLifetime)
        let prompt = PresencePrompt(action: action, number: nextNumber, expires: overflow ? .max : end)
        nextNumber += 1
        outstanding = prompt
        return isWaived(action, at: now) ? .waived(prompt) : .prompt(prompt)
    }

    /// Takes the answer. Gives the one grant that the answer is good for.
    ///
    /// - Throws: ``PresenceError``: nothing may be used.
    public mutating func settle(
        _ prompt: PresencePrompt, _ outcome: PresenceOutcome, at now: UInt64
    ) throws(PresenceError) -> PresenceGrant {
        guard prompt == outstanding else { throw .notAsked }
        outstanding = nil
        guard now < prompt.expires else { throw .tooLate }
        switch outcome {
        case .declined: throw .declined
        case .failed:
            failures += 1
            let (end, overflow) = now.addingReportingOverflow(policy.cooldown(afterFailures: failures))
            blockedUntil = max(blockedUntil, overflow ? .max : end)
            throw .failed(blockedUntil: blockedUntil > now ? blockedUntil : nil)
        case .present:
            (failures, lastTouch, last) = (0, now, (prompt.action, now))
            return PresenceGrant(prompt.action)
        }
    }

    private func isWaived(_ action: PresenceAction, at now: UInt64) -> Bool {
        guard let last, last.action == action, now >= last.time else { return false }
        return now - last.time < policy.reuseWindow
    }
}

extension PresenceGate {
    private static let format = Array("signet-presence/v1\n".utf8)

    /// What a restart must not forget: `signet-presence/v1` LF, u32 failures, u64 end of the cooldown.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt32(clamping: failures))
        writer.write(blockedUntil)
        return writer.bytes
    }

    /// A locked gate that remembers failures and cooldown.
    ///
    /// - Throws: `CanonicalCodingError`: not exactly what ``encoded`` writes.
    public init(decoding bytes: [UInt8], policy: PresencePolicy = .standard) throws(CanonicalCodingError) {
        var reader = ByteReader(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
            throw .invalidCharacter(offset: 0)
        }
        self.init(policy: policy)
        failures = Int(try reader.uint32())
        blockedUntil = try reader.uint64()
        try reader.end()
    }
}

/// What has to happen before a key may be used.
public enum PresenceStep: Hashable, Sendable {
    /// Ask the person this.
    case prompt(PresencePrompt)
    /// The person was there a moment ago for the same; settle it as present without asking.
    case waived(PresencePrompt)
    /// The program is locked: ask for ``PresenceAction/unlock`` first.
    case unlockFirst
    /// After wrong answers: ask nothing before this time.
    case wait(until: UInt64)
}

/// Why there is no grant.
public enum PresenceError: Error, Hashable, Sendable {
    /// The answer is to no question that stands: answered already, or superseded.
    case notAsked
    /// The question stood too long.
    case tooLate
    /// The person said no.
    case declined
    /// The answer was wrong; until then nothing is asked.
    case failed(blockedUntil: UInt64?)
}
