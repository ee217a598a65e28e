// SPDX-License-Identifier: Apache-2.0

import NotesClient
import SignetClient

extension Account {
    /// The user's devices that the log lists.
    ///
    /// - Throws: ``SignetError``. An account that differs from the state in which this device left it does not throw: see
    ///   ``OwnAccount/alarm``.
    public func devices() async throws(SignetError) -> OwnAccount {
        let (account, home) = try await home.ownAccount()
        move(to: home)
        return account
    }

    /// Revokes a device's right to act for the account. Then it gives the user's notes keys that the device does not know, and
    /// has the guardians guard these. The device keeps what it could read before. A failure with the notes does not prevent the
    /// revocation.
    ///
    /// - Parameters:
    ///   - isKeepingKeys: whether the notes keep their keys, because the device was not lost and no data is left on it.
    ///   - approval: of ``PresenceAction/revokeDevice(_:)`` with the same number.
    /// - Throws: ``SignetError`` if nothing was revoked, or if the account is not in the state in which this device left it.
    public func revoke(
        _ number: UInt16, isKeepingKeys: Bool = false, _ approval: consuming Approval
    ) async throws(SignetError) -> Revocation {
        try check(approval, is: .revokeDevice(number))
        let prepared = await prepareNotes(for: number, isKeepingKeys)
        let secrets = secrets
        let verdict = try await run { client throws(ClientError) in
            try await client.revokeDevice(number, by: secrets)
        }
        let account = OwnAccount(verdict, on: secrets.keys.signing)
        if let alarm = account.alarm { throw alarm }
        let notes: RevokedNotes =
            switch prepared {
            case .none: .none
            case .failed(let error): .notPrepared(error)
            case .elsewhere: isKeepingKeys ? .kept : .elsewhere
            case .here: await settleNotes(isKeepingKeys, approval)
            }
        return Revocation(account: account, notes: notes)
    }

    /// Where the account has notes.
    private enum NotesPlace {
        case none
        /// This device has their keys.
        case here
        /// Only other devices, a password or a recovery key have them.
        case elsewhere
        case failed(SignetError)
    }

    /// Records in the notes that the device is being revoked, so that the next sync completes the rest after an interruption.
    private func prepareNotes(for number: UInt16, _ isKeepingKeys: Bool) async -> NotesPlace {
        do throws(SignetError) {
            return try await storedNotes { book throws(NotesError) in
                guard try await book.accountHasNotes() else { return .none }
                try await book.prepareRemoval(of: number, isKeepingKeys: isKeepingKeys)
                return await book.hasAccountKey ? .here : .elsewhere
            }
        } catch { return .failed(error) }
    }

    private func settleNotes(_ isKeepingKeys: Bool, _ approval: borrowing Approval) async -> RevokedNotes {
        let count: Int
        do throws(SignetError) {
            count = try await storedNotes { book throws(NotesError) in try await book.finishRotation() }
        } catch { return .notSettled(error) }
        guard !isKeepingKeys else { return .kept }
        await followGuardians(approval)
        return .rekeyed(count)
    }
}

/// A device that no longer acts for the account.
public struct Revocation: Sendable {
    /// The account without the device.
    public let account: OwnAccount
    /// The result for the user's notes.
    public let notes: RevokedNotes
}

/// The result for the user's notes after a device was revoked. The device itself is removed from the account in every case.
public enum RevokedNotes: Sendable {
    /// The account has no notes.
    case none
    /// This many of the user's own notes have keys that the device does not know. The notes password and the paper recovery key
    /// became invalid together with the old keys.
    case rekeyed(Int)
    /// The notes keep their keys, as requested.
    case kept
    /// The device still knows the notes' keys, and this device does not have them: the user rotates them on a device that does.
    case elsewhere
    /// The device still knows the notes' keys, because the notes could not be reached before the revocation. Rotating replaces
    /// the keys.
    case notPrepared(SignetError)
    /// The device still knows the notes' keys, and its last changes may not have been fetched. The next sync continues.
    case notSettled(SignetError)
}
