public import DeviceIdentity
public import KeyTransparency
import NotesClient
public import RecoveryClient
public import SignetAPI
public import SignetClient
import SitesClient
public import SocialRecovery

/// An identity that a user who lost every device recovers on this one, with the help of guardians.
///
/// Every step is on the disk before its message goes out, and may be repeated: after a start of the program ``open(in:passphrase:surroundings:)``
/// goes on.
public struct AccountRecovery: Sendable {
    /// The home folder of what will be the account.
    public let home: OpenHome
    private let secrets: DeviceSecrets

    init(_ home: OpenHome, _ secrets: DeviceSecrets) { (self.home, self.secrets) = (home, secrets) }

    /// Begins, or goes on with what was interrupted; see ``AccountBeginning/recover(calling:with:naming:withFormer:)``.
    ///
    /// - Parameters:
    ///   - profile: the directory, as the user was given it by a way that the directory's server does not control.
    ///   - passphrase: what the new keys are sealed under; refused when it is guessed too soon.
    ///   - name: what guardians are shown as this device's name.
    ///   - place: what is to hold a part of the keys that the home folder lacks; nil for none.
    /// - Throws: ``SignetError``.
    public static func begin(
        _ handle: Handle, at profile: DirectoryProfile, in folder: HomeFolder, passphrase: SecretBytes,
        calling name: String, with paper: AskKey? = nil, naming guardians: [Handle] = [], withFormer: Bool = false,
        keysAt place: KeystorePlaceKind? = nil, surroundings: Surroundings = .system
    ) async throws(SignetError) -> (recovery: AccountRecovery, progress: RecoveryProgress) {
        let beginning = try Account.begin(
            handle, profile, folder, withIdentity: true, place, passphrase, surroundings)
        let progress = try await beginning.recover(
            calling: name, with: paper, naming: guardians, withFormer: withFormer)
        return (AccountRecovery(beginning.home, beginning.secrets), progress)
    }

    /// Goes on with a recovery that was begun in a folder.
    ///
    /// - Throws: ``SignetError``.
    public static func open(
        in folder: HomeFolder, passphrase: SecretBytes, surroundings: Surroundings = .system
    ) throws(SignetError) -> AccountRecovery {
        let home = try OpenHome(folder, in: surroundings)
        guard let keystore = home.keystore else { throw .noAccount(folder: folder.path) }
        return AccountRecovery(home, try AccountBeginning.open(keystore, in: folder, with: passphrase))
    }

    /// What to read to each guardian, and who has helped.
    ///
    /// - Parameter guardians: whom the user remembers; see ``AccountBeginning/recover(calling:with:naming:withFormer:)``.
    /// - Throws: ``SignetError``.
    public func progress(naming guardians: [Handle] = []) async throws(SignetError) -> RecoveryProgress {
        try await home.recovering { [secrets] home throws(RecoveryClientError) in
            try await home.newDeviceSide(secrets).status(naming: guardians)
        }.value
    }

    /// Makes the identity the user's again, once enough guardians have helped and the wait is over; see ``Account/finishRecovery(_:)``.
    ///
    /// - Parameter approval: of `.recoverIdentity`: ``OpenHome/approval(of:asking:)``.
    /// - Throws: ``SignetError``.
    public func finish(
        _ approval: consuming Approval
    ) async throws(SignetError) -> (account: Account, recovered: RecoveredAccount) {
        // The log is looked at from then on only: before, it does not list this device.
        let account = try await Account(home, secrets, isWatching: false)
        let result: Result<RecoveredAccount, SignetError>
        do throws(SignetError) { result = .success(try await account.finishRecovery(approval)) } catch {
            result = .failure(error)
        }
        await account.close()
        return (try await Account(account.home, secrets), try result.get())
    }
}

extension AccountBeginning {
    /// Asks guardians for the identity, for the keys that were made here. The user calls their guardians: nobody else tells them. The log
    /// shows everyone that a recovery began once the first of them has confirmed, and the user's other devices can stop it.
    ///
    /// - Parameters:
    ///   - name: what guardians are shown as this device's name.
    ///   - place: what is to hold a part of the keys that the home folder lacks; nil for none.
    ///   - paper: begins at once, with what ``Account/recoveryPaper(_:)`` gave.
    ///   - guardians: whom the user remembers: once somebody is named, a code is shown for them, and for nobody else who answers.
    ///   - withFormer: demands those from before the last change of guardians.
    /// - Throws: ``SignetError``. If nothing was asked, and nothing can be now, the folder is free for another handle again.
    public func recover(
        calling name: String, with paper: AskKey? = nil, naming guardians: [Handle] = [], withFormer: Bool = false
    ) async throws(SignetError) -> RecoveryProgress {
        let side = home.newDeviceSide(secrets)
        do throws(RecoveryClientError) {
            return try await side.start(
                calling: Array(name.utf8), with: paper, naming: guardians, withFormer: withFormer)
        } catch {
            if isNew, !error.isWorthARetry, (try? side.isUnderWay) == false { try? home.folder.removeUnusedKeys() }
            throw .recovery(error)
        }
    }
}

extension OpenHome {
    func newDeviceSide(_ secrets: DeviceSecrets) -> NewDeviceSide<SQLiteStore> {
        NewDeviceSide(client, secrets, RecoveryFiles(in: folder))
    }
}

extension Account {
    /// How far the recovery is that was begun in this folder; see ``AccountRecovery/progress(naming:)``.
    ///
    /// - Throws: ``SignetError``.
    package func recoveryProgress(naming guardians: [Handle]) async throws(SignetError) -> RecoveryProgress {
        let secrets = secrets
        return try await recovering { home throws(RecoveryClientError) in
            try await home.newDeviceSide(secrets).status(naming: guardians)
        }
    }

    /// Makes the identity the user's again: every device from before is removed from the account, people, sites and notes come back, and
    /// the notes get new keys. There are no guardians then: the user chooses them again.
    ///
    /// - Parameter approval: of `.recoverIdentity`.
    /// - Throws: ``SignetError``. Interrupted, it may be done again.
    public func finishRecovery(_ approval: consuming Approval) async throws(SignetError) -> RecoveredAccount {
        try check(approval, is: .recoverIdentity)
        let secrets = secrets
        let things = try await recovering { home throws(RecoveryClientError) in
            try await home.newDeviceSide(secrets).finish()
        }
        if !things.sites.isEmpty {
            try await sites(approval) { book, grant throws(SitesError) in try await book.adopt(things.entries, grant) }
        }
        let noteCount = try await storedNotes { book throws(NotesError) in
            try await book.bringBack(things.entries, writtenBy: things.devicesBefore)
        }
        return RecoveredAccount(things: things, noteCount: noteCount)
    }
}

/// What a recovery brought back.
public struct RecoveredAccount: Sendable {
    /// People, sites and keys.
    public let things: RecoveredThings
    /// How many notes open here, under new keys.
    public let noteCount: Int
}

extension RecoveredThings {
    /// The sites whose recovery keys came back: each is to be given new keys, at a time of its own.
    public var sites: [VerifiedHost] {
        entries.compactMap(\.siteHost).reduce(into: []) { sites, host in
            if !sites.contains(host) { sites.append(host) }
        }
    }
}
