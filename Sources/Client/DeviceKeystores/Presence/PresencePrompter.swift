// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import SignetClient

/// Where every use of a private key is asked for: the gate's rules, the person's answers, and a file in which wrong
/// answers are remembered, so that restarting the program does not make guessing cheaper.
///
/// The clock is the wall's, because the file outlives a start of the machine: setting it back lengthens a cooldown,
/// setting it forward ends one. Guessing is made expensive by the keystore itself.
public actor PresencePrompter {
    private var gate: PresenceGate
    private let presence: any Presence
    private let file: DurableFile?
    private let clock: @Sendable () -> UInt64
    private let onLock: @Sendable () async -> Void

    /// A desk that is locked.
    ///
    /// - Parameters:
    ///   - file: where failures are remembered; nil for nowhere.
    ///   - clock: seconds since 1970.
    ///   - onLock: forgets what was unlocked.
    public init(
        asking presence: any Presence, policy: PresencePolicy = .standard, remembering file: DurableFile?,
        clock: @escaping @Sendable () -> UInt64 = Surroundings.system.now,
        onLock: @escaping @Sendable () async -> Void = {}
    ) {
        self.presence = presence
        self.file = file
        self.clock = clock
        self.onLock = onLock
        let bytes = file.flatMap { try? $0.read(maximumByteCount: 256) }
        gate = bytes.flatMap { try? PresenceGate(decoding: $0, policy: policy) } ?? PresenceGate(policy: policy)
    }

    /// Asks the person, by name of the action, and gives the one grant that their answer is good for.
    ///
    /// - Parameter unlocking: as `PresenceGate/ask(_:at:unlocking:)`.
    /// - Throws: ``PresenceRefusal``.
    public func grant(
        for action: PresenceAction, unlocking: Bool = false
    ) async throws(PresenceRefusal) -> PresenceGrant {
        if gate.isLocked(at: clock()) { await onLock() }
        switch gate.ask(action, at: clock(), unlocking: unlocking) {
        case .wait(let until): throw .wait(until: until)
        case .unlockFirst: throw .locked
        case .waived(let prompt): return try settle(prompt, .present)
        case .prompt(let prompt): return try settle(prompt, await presence.answer(prompt))
        }
    }

    /// Locks at once.
    public func lock() async {
        gate.lock()
        await onLock()
    }

    private func settle(
        _ prompt: PresencePrompt, _ outcome: PresenceOutcome
    ) throws(PresenceRefusal) -> PresenceGrant {
        defer { remember() }
        do { return try gate.settle(prompt, outcome, at: clock()) } catch { throw .unanswered(error) }
    }

    /// A disk that is full takes nothing from the rule for this run of the program.
    private func remember() { try? file?.replace(with: gate.encoded) }
}

/// Why a key was not used.
public enum PresenceRefusal: Error, Hashable, Sendable {
    /// After wrong answers: nothing is asked before this time, in seconds since 1970.
    case wait(until: UInt64)
    /// The program is locked.
    case locked
    /// The person was asked, and there is no grant.
    case unanswered(PresenceError)
}
