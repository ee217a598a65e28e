// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI

/// The page of checks for a submission, one line each. What only the database can tell (handle taken, key in use,
/// version still the newest) is checked in the transaction that writes.
///
/// Form, bounds, the identity key's signature and each card's own signature were checked when the bytes were read.
struct SubmissionRules: Sendable {
    /// The keys under which challenges were sealed.
    let sealing: SealingKeys
    /// Seconds since 1970.
    let now: UInt64

    /// An account's first state.
    func checkRegistration(_ submission: StateSubmission) throws(DirectoryError) {
        guard submission.state.version == 1, submission.state.step == .ordinary else { throw .refused(.badRequest) }
        try checkCards(of: submission.state.devices[...], submission)
    }

    /// The first state of another holder of a released handle, after the former one's last state.
    ///
    /// It names that state, so that no one who knew the former holder is shown a contradiction in place of another identity. It
    /// has nothing else of it: what a first state cannot have, it has not.
    func checkTakeover(_ submission: StateSubmission, after former: AccountState) throws(DirectoryError) {
        let state = submission.state
        guard former.version < UInt64.max, state.version == former.version + 1, state.previous == former.hash else {
            throw .refused(.versionConflict)
        }
        guard state.step == .ordinary, state.recoveryCommitment == nil, state.olderCommitment == nil,
            state.formerRecovery == nil, state.pendingRecovery == nil, state.accountHead == nil
        else { throw .refused(.badRequest) }
        let keys = Set(former.devices.map(\.keys.signing))
        guard state.identityKey != former.identityKey, state.devices.allSatisfy({ !keys.contains($0.keys.signing) })
        else { throw .refused(.keyInUse) }
        try checkCards(of: state.devices[...], submission)
    }

    /// The state after `current`.
    ///
    /// - Parameter highestNumber: the highest number the account ever gave a device.
    func checkUpdate(
        _ submission: StateSubmission, after current: AccountState, highestNumber: UInt16
    ) throws(DirectoryError) {
        if case .recovered = submission.state.step {
        } else {
            guard submission.state.identityKey == current.identityKey else { throw .refused(.handleTaken) }
        }
        try checkTime(of: submission.state, after: current)
        try checkPromise(of: submission.state, after: current)
        try checkExpired(before: submission.state)
        guard current.isFollowed(by: submission.state) else { throw .refused(.versionConflict) }
        let new = submission.state.devices.filter { !current.devices.contains($0) }
        guard new.allSatisfy({ $0.number > highestNumber }) else { throw .refused(.badRequest) }
        try checkCards(of: new[...], submission)
    }

    /// Steps of a recovery, and a change of guardians, say when they were made. What comes late or early by more than a request may is refused, and a
    /// recovery does not end in the future.
    private func checkTime(of state: AccountState, after current: AccountState) throws(DirectoryError) {
        let bound = RequestSignature.maximumClockDifference
        let (time, latest) =
            switch state.step {
            case .ordinary where state.formerRecovery == current.formerRecovery: (now, now)
            case .ordinary: (state.formerRecovery?.since ?? now, now + bound)
            case .started(let start, _, _): (start.started, now + bound)
            case .stopped(let stop, _): (stop.time, now + bound)
            case .recovered(let succession): (succession.time, now)
            }
        guard time <= latest else { throw .refused(.wrongTime) }
        guard now - min(now, time) <= bound else { throw .refused(.stepTooOld) }
    }

    /// A recovery cannot be requested under a commitment of the older form: none is made any more. Those in the log are
    /// read.
    private func checkPromise(of state: AccountState, after current: AccountState) throws(DirectoryError) {
        guard state.olderCommitment == nil || state.olderCommitment == current.olderCommitment else {
            throw .refused(.badRequest)
        }
    }

    /// A request takes the place of another one only when that has expired by this clock, not by what the request says.
    private func checkExpired(before state: AccountState) throws(DirectoryError) {
        guard case .started(_, let superseded?, _) = state.step else { return }
        guard now >= superseded.expires else { throw .refused(.versionConflict) }
    }

    /// One card for each new device and no other, in any order; each proves that the device holds its keys.
    private func checkCards(
        of devices: ArraySlice<DeviceRecord>, _ submission: StateSubmission
    ) throws(DirectoryError) {
        guard submission.cards.allSatisfy({ card in devices.contains { $0.keys == card.request.keys.listed } }) else {
            throw .refused(.badRequest)
        }
        for device in devices {
            let cards = submission.cards.filter { $0.request.keys.listed == device.keys }
            guard cards.count < 2 else { throw .refused(.badRequest) }
            guard let card = cards.first else { throw .refused(.possessionNotProven) }
            try checkPossession(card, submission.state.handle)
        }
    }

    private func checkPossession(_ card: DeviceCard, _ handle: Handle) throws(DirectoryError) {
        guard card.request.handle == handle else { throw .refused(.possessionNotProven) }
        let isProven = sealing.accepted(at: now).contains { key in
            (try? card.proof.verify(for: card.request, sealingKey: key, at: now)) != nil
        }
        guard isProven else { throw .refused(.possessionNotProven) }
    }
}
