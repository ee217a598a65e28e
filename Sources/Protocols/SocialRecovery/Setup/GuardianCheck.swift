// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SecretSharing

/// Asks all guardians of a set whether they still keep their share, and rehearses a recovery with those who do.
///
/// Nothing secret is rebuilt: the answers are signatures by the shares.
public struct GuardianCheck: Sendable {
    /// What each guardian has to answer, 32 bytes.
    public let challenges: [Handle: [UInt8]]
    private let setup: RecoverySetup
    private var held: [Handle: HeldShare] = [:]

    /// Draws a challenge for each guardian.
    public init(of setup: RecoverySetup, using generator: inout some RandomNumberGenerator) {
        self.setup = setup
        var challenges: [Handle: [UInt8]] = [:]
        for guardian in setup.guardians {
            challenges[guardian.key.handle] = (0..<HoldingProof.challengeByteCount).map { _ in generator.next() }
        }
        self.challenges = challenges
    }

    /// A check that was begun before.
    ///
    /// - Parameter challenges: of this set's guardians; 32 bytes each.
    public init(of setup: RecoverySetup, asking challenges: [Handle: [UInt8]]) {
        self.setup = setup
        self.challenges = challenges
    }

    /// A guardian answered.
    ///
    /// - Throws: ``RecoverySetupError``: no guardian of this set, or the answer proves nothing: their share is lost or
    ///   damaged.
    public mutating func answered(_ handle: Handle, _ proof: HoldingProof) throws(RecoverySetupError) {
        guard let guardian = setup.guardians.first(where: { $0.key.handle == handle }),
            let challenge = challenges[handle]
        else { throw .noSuchGuardian }
        do throws(HoldingError) {
            held[handle] = try setup.commitments.verify(proof, for: challenge, at: guardian.index)
        } catch { throw .notKept(handle) }
    }

    /// How it stands.
    public var standing: GuardianStanding {
        let commitments = setup.commitments
        let kept = setup.guardians.map(\.key.handle).filter { held[$0] != nil }
        let isRehearsed = (try? commitments.rehearse(Array(held.values))) != nil
        return GuardianStanding(
            kept: kept, silent: setup.guardians.map(\.key.handle).filter { held[$0] == nil },
            spare: kept.count - commitments.threshold, isRecoverable: isRehearsed)
    }
}

/// What a check found.
public struct GuardianStanding: Hashable, Sendable {
    /// Who keeps their share.
    public let kept: [Handle]
    /// Who did not prove it.
    public let silent: [Handle]
    /// How many more may fail: 0 is the last moment to act (red), 1 is a warning (amber); negative is lost.
    public let spare: Int
    /// Whether those who answered would recover the identity, by a rehearsal.
    public let isRecoverable: Bool
}
