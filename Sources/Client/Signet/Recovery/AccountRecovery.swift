// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import KeyTransparency
import NotesClient
public import RecoveryClient
public import SecretMemory
public import SignetAPI
public import SignetClient
import SitesClient
public import SocialRecovery

/// Recovers on this device, with the help of guardians, the identity of a user who lost every device.
///
/// Every step is on the disk before its message is sent, and may be repeated. After a restart of the program,
/// ``open(in:passphrase:surroundings:)`` continues.
public struct AccountRecovery: Sendable {
    /// The home folder of the account to be recovered.
    public let home: OpenHome
    private let secrets: DeviceSecrets

    /// - Parameter secrets: the keys that were made in the folder, opened.
    package init(_ home: OpenHome, _ secrets: DeviceSecrets) { (self.home, self.secrets) = (home, secrets) }

    /// Begins a recovery, or continues an interrupted one; see ``AccountBeginning/recover(calling:with:naming:withFormer:)``.
    ///
    /// - Parameters:
    ///   - profile: the directory file, which the user received over a channel that the directory's server does not control.
    ///   - passphrase: the passphrase under which the new keys are sealed; refused if it could be guessed too soon.
    ///   - name: the name of this device that guardians are shown.
    ///   - place: the place that holds a part of the keys outside the home folder; nil for none.
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

    /// Continues a recovery that was begun in a folder.
    ///
    /// - Throws: ``SignetError``.
    public static func open(
        in folder: HomeFolder, passphrase: SecretBytes, surroundings: Surroundings = .system
    ) throws(SignetError) -> AccountRecovery {
        let home = try OpenHome(folder, in: surroundings)
        guard let keystore = home.keystore else { throw .noAccount(folder: folder.path) }
        return AccountRecovery(home, try AccountBeginning.open(keystore, in: folder, with: passphrase))
    }

    /// What the user reads to each guardian, and which guardians have helped.
    ///
    /// - Parameter guardians: the guardians whom the user remembers; see
    ///   ``AccountBeginning/recover(calling:with:naming:withFormer:)``.
    /// - Throws: ``SignetError``.
    public func progress(naming guardians: [Handle] = []) async throws(SignetError) -> RecoveryProgress {
        try await home.recovering { [secrets] home throws(RecoveryClientError) in
            try await home.newDeviceSide(secrets).status(naming: guardians)
        }.value
    }

    /// Restores the user's identity, once enough guardians have helped and the wait is over; see
    /// ``Account/finishRecovery(_:)``.
    ///
    /// - Parameter approval: of `.recoverIdentity`: ``OpenHome/approval(of:asking:)``.
    /// - Throws: ``SignetError``.
    public func finish(
        _ approval: consuming Approval
    ) async throws(SignetError) -> (account: Account, recovered: RecoveredAccount) {
        // The log is checked only from then on, because before that it does not list this device.
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
    /// Asks guardians to recover the identity for the keys that were made here. The user calls the guardians, because nothing
    /// else informs them. After the first of them has confirmed, the log shows everyone that a recovery began, and the user's
    /// other devices can stop it.
    ///
    /// - Parameters:
    ///   - name: the name of this device that guardians are shown.
    ///   - paper: the line from ``Account/recoveryPaper(_:)``, with which the recovery begins at once.
    ///   - guardians: the guardians whom the user remembers. Once any are named, codes are shown for them only, and not for
    ///     others who answer.
    ///   - withFormer: asks the guardians from before the last change.
    /// - Throws: ``SignetError``. If nothing was asked, and nothing can be asked now, the folder is free for another handle
    ///   again.
    public func recover(
        calling name: String, with paper: AskKey? = nil, naming guardians: [Handle] = [], withFormer: Bool = false
    ) async throws(SignetError) -> RecoveryProgress {
        try checkGivenFile()
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
    /// The progress of the recovery that was begun in this folder; see ``AccountRecovery/progress(naming:)``.
    ///
    /// - Throws: ``SignetError``.
    package func recoveryProgress(naming guardians: [Handle]) async throws(SignetError) -> RecoveryProgress {
        let secrets = secrets
        return try await recovering { home throws(RecoveryClientError) in
            try await home.newDeviceSide(secrets).status(naming: guardians)
        }
    }

    /// Restores the user's identity. All former devices are removed from the account; contacts, sites and notes are restored;
    /// and the notes get new keys. The account then has no guardians, and the user chooses them again.
    ///
    /// - Parameter approval: of `.recoverIdentity`.
    /// - Throws: ``SignetError``. After an interruption, it may be repeated.
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

/// What a recovery restored.
public struct RecoveredAccount: Sendable {
    /// Contacts, sites and keys.
    public let things: RecoveredThings
    /// How many notes open here, under new keys.
    public let noteCount: Int
}

extension RecoveredThings {
    /// The sites whose recovery keys were restored. Give each new keys, at different times.
    public var sites: [VerifiedHost] {
        entries.compactMap(\.siteHost).reduce(into: []) { sites, host in
            if !sites.contains(host) { sites.append(host) }
        }
    }
}
