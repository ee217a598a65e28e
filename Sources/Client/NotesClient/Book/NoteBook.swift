// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
public import NoteLog
import NotesAPI
public import SealedNotes
public import SignetClient

/// A person's notes on one device: written and read without a network, sent and fetched by ``sync()``.
///
/// Everything is on the disk as it is sent, sealed; what was opened is in memory only, and gone with the book.
public actor NoteBook<Store: ClientStore> {
    let client: Client<Store>
    let secrets: DeviceSecrets
    let store: NotesStore
    let surroundings: Surroundings
    let author: Author
    let seal: StoreSeal
    let device: DeviceAgreementKeys
    let calls: NoteCalls<Store>

    /// The account master keys that this device has, by epoch.
    var accounts: [UInt32: AccountMasterKey] = [:]
    /// The newest of them.
    var account: AccountMasterKey? { accounts.max { $0.key < $1.key }?.value }
    var held: [NoteID: HeldNote] = [:]
    /// Notes of which not even the log holds.
    var broken: [NoteID: NoteLock] = [:]
    /// Verified keys of people, for the length of one sync.
    var keysOfPeople: [Handle: AuthorKeys] = [:]
    /// How many people were looked up, in as long, who are neither known nor members of anything that is believed.
    var unexpectedPeople = 0
    /// The own account, for as long.
    var own: VerifiedLookup?
    /// The epoch of the latest verified lookup, kept for the same time: in it the log gives the positions of notes.
    var newestEpoch: VerifiedEpoch?
    /// Ed25519 keys of own devices that were removed, while what they wrote until then is fetched; else empty.
    var devicesOfBefore: [[UInt8]] = []
    /// Those of them whose devices have changed, without the user's word.
    var changedPeople: Set<Handle> = []
    var index: SearchIndex?
    /// Notes of which another device of this account has seen more.
    var withheld: Set<NoteID> = []
    /// Notes that were compared with the log in this sync.
    var compared: Set<NoteID> = []
    /// Those that are not here as the log says, or may not be.
    var doubts: [NoteID: HeadDoubt] = [:]
    let headsInLog: HeadsInLog
    let bounds: FeedBounds
    /// The note of which nothing is dropped, while a step is made that needs all that came of it.
    var spared: NoteID?
    /// Notes of which something was dropped in this sync, since it was too much.
    var dropped: Set<NoteID> = []
    /// Checkpoints from others that were compared already.
    var metCheckpoints: Set<[UInt8]> = []

    /// Opens everything that this device has.
    ///
    /// - Parameters:
    ///   - secrets: the device's keys; their holder can read the notes.
    ///   - isUnlocking: whether a locked book is wanted, which can only be unlocked.
    /// - Throws: ``NotesError``; ``NotesError/isLocked``.
    public init(
        _ client: Client<Store>, secrets: DeviceSecrets, store: NotesStore, in surroundings: Surroundings = .system,
        isUnlocking: Bool = false
    ) async throws(NotesError) {
        try await self.init(
            client, secrets: secrets, store: store, in: surroundings, isUnlocking: isUnlocking, headsInLog: .demanded)
    }

    /// With a server of notes that has no log: for tests.
    package init(
        _ client: Client<Store>, secrets: DeviceSecrets, store: NotesStore, in surroundings: Surroundings,
        isUnlocking: Bool, headsInLog: HeadsInLog, bounds: FeedBounds = .standard
    ) async throws(NotesError) {
        self.headsInLog = headsInLog
        self.bounds = bounds
        self.client = client
        self.secrets = secrets
        self.store = store
        self.surroundings = surroundings
        author = Author(handle: secrets.handle, device: secrets.keys.signing)
        device = try DeviceAgreementKeys(secrets)
        seal = try StoreSeal(secrets)
        calls = NoteCalls(client: client, secrets: secrets, surroundings: surroundings)
        guard try !read({ try $0.account().isLocked }) else {
            guard isUnlocking else { throw .isLocked }
            return
        }
        try openStoredAccountKeys()
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

    /// All notes, the last changed first.
    public func notes() -> [NoteFacts] {
        let notes = held.values.map { NoteFacts($0, for: author.handle) } + broken.map { NoteFacts($0, lockedBy: $1) }
        return notes.sorted { ($0.modified, $1.note) > ($1.modified, $0.note) }
    }

    /// One note.
    ///
    /// - Throws: ``NotesError/noSuchNote(_:)``.
    public func facts(_ note: NoteID) throws(NotesError) -> NoteFacts {
        if let lock = broken[note] { return NoteFacts(note, lockedBy: lock) }
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

    func heldNote(_ note: NoteID) throws(NotesError) -> HeldNote {
        if let lock = broken[note] { throw .locked(lock) }
        guard let held = held[note] else { throw .noSuchNote(note) }
        return held
    }

    // MARK: Loading

    var opener: NoteOpener { NoteOpener(owner: author.handle, device: device, accounts: accounts) }

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
        index = nil
        var file = stored
        let note = file.note
        let fault = fault ?? (withheld.contains(note) ? .withheld : doubts[note].map { .doubted($0) })
        if try rebase(file) { file = try self.file(of: note) }
        held[note] = nil
        broken[note] = nil
        do throws(NoteLock) { held[note] = try opener.open(file, fault: fault) } catch { broken[note] = error }
        if held[note] == nil, let fault { broken[note] = fault }
    }

    func file(of note: NoteID) throws(NotesError) -> NoteFile {
        try read { try $0.file(of: note) }
    }

    func read<Value>(_ body: (NotesTables) throws -> Value) throws(NotesError) -> Value {
        do { return try store.read(seal, body) } catch { throw .store(error) }
    }

    /// One transaction.
    func write<Value>(_ body: (NotesTables) throws -> Value) throws(NotesError) -> Value {
        do { return try store.write(seal, body) } catch { throw .store(error) }
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
