import DeviceIdentity
import KeyTransparency
import NotesClient
import RecoveryClient
import SignetClient
import SitesClient
import SocialRecovery

/// What this device gives guardians to guard besides the people: the keys to the notes, and one for each site.
struct GuardedThings {
    private var notes: [JournalEntry]
    private let sites: [JournalEntry]

    /// Gathers it.
    ///
    /// - Parameter passphrase: which opened the account's keys.
    init(_ session: Session, _ secrets: DeviceSecrets, _ passphrase: SecretBytes) async throws {
        var book = try await NotesSession(session, secrets)
        notes = try await book.run { book throws(NotesError) in try await book.recoveryEntries() }
        sites = try await Self.sites(session, passphrase)
    }

    private static func sites(_ session: Session, _ passphrase: SecretBytes) async throws -> [JournalEntry] {
        guard session.home.siteList.exists else { return [] }
        let sites = try SiteSession(session.options, knowing: passphrase)
        return try await sites.run(.setUpGuardians, at: session.home.path) { book, grant throws(SitesError) in
            try await book.recoveryEntries(grant)
        }
    }

    var entries: [JournalEntry] { notes + sites }

    /// Once other parts are in force: gives the notes another key, if the newest is one that the parts from before open.
    ///
    /// - Returns: whether the notes have another key by this; and the sites whose recovery key those parts open. Each gets
    ///   another one by 'signet sites re-register', at a time of its own: all at once would tell the sites who is one person.
    mutating func turn(
        _ session: Session, _ secrets: DeviceSecrets
    ) async throws -> (areNotesTurned: Bool, sites: [VerifiedHost]) {
        let before = newestNotesKey
        let side = session.ownerSide(secrets)
        let (oldKeys, oldSites) = try await session.recovering { [notes, sites] () throws(RecoveryClientError) in
            (try side.openedByFormerParts(notes.suffix(1)), try side.openedByFormerParts(sites))
        }
        if !oldKeys.isEmpty {
            var book = try await NotesSession(session, secrets)
            notes = try await book.run { book throws(NotesError) in
                _ = try await book.rotate()
                return try await book.recoveryEntries()
            }
        }
        let hosts: [VerifiedHost] = oldSites.compactMap {
            if case .siteRecovery(let host, _) = $0 { host } else { nil }
        }
        return (newestNotesKey != before, hosts)
    }

    /// The number of the newest key to the notes.
    private var newestNotesKey: UInt32 {
        notes.reduce(0) { newest, entry in
            if case .accountKey(let epoch, _) = entry { max(newest, epoch) } else { newest }
        }
    }

    var siteCount: Int { sites.count }

    /// Has guardians guard what is new.
    ///
    /// - Returns: what they guard by now; nil when there are no guardians in force.
    func guarded(_ session: Session, _ secrets: DeviceSecrets) async throws -> GuardedNews? {
        let side = session.ownerSide(secrets)
        return try await session.recovering { () throws(RecoveryClientError) in try await side.guardNews(entries) }
    }

    /// After a command that made keys: has guardians guard them, if there are any. What cannot be done now is said, and is
    /// no failure of the command.
    static func follow(_ options: HomeOptions, knowing passphrase: SecretBytes?) async {
        do {
            guard let passphrase, try RecoveryFiles(in: options.folder).isGuarded else { return }
            let session = try Session(options)
            let secrets = try session.secrets(with: passphrase)
            _ = try await GuardedThings(session, secrets, passphrase).guarded(session, secrets)
        } catch {
            let reason = (error as? CommandFailure)?.sentence.what ?? "A file of the home folder cannot be used."
            Output.error("\(Paint.error.warning("Your guardians do not guard this yet:")) \(reason)")
            Output.error("        'signet guardians' tries again.")
        }
    }
}

extension RecoveredThings {
    /// The sites whose recovery keys came back.
    var sites: [VerifiedHost] {
        var sites: [VerifiedHost] = []
        for case .siteRecovery(let host, _) in entries where !sites.contains(host) { sites.append(host) }
        return sites
    }

    /// Puts the keys to sites on this device.
    func restoreSites(_ session: Session, _ passphrase: SecretBytes) async throws {
        guard !sites.isEmpty else { return }
        let session = try SiteSession(session.options, knowing: passphrase)
        try await session.run(.setUpGuardians, at: session.home.path) { book, grant throws(SitesError) in
            try await book.adopt(entries, grant)
        }
    }

    /// Opens the notes on this device, and gives them new keys.
    ///
    /// - Returns: how many there are.
    func restoreNotes(_ session: Session, _ secrets: DeviceSecrets) async throws -> Int {
        var notes = try await NotesSession(session, secrets)
        return try await notes.run { book throws(NotesError) in
            try await book.bringBack(entries, writtenBy: devicesBefore)
        }
    }
}
