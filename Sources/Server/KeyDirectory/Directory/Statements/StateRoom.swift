// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI

/// How many states an account may bring in a day: each stays for good, in the database and in the log.
///
/// Taking devices out and objecting to a recovery have no limit of their own. Each needs that something was added or asked for
/// before, which has one; so a thief of one of the account's devices who uses up its day cannot prevent a revocation.
struct StateRoom: Sendable {
    /// Changes in 24 hours. No person adds more devices in a day, and guardians change once in their delay.
    var changes: UInt64 = 128
    /// The same for requests for a recovery, so that changes leave room for them.
    var requests: UInt64 = 512

    /// What the limit is counted over, in seconds.
    static let window: UInt64 = 86_400

    /// How many states within the window, those of every kind, stop this one; nil: it is always taken.
    func limit(for state: AccountState, after current: AccountState) -> UInt64? {
        switch state.step {
        case .stopped, .recovered: nil
        case .started: requests
        case .ordinary: Self.isRevocation(of: state, after: current) ? nil : changes
        }
    }

    /// Whether devices go, and nothing else changes.
    private static func isRevocation(of state: AccountState, after current: AccountState) -> Bool {
        state.devices.count < current.devices.count && state.devices.allSatisfy(current.devices.contains)
            && state.recoveryCommitment == current.recoveryCommitment
            && state.formerRecovery == current.formerRecovery
    }
}

extension Directory {
    /// Whether the account has room for a state now.
    ///
    /// - Throws: ``DirectoryError``; `tooManyRequests`: a day's states were brought since yesterday.
    func demandRoom(
        for state: AccountState, after current: AccountState, of account: AccountRow, at now: UInt64
    ) async throws(DirectoryError) {
        guard let limit = room.limit(for: state, after: current), current.version >= limit else { return }
        let time = try await database.read { database in
            try StateRow.time(ofVersion: current.version - limit + 1, of: account.id, in: database)
        }
        // A clock that was set back counts everything.
        guard let time, time + StateRoom.window > now else { return }
        throw .refused(.tooManyRequests)
    }
}
