import NotesClient
import SignetClient

extension Account {
    /// The devices that the log holds for the user.
    ///
    /// - Throws: ``SignetError``. An account that is not as this device left it is none: see ``OwnAccount/alarm``.
    public func devices() async throws(SignetError) -> OwnAccount {
        let (account, home) = try await home.ownAccount()
        move(to: home)
        return account
    }

    /// Takes from a device the right to speak for the account; then gives the user's notes keys that it does not know, and has guardians
    /// guard these. What the device could read before, it keeps. What becomes of the notes stops nothing: the device goes in any case.
    ///
    /// - Parameters:
    ///   - isKeepingKeys: whether notes keep their keys: the device was not lost, and nothing is left on it.
    ///   - approval: of ``PresenceAction/revokeDevice(_:)`` with the same number.
    /// - Throws: ``SignetError``: nothing was revoked; or the account is not as this device left it.
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
        /// Other devices do, or a password or a recovery key.
        case elsewhere
        case failed(SignetError)
    }

    /// Has the notes remember that the device goes, so that whatever interrupts the rest, the next sync does it.
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

/// A device that no longer speaks for the account.
public struct Revocation: Sendable {
    /// The account without it.
    public let account: OwnAccount
    /// What became of the user's notes.
    public let notes: RevokedNotes
}

/// What became of the user's notes when a device was revoked. The device itself is out of the account in each case.
public enum RevokedNotes: Sendable {
    /// The account has none.
    case none
    /// So many notes of the user's own have keys that the device does not know. A notes password and a recovery key on paper ended with
    /// the old ones.
    case rekeyed(Int)
    /// They keep their keys, as was asked.
    case kept
    /// The device knows their keys still, and this one does not have them: the user rotates them on a device that does.
    case elsewhere
    /// The device knows their keys still, for the notes could not be reached before: rotating gives them others.
    case notPrepared(SignetError)
    /// The device knows their keys still, and what it wrote was perhaps not fetched: the next sync goes on.
    case notSettled(SignetError)
}
