public import KeyTransparency
import NotesClient
import SealedNotes
public import SignetAPI
public import SignetClient

/// A person's account on one device: finds people and verifies their keys, seals to them and opens what they sealed, and watches
/// over the account while it is open.
///
/// What keeps the user safe needs no call: the directory's answers are verified and remembered, a change of its keys is followed if it
/// weakens nothing, and the log is looked at daily for what this device did not do. What was found is in ``events``, which an app reads
/// and shows.
public actor Account {
    /// Whose it is.
    public nonisolated let handle: Handle
    /// What the user has to know, for one reader. Nothing is dropped while nobody reads.
    public nonisolated let events: AsyncStream<AccountEvent>
    /// What the account is in. Another value after a change of the directory's keys.
    public private(set) var home: OpenHome

    package nonisolated let secrets: DeviceSecrets
    let device: DeviceAgreementKeys
    let surroundings: Surroundings
    /// People whose keys were verified a moment ago.
    var known: [Handle: (contact: Contact, time: UInt64)] = [:]
    /// The notes, open or being opened.
    var openNotes: Task<Result<OpenNotes, NotesError>, Never>?
    /// The directory file under which they were opened.
    var profileOfNotes: DirectoryProfile?
    /// Fetches or makes the key with which the book is written.
    var notesBeginning: (of: ObjectIdentifier, task: Task<NotesError?, Never>)?
    /// How many calls use them now.
    var notesUseCount = 0
    private let report: AsyncStream<AccountEvent>.Continuation
    private var watching: Task<Void, Never>?

    /// Opens an account that is there.
    ///
    /// - Throws: ``SignetError``: of the home folder.
    public static func open(
        in folder: HomeFolder, passphrase: SecretBytes, surroundings: Surroundings = .system
    ) async throws(SignetError) -> Account {
        let home = try OpenHome(folder, in: surroundings)
        guard let keystore = home.keystore else { throw .noAccount(folder: folder.path) }
        return try await Account(home, try AccountBeginning.open(keystore, in: folder, with: passphrase))
    }

    /// Registers a new account, with this device as its first, and verifies that the log has it. Interrupted, it is simply called again.
    ///
    /// - Parameters:
    ///   - profile: the directory, as the user was given it by a way that the directory's server does not control.
    ///   - passphrase: what the keys are sealed under; refused when it is guessed too soon.
    ///   - place: what is to hold a part of the keys that the home folder lacks: a TPM, a keyring; nil for none.
    /// - Throws: ``SignetError``.
    public static func create(
        _ handle: Handle, at profile: DirectoryProfile, in folder: HomeFolder, passphrase: SecretBytes,
        keysAt place: KeystorePlaceKind? = nil, surroundings: Surroundings = .system
    ) async throws(SignetError) -> Account {
        let beginning = try begin(handle, profile, folder, withIdentity: true, place, passphrase, surroundings)
        _ = try await beginning.register()
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

    /// - Parameter isWatching: whether the log is looked at while the account is open; else whoever opens it calls ``look()``.
    package init(_ home: OpenHome, _ secrets: DeviceSecrets, isWatching: Bool = true) async throws(SignetError) {
        self.home = home
        self.secrets = secrets
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

    /// Ends the watch and the events, and closes the notes.
    public func close() async {
        watching?.cancel()
        report.finish()
        await closeNotes()
    }

    /// Looks now at what is looked at daily, if it is due, and reports what was found. New keys of the directory are followed as by any
    /// call, and pins that were kept, by this look or by another program, are those of the next connections.
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

    /// The home under the directory's new keys, if they are why a look was refused, and nothing needs the user's word.
    private func caughtUp(after findings: [WatchFinding]) async -> OpenHome? {
        for case .refused(_, let error) in findings {
            if let moved = try? await home.caughtUp(after: error) { return moved }
        }
        return nil
    }

    /// Does something of the client's. A change of the directory's keys is followed on the way, and reported.
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

    /// Goes on in a home whose directory file was replaced.
    package func move(to home: OpenHome) {
        guard home.profile != self.home.profile else { return }
        let hasNewKeys = home.profile.trust != self.home.profile.trust
        self.home = home
        known = [:]
        if hasNewKeys { report.yield(.directoryKeysChanged) }
    }
}

/// What an app shows its user.
public enum AccountEvent: Hashable, Sendable {
    /// A look at the log found something.
    case found(WatchFinding)
    /// The directory has new keys. Their change was in its log, cosigned by the quorum of before, and was followed.
    case directoryKeysChanged
    /// Guardians do not guard yet what was made just now, for this reason; looking at them tries again.
    case guardiansBehind(SignetError)
}
