// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import NotesClient
import SealedNotes
public import SecretMemory
public import SignetAPI
public import SignetClient

/// A user's account on one device. It finds people and verifies their keys, seals messages to them and opens the messages that
/// they sealed, and watches over the account while it is open.
///
/// The checks that keep the user safe need no call. The directory's answers are verified and remembered. A change of the
/// directory's keys is followed if it weakens nothing. The log is checked daily for changes that this device did not make.
/// Findings arrive in ``events``, which an app reads and shows.
public actor Account {
    /// The account's handle.
    public nonisolated let handle: Handle
    /// What the user has to know. The stream has one reader; events are kept until they are read.
    public nonisolated let events: AsyncStream<AccountEvent>
    /// The account's open home folder. A change of the directory's keys replaces it.
    public private(set) var home: OpenHome

    package nonisolated let secrets: DeviceSecrets
    let device: DeviceAgreementKeys
    let surroundings: Surroundings
    /// Whether locked notes are opened too, which can only be unlocked.
    let opensLockedNotes: Bool
    /// People whose keys were verified recently.
    var known: [Handle: (contact: Contact, time: UInt64)] = [:]
    /// The notes, open or being opened.
    var openNotes: Task<Result<OpenNotes, NotesError>, Never>?
    /// The directory file under which the notes were opened.
    var profileOfNotes: DirectoryProfile?
    /// Fetches or makes the key that the book needs for writing.
    var notesBeginning: (of: ObjectIdentifier, task: Task<NotesError?, Never>)?
    /// How many calls are using the notes now.
    var notesUseCount = 0
    private let report: AsyncStream<AccountEvent>.Continuation
    private var watching: Task<Void, Never>?

    /// Opens an existing account.
    ///
    /// - Throws: ``SignetError`` about the home folder.
    public static func open(
        in folder: HomeFolder, passphrase: SecretBytes, surroundings: Surroundings = .system
    ) async throws(SignetError) -> Account {
        let home = try OpenHome(folder, in: surroundings)
        guard let keystore = home.keystore else { throw .noAccount(folder: folder.path) }
        return try await Account(home, try AccountBeginning.open(keystore, in: folder, with: passphrase))
    }

    /// Registers a new account, with this device as its first, and verifies that the log has it. After an interruption, call it
    /// again.
    ///
    /// - Parameters:
    ///   - profile: the directory file, which the user received over a channel that the directory's server does not control.
    ///   - passphrase: the passphrase under which the keys are sealed; refused if it could be guessed too soon.
    ///   - place: the place that holds a part of the keys outside the home folder, such as a TPM or a keyring; nil for none.
    ///   - proof: what a directory asks for that does not register everybody; an invitation for a handle that the operator has released;
    ///     nil for nothing.
    /// - Throws: ``SignetError``.
    public static func create(
        _ handle: Handle, at profile: DirectoryProfile, in folder: HomeFolder, passphrase: SecretBytes,
        keysAt place: KeystorePlaceKind? = nil, proof: RegistrationProof? = nil, surroundings: Surroundings = .system
    ) async throws(SignetError) -> Account {
        let beginning = try begin(handle, profile, folder, withIdentity: true, place, passphrase, surroundings)
        _ = try await beginning.register(with: proof)
        return try await Account(try beginning.home.reopened(), beginning.secrets)
    }

    static func begin(
        _ handle: Handle, _ profile: DirectoryProfile, _ folder: HomeFolder, withIdentity: Bool,
        _ place: KeystorePlaceKind?, _ passphrase: SecretBytes, _ surroundings: Surroundings
    ) throws(SignetError) -> AccountBeginning {
        do {
            return try AccountBeginning(
                of: handle, at: profile, in: folder, withIdentity: withIdentity, keysAt: place,
                surroundings: surroundings
            ) { isNew in
                if isNew, let weakness = SecretWeakness.first(of: passphrase, knowing: [handle.description]) {
                    throw SignetError.weakPassphrase(weakness)
                }
                return passphrase
            }
        } catch let error as SignetError { throw error } catch { throw .client(.keystore(.keysDoNotFit)) }
    }

    /// - Parameters:
    ///   - isWatching: whether the log is checked while the account is open; otherwise the caller calls ``look()``.
    ///   - opensLockedNotes: whether locked notes are opened too, which can only be unlocked.
    package init(
        _ home: OpenHome, _ secrets: DeviceSecrets, isWatching: Bool = true, opensLockedNotes: Bool = false
    ) async throws(SignetError) {
        self.home = home
        self.secrets = secrets
        self.opensLockedNotes = opensLockedNotes
        surroundings = home.surroundings
        handle = secrets.handle
        do { device = try DeviceAgreementKeys(secrets) } catch { throw .notes(error) }
        (events, report) = AsyncStream.makeStream()
        guard isWatching else { return }
        watching = Task { [weak self, surroundings] in
            while !Task.isCancelled {
                await self?.look()
                await surroundings.wait(.seconds(3600))
            }
        }
    }

    deinit {
        watching?.cancel()
        report.finish()
    }

    /// Stops the watch and the events, and closes the notes.
    public func close() async {
        watching?.cancel()
        report.finish()
        await closeNotes()
    }

    /// Runs the daily checks now if they are due, and reports the findings. New keys of the directory are followed as in any
    /// other call. Pins that were stored by these checks or by another program apply to the next connections.
    public func look() async {
        var findings = await home.check()
        if let moved = await caughtUp(after: findings) {
            move(to: moved)
            findings = await home.check()
        }
        for finding in findings { report.yield(.found(finding)) }
        guard (try? home.folder.profile()) != home.profile, let kept = try? home.reopened() else { return }
        move(to: kept)
    }

    /// The home under the directory's new keys, if the new keys are why a check was refused and the user's approval is not
    /// needed.
    private func caughtUp(after findings: [WatchFinding]) async -> OpenHome? {
        for case .refused(_, let error) in findings {
            if let moved = try? await home.caughtUp(after: error) { return moved }
        }
        return nil
    }

    /// Runs an operation of the client. A change of the directory's keys is followed during the operation and reported.
    func run<Value: Sendable>(
        _ body: @Sendable (Client<SQLiteStore>) async throws(ClientError) -> Value
    ) async throws(SignetError) -> Value {
        let before = home
        let (value, now) = try await before.run(body)
        // The account may have moved on meanwhile: only what this call has followed counts.
        if now.profile != before.profile { move(to: now) }
        return value
    }

    func tell(_ event: AccountEvent) { report.yield(event) }

    /// Continues in a home whose directory file was replaced.
    package func move(to home: OpenHome) {
        guard home.profile != self.home.profile else { return }
        let hasNewKeys = home.profile.trust != self.home.profile.trust
        self.home = home
        known = [:]
        if hasNewKeys { report.yield(.directoryKeysChanged) }
    }
}

/// Something that an app shows its user.
public enum AccountEvent: Hashable, Sendable {
    /// A check of the log found something.
    case found(WatchFinding)
    /// The directory has new keys. The change was in its log, cosigned by the previous quorum, and was followed.
    case directoryKeysChanged
    /// The directory does not prove that this person, whose request was accepted, sees the same log of the directory as the user.
    case friendsLogNotProven(Handle)
    /// Keys that were just made are not guarded yet, for this reason. Looking at the guardians tries again.
    case guardiansBehind(SignetError)
}
