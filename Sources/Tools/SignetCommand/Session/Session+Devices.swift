import ArgumentParser
import DeviceIdentity
import KeyTransparency
import NotesClient
import SignetAPI
import SignetClient

/// Changes of the account's devices: the person is asked, and the log has to show what was sent.
extension Session {
    /// Adds the device that made a card. One that was added already stays as it is.
    func addDevice(_ card: LinkCard) async throws -> LookupVerdict {
        let secrets = try await secrets(for: .linkDevice)
        let verdict = try await run { client throws(ClientError) in try await client.addDevice(card, by: secrets) }
        try OwnAccount.check(verdict, try owner())
        return verdict
    }

    /// Takes the right to speak for the account from the device of a number; then gives the notes of the account keys that it does
    /// not know.
    ///
    /// - Parameter isKeepingKeys: whether notes keep their keys.
    /// - Returns: what the log proves; and how many notes have another key, nil if this was not asked for, or not done.
    func revokeDevice(
        _ number: UInt16, isKeepingKeys: Bool
    ) async throws -> (verdict: LookupVerdict, rekeyedCount: Int?) {
        try await granted(.revokeDevice(number)) { opened, _ in
            let place = await prepareNotes(number, isKeepingKeys, opened)
            let verdict = try await run { client throws(ClientError) in
                try await client.revokeDevice(number, by: opened.secrets)
            }
            try OwnAccount.check(verdict, try owner())
            let count = place == .here ? await settleNotes(isKeepingKeys, opened) : nil
            if place == .elsewhere, !isKeepingKeys {
                sayOfNotes(
                    "The removed device knows the keys to your notes still:", "This device does not have them.",
                    remedy: "'signet notes rotate' on a device that has your notes gives them others.")
            }
            return (verdict, isKeepingKeys ? nil : count)
        }
    }

    /// Has the notes remember that the device goes. What stands in the way is said, and does not keep the device in the account.
    ///
    /// - Returns: where the account has notes; nil if it has none, or it is not certain.
    private func prepareNotes(_ number: UInt16, _ isKeepingKeys: Bool, _ opened: OpenedKeys) async -> NotesPlace? {
        do {
            return try await withNotes(opened) { book throws(NotesError) in
                guard try await book.accountHasNotes() else { return nil }
                try await book.prepareRemoval(of: number, isKeepingKeys: isKeepingKeys)
                return await book.hasAccountKey ? .here : .elsewhere
            }
        } catch {
            sayOfNotes(error, isKeepingKeys, remedy: "'signet notes rotate' gives them others.")
            return nil
        }
    }

    private enum NotesPlace {
        /// This device has their keys.
        case here
        /// Other devices do, or a password or a recovery key.
        case elsewhere
    }

    /// What cannot be done now is said, and is no failure of the command: the device is removed, and the next sync goes on.
    ///
    /// - Returns: how many notes of one's own there are, under their new keys unless they keep them; nil if it was not done.
    private func settleNotes(_ isKeepingKeys: Bool, _ opened: OpenedKeys) async -> Int? {
        do {
            let count = try await withNotes(opened) { book throws(NotesError) in try await book.finishRotation() }
            if !isKeepingKeys { await GuardedThings.follow(options, knowing: opened.passphrase) }
            return count
        } catch {
            sayOfNotes(error, isKeepingKeys, remedy: "The next 'signet notes sync' tries again.")
            return nil
        }
    }

    /// One book at a time has the file: this one is closed when it returns.
    private func withNotes<Value>(
        _ opened: OpenedKeys, _ body: (NoteBook<SQLiteStore>) async throws(NotesError) -> Value
    ) async throws -> Value {
        var notes = try await NotesSession(self, opened.secrets)
        return try await notes.run(body)
    }

    private func sayOfNotes(_ error: any Error, _ isKeepingKeys: Bool, remedy: String) {
        let reason = (error as? CommandFailure)?.sentence.what ?? "A file of the home folder cannot be used."
        let what =
            isKeepingKeys
            ? "What the removed device wrote was not fetched:"
            : "The removed device knows the keys to your notes still:"
        sayOfNotes(
            what, reason, remedy: isKeepingKeys ? "'signet notes sync' fetches it, or says why not." : remedy)
    }

    private func sayOfNotes(_ what: String, _ reason: String, remedy: String) {
        Output.error("\(Paint.error.warning(what)) \(reason)")
        Output.error("        \(remedy)")
    }
}

/// For commands that remove a device.
struct RevocationOptions: ParsableArguments {
    @Flag(help: "Leave the keys to your notes as they are: the device was not lost, and nothing is left on it.")
    var keepKeys = false

    /// What is said of the notes; empty if nothing was done.
    static func words(_ rekeyedCount: Int?) -> String {
        guard let rekeyedCount else { return "" }
        return "\n  \(Moment.count(UInt64(rekeyedCount), "note")) of yours under new keys. "
            + "A notes password and a recovery key on paper ended with the old ones: set them anew."
    }
}

extension LinkCard {
    /// The card in a file that the user named.
    static func read(_ path: String, _ session: Session) throws -> LinkCard {
        let bytes = try InputFile.read(path, maximumByteCount: maximumByteCount)
        do { return try LinkCard(decoding: bytes, policy: session.profile.trust.policy) } catch {
            throw CommandFailure(error.status, error.sentence)
        }
    }
}
