// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
public import NoteLog
import NotesAPI
public import SealedNotes
public import SignetClient

/// A person's notes on one device. They are written and read without a network; ``sync()`` sends and fetches them.
///
/// On the disk everything is sealed, as it is sent. Opened notes are in memory only, and end with the book.
///
/// Each part of the book keeps one kind of state. The outbox and the store keep theirs in the file. The other parts are
/// in memory: the opened notes, the account's keys, the keys of people, and the doubts about notes that come from the
/// account's heads, the directory's log and the bounds of the feed. No part uses another; the book's functions, in one
/// file for each task, combine them.
public actor NoteBook<Store: ClientStore> {
    let client: Client<Store>
    let secrets: DeviceSecrets
    let surroundings: Surroundings
    let author: Author
    let device: DeviceAgreementKeys
    let calls: NoteCalls<Store>
    let headsInLog: HeadsInLog

    // The parts that hold state: the first two in the file, the others in memory.
    let files: BookStore
    let outbox: Outbox
    var opened = NotesInMemory()
    var keyring: AccountKeyring
    let people: PeopleInSync<Store>
    var heads = AccountHeads()
    var logged = LogComparison()
    var news: UnbelievedNews
    /// Checkpoints from other people that were compared already.
    var metCheckpoints: Set<[UInt8]> = []

    /// The notes that open on this device, by name.
    var held: [NoteID: HeldNote] { opened.held }
    /// The newest account master key that this device has.
    var account: AccountMasterKey? { keyring.newest }

    /// Opens everything that this device has.
    ///
    /// - Parameters:
    ///   - secrets: the device's keys; their holder can read the notes.
    ///   - isUnlocking: whether to open a locked book, which can then only be unlocked.
    /// - Throws: ``NotesError``; ``NotesError/isLocked``.
    public init(
        _ client: Client<Store>, secrets: DeviceSecrets, store: NotesStore, in surroundings: Surroundings = .system,
        isUnlocking: Bool = false
    ) async throws(NotesError) {
        try await self.init(
            client, secrets: secrets, store: store, in: surroundings, isUnlocking: isUnlocking, headsInLog: .demanded)
    }

    /// A book for tests, whose server of notes has no log.
    package init(
        _ client: Client<Store>, secrets: DeviceSecrets, store: NotesStore, in surroundings: Surroundings,
        isUnlocking: Bool, headsInLog: HeadsInLog, bounds: FeedBounds = .standard
    ) async throws(NotesError) {
        self.headsInLog = headsInLog
        self.client = client
        self.secrets = secrets
        self.surroundings = surroundings
        author = Author(handle: secrets.handle, device: secrets.keys.signing)
        device = try DeviceAgreementKeys(secrets)
        calls = NoteCalls(client: client, secrets: secrets, surroundings: surroundings)
        files = try BookStore(store, secrets)
        outbox = Outbox(files)
        keyring = AccountKeyring(secrets, device)
        people = PeopleInSync(client, author, maximumUnexpected: bounds.people)
        news = UnbelievedNews(bounds: bounds)
        guard try !read({ try $0.account().isLocked }) else {
            guard isUnlocking else { throw .isLocked }
            return
        }
        try keyring.add(stored: read { try $0.accountKeys() })
        try loadAll()
    }

    /// Whether this device has the key that its notes are made with. The first ``sync()`` fetches or makes it.
    public var hasAccountKey: Bool { account != nil }

    /// Whether any device of the account has made that key.
    ///
    /// - Throws: ``NotesError``.
    public func accountHasNotes() async throws(NotesError) -> Bool {
        if hasAccountKey { return true }
        return try await calls.accountKeys().version > 0
    }

    // MARK: Reading

    /// All notes, the one that changed last first.
    public func notes() -> [NoteFacts] { opened.facts(for: author.handle) }

    /// One note.
    ///
    /// - Throws: ``NotesError/noSuchNote(_:)``.
    public func facts(_ note: NoteID) throws(NotesError) -> NoteFacts {
        if let lock = opened.locks[note] { return NoteFacts(note, lockedBy: lock) }
        return NoteFacts(try heldNote(note), for: author.handle)
    }

    /// Everything that happened to a note, as it was signed.
    ///
    /// - Throws: ``NotesError``.
    public func history(
        _ note: NoteID
    ) throws(NotesError) -> (control: [ControlEntry], revisions: [VerifiedRevision]) {
        let held = try heldNote(note)
        return (held.control.entries, held.revisions.revisions)
    }

    /// What an earlier revision says.
    ///
    /// - Throws: ``NotesError``; ``NotesError/locked(_:)``: this account never had its key.
    public func document(_ note: NoteID, revision number: UInt64) throws(NotesError) -> NoteDocument {
        let held = try heldNote(note)
        guard let revision = held.revisions.revisions.first(where: { $0.record.number == number }) else {
            throw .noSuchNote(note)
        }
        guard let key = held.keys[revision.record.epoch] else {
            throw .locked(.noKey(epoch: revision.record.epoch))
        }
        do { return try key.open(revision) } catch { throw .locked(.sealed(error)) }
    }

    func heldNote(_ note: NoteID) throws(NotesError) -> HeldNote { try opened.note(note) }

    // MARK: Loading

    var opener: NoteOpener { NoteOpener(owner: author.handle, device: device, accounts: keyring.keys) }

    func loadAll() throws(NotesError) {
        let notes = try read { try $0.notes() }
        // Some at a time in one transaction.
        for start in stride(from: 0, to: notes.count, by: 100) {
            let some = notes[start..<min(start + 100, notes.count)]
            for file in try read({ tables in try some.map { try tables.file(of: $0) } }) { try load(file) }
        }
    }

    /// Opens one note again from the store, after the pending changes were rebased on the note's current head.
    func load(_ note: NoteID, fault: NoteLock? = nil) throws(NotesError) { try load(file(of: note), fault: fault) }

    private func load(_ stored: NoteFile, fault: NoteLock? = nil) throws(NotesError) {
        let note = stored.note
        let fault = fault ?? (heads.withheld.contains(note) ? .withheld : logged.doubts[note].map { .doubted($0) })
        let file = try rebase(stored) ? file(of: note) : stored
        opened.open(file, with: opener, fault: fault)
    }

    func file(of note: NoteID) throws(NotesError) -> NoteFile { try files.file(of: note) }

    func read<Value>(_ body: (NotesTables) throws -> Value) throws(NotesError) -> Value { try files.read(body) }

    /// One transaction.
    func write<Value>(_ body: (NotesTables) throws -> Value) throws(NotesError) -> Value { try files.write(body) }

    // MARK: People

    /// The own account as this device knows and accepts it.
    func ownLookup() async throws(NotesError) -> VerifiedLookup { try await people.ownLookup() }

    /// Has people looked up again, and notes compared with the log.
    func forgetPeople() {
        people.forget()
        logged.begin()
    }

    func freshName() throws(NotesError) -> NoteID {
        guard let name = NoteID(surroundings.randomBytes(NoteID.byteCount)) else { throw .noRandomness }
        return name
    }
}

extension DeviceAgreementKeys {
    /// The keys with which this device opens wraps.
    package init(_ secrets: DeviceSecrets) throws(NotesError) {
        let made: Result<DeviceAgreementKeys, SealedNoteError>
        do {
            made = try secrets.withAgreementKeys { agreement, kem in
                do throws(SealedNoteError) {
                    return .success(
                        try DeviceAgreementKeys(
                            handle: secrets.handle, keys: secrets.keys, agreement: agreement, kem: kem))
                } catch { return .failure(error) }
            }
        } catch { throw .client(.keystore(error)) }
        do { self = try made.get() } catch { throw .sealed(error) }
    }
}
