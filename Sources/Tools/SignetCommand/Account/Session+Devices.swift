// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyTransparency
import Signet
import SignetAPI

/// Changes of the account's devices: the person is asked, and the log has to show what was sent.
extension Session {
    /// The card in a file that the user named.
    func card(in path: String) throws -> CarriedCard {
        let bytes = try InputFile.read(path, maximumByteCount: LinkCard.maximumByteCount)
        do { return try open.card(bytes) } catch {
            if case .client(.linkCard(let error)) = error { throw CommandFailure(error.status, error.sentence) }
            throw CommandFailure(error, session: self)
        }
    }

    /// The person's own account, as the log shows it.
    func ownAccount() async throws -> OwnAccount {
        let (account, home): (OwnAccount, OpenHome)
        do { (account, home) = try await open.ownAccount() } catch { throw CommandFailure(error, session: self) }
        OwnAccountWatch.arm(moved(to: home))
        return account
    }

    /// Takes the right to speak for the account from the device of a number, and says what did not become of the notes.
    ///
    /// - Parameter isKeepingKeys: whether notes keep their keys.
    /// - Returns: the account; and how many notes have another key, nil if this was not asked for, or not done.
    func revokeDevice(
        _ number: UInt16, isKeepingKeys: Bool
    ) async throws -> (account: OwnAccount, rekeyedCount: Int?) {
        let revocation = try await approved(.revokeDevice(number)) { account, approval in
            try await account.revoke(number, isKeepingKeys: isKeepingKeys, approval)
        }
        if let missing = revocation.notes.shortfall(self, isKeepingKeys: isKeepingKeys) {
            Output.error("\(Paint.error.warning(missing.what)) \(missing.reason)")
            Output.error("        \(missing.remedy)")
        }
        guard case .rekeyed(let count) = revocation.notes else { return (revocation.account, nil) }
        return (revocation.account, count)
    }
}

extension RevokedNotes {
    /// What did not become of the notes when a device was removed, why, and what to do; nil if all did.
    func shortfall(_ session: Session, isKeepingKeys: Bool) -> (what: String, reason: String, remedy: String)? {
        let known = "The removed device still knows the keys to your notes:"
        let error: SignetError
        let remedy: String
        switch self {
        case .none, .kept, .rekeyed: return nil
        case .elsewhere:
            return (
                known, "This device does not have them.",
                "'signet notes rotate' on a device that has your notes gives them new keys."
            )
        case .notPrepared(let cause): (error, remedy) = (cause, "'signet notes rotate' gives them new keys.")
        case .notSettled(let cause): (error, remedy) = (cause, "The next 'signet notes sync' tries again.")
        }
        let reason = CommandFailure(error, session: session).sentence.what
        // When keys are kept, only what the device wrote is missing.
        guard isKeepingKeys else { return (known, reason, remedy) }
        return (
            "What the removed device wrote was not fetched:", reason,
            "'signet notes sync' fetches it, or says why it cannot."
        )
    }
}

extension OwnAccount {
    /// Raises the alarm when the account is not as this device left it.
    func check(_ session: Session) throws {
        guard let alarm else { return }
        if case .client(.misuse(.deviceNotAddedYet)) = alarm {
            throw CommandFailure(.notProven, ClientMisuse.deviceNotAddedYet.sentence)
        }
        throw CommandFailure(alarm, session: session)
    }

    /// What the log shows it as.
    var words: String {
        switch outcome {
        case .matched, .accepted: "as you left it"
        case .firstPinned: "seen by this device for the first time"
        case .changed(let change): "CHANGED: \(change.words)"
        case .contradicted: "CONTRADICTED"
        case .stranger: "this device is not in it yet, or you have not confirmed it here"
        }
    }
}

extension OwnDevice {
    /// When it was added, in seconds since 1970.
    var time: UInt64 { addedAt.seconds }
}

extension Date {
    /// Seconds since 1970.
    var seconds: UInt64 { UInt64(max(0, timeIntervalSince1970)) }
}

/// For commands that remove a device.
struct RevocationOptions: ParsableArguments {
    @Flag(help: "Leave the keys to your notes as they are: the device was not lost, and nothing is left on it.")
    var keepKeys = false

    /// What is said of the notes; empty if nothing was done.
    static func words(_ rekeyedCount: Int?) -> String {
        guard let rekeyedCount else { return "" }
        return "\n  \(Moment.count(UInt64(rekeyedCount), "note")) of yours under new keys. "
            + "A notes password and a recovery key on paper ended with the old ones: set new ones."
    }
}
