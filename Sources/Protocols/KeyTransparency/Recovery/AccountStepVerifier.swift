// SPDX-License-Identifier: Apache-2.0

/// Whether a state may be the one right after another: the checks in their order, one line each.
///
/// What a state proves by itself (form, bounds, signatures, the time of a succession) was checked when it was read.
public enum AccountStepVerifier {
    /// Verifies a step.
    ///
    /// - Throws: ``AccountStepError``: the step must not be taken.
    public static func verify(
        _ next: AccountState, after state: AccountState
    ) throws(AccountStepError) {
        try checkPlace(of: next, after: state)
        switch next.step {
        case .ordinary:
            try checkIdentityKept(by: next, after: state)
            try checkNothingPending(by: next, after: state)
            try checkFormerKept(by: next, after: state)
        case .started(let start, let superseded, let base):
            try checkBase(base, after: state)
            try checkEndorsed(start)
            try checkCommitted(start, in: state)
            try checkFree(for: start, superseded, after: state)
        case .stopped(_, let base):
            try checkBase(base, after: state)
            try checkUnderWay(state)
        case .recovered(let succession):
            try checkUnderWay(succession.start, state)
            try checkCommitted(succession.start, in: state)
            try checkHeadKept(by: next, after: state)
            try checkDevicesGone(by: next, after: state)
        }
    }

    /// The version is one higher, the state before is named by its hash, the account is the same.
    private static func checkPlace(of next: AccountState, after state: AccountState) throws(AccountStepError) {
        guard state.version < UInt64.max, next.version == state.version + 1 else { throw .anotherVersion }
        guard next.previous == state.hash else { throw .anotherPredecessor }
        guard next.handle == state.handle else { throw .anotherAccount }
    }

    private static func checkIdentityKept(by next: AccountState, after state: AccountState) throws(AccountStepError) {
        guard next.identityKey == state.identityKey else { throw .anotherIdentity }
    }

    /// The owner may end a recovery, and never begins one.
    private static func checkNothingPending(
        by next: AccountState, after state: AccountState
    ) throws(AccountStepError) {
        guard next.pendingRecovery == nil || next.pendingRecovery == state.pendingRecovery else {
            throw .anotherRecovery
        }
    }

    /// A commitment goes by becoming the former one, and not while an earlier one is still open to a recovery.
    private static func checkFormerKept(by next: AccountState, after state: AccountState) throws(AccountStepError) {
        guard let hash = state.recoveryCommitment, next.recoveryCommitment != hash else {
            guard next.formerRecovery == state.formerRecovery else { throw .anotherFormer }
            return
        }
        guard let former = next.formerRecovery, former.commitment.hash == hash else { throw .anotherFormer }
        guard former.since >= state.formerRecovery?.end ?? 0 else { throw .changedTooSoon }
    }

    /// A note is about the last state that the owner signed.
    private static func checkBase(_ base: AccountState, after state: AccountState) throws(AccountStepError) {
        guard base == state.authored else { throw .anotherBase }
    }

    /// A holder of the ask key has endorsed the start. An endorsement was verified when the start was read; a start of
    /// the older form cannot have one.
    private static func checkEndorsed(_ start: RecoveryStart) throws(AccountStepError) {
        guard start.endorsement != nil else { throw .notEndorsed }
    }

    private static func checkCommitted(_ start: RecoveryStart, in state: AccountState) throws(AccountStepError) {
        guard state.isCommitted(to: start.commitment, at: start.started) else { throw .notCommitted }
    }

    /// No other request is in force: there is none, or it has expired.
    private static func checkFree(
        for start: RecoveryStart, _ superseded: RecoveryStart?, after state: AccountState
    ) throws(AccountStepError) {
        guard state.pendingRecovery == superseded?.hash, superseded.map({ start.started >= $0.expires }) ?? true
        else { throw .anotherRecovery }
    }

    private static func checkUnderWay(_ state: AccountState) throws(AccountStepError) {
        guard state.pendingRecovery != nil else { throw .nothingUnderWay }
    }

    private static func checkUnderWay(_ start: RecoveryStart, _ state: AccountState) throws(AccountStepError) {
        guard state.pendingRecovery == start.hash else { throw .nothingUnderWay }
    }

    private static func checkHeadKept(by next: AccountState, after state: AccountState) throws(AccountStepError) {
        guard next.accountHead == state.accountHead else { throw .anotherHead }
    }

    /// Every device from before is revoked, and no number is given twice.
    private static func checkDevicesGone(by next: AccountState, after state: AccountState) throws(AccountStepError) {
        let old = Set(state.devices.map({ $0.keys.signing }))
        guard let highest = state.devices.last?.number,
            next.devices.allSatisfy({ !old.contains($0.keys.signing) && $0.number > highest })
        else { throw .oldDevicesRemain }
    }
}

/// Why a state does not follow another: one case a check.
public enum AccountStepError: Error, Hashable, Sendable {
    /// The version is not one higher.
    case anotherVersion
    /// It names another state as the one before.
    case anotherPredecessor
    /// It belongs to another account.
    case anotherAccount
    /// The identity key changed, and nothing gives it the right to.
    case anotherIdentity
    /// Another recovery is under way, or this step may not begin one.
    case anotherRecovery
    /// It is about another state than the last one that the owner signed.
    case anotherBase
    /// The account committed to another recovery, or to none.
    case notCommitted
    /// No holder of this identity's ask key has endorsed the start: it has the older form.
    case notEndorsed
    /// It leaves behind another commitment than the one in force, or none.
    case anotherFormer
    /// The commitment changed a second time while a recovery may still begin under the first.
    case changedTooSoon
    /// No such recovery is under way.
    case nothingUnderWay
    /// It changes what a recovery leaves as it is.
    case anotherHead
    /// A device from before is still there, or its number is.
    case oldDevicesRemain
}

extension AccountState {
    /// Whether a recovery that started then may be under this commitment: the former one while its delay has not passed since the
    /// change, and after that the one in force. So guardians whom a thief names with a stolen device can do nothing
    /// until those whom they replace have had their time.
    ///
    /// - Parameter started: in seconds since 1970.
    public func isCommitted(to commitment: RecoveryCommitment, at started: UInt64) -> Bool {
        let hash = commitment.hash
        guard let former = formerRecovery, started < former.end else { return recoveryCommitment == hash }
        return former.commitment.hash == hash
    }
}
