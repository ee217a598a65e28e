// SPDX-License-Identifier: Apache-2.0

public import NotesClient
public import SecretMemory
import SignetAPI
public import SignetClient

extension Account {
    /// Runs an operation on the notes, which are opened at the first use. A change of the directory's keys is followed during
    /// the operation and reported. Other operations on the notes that are running at that moment fail and can be repeated.
    ///
    /// - Parameter body: run again from its beginning after such a change. Write and sync in two separate calls; otherwise a
    ///   note may be written twice.
    /// - Throws: ``SignetError``.
    public func notes<Value: Sendable>(
        _ body: @Sendable (NoteBook<SQLiteStore>) async throws(NotesError) -> Value
    ) async throws(SignetError) -> Value {
        try await storedNotes { book throws(NotesError) in
            try await self.begin(book)
            return try await body(book)
        }
    }

    /// Gives the user's own notes new keys, after a device was lost, and has the guardians guard the new keys. The notes password and
    /// the paper recovery key become invalid together with the old keys.
    ///
    /// - Parameter passphrase: the passphrase, as the user has just given it.
    /// - Returns: how many notes have new keys.
    /// - Throws: ``SignetError``.
    public func rotateNotes(knowing passphrase: SecretBytes) async throws(SignetError) -> Int {
        let count = try await storedNotes { book throws(NotesError) in try await book.rotate() }
        await followGuardians(knowing: passphrase)
        return count
    }

    /// Waits until the server has something new for the user's notes; `NoteBook.sync` fetches it. A server that
    /// cannot keep the user waiting is asked again after five seconds.
    ///
    /// - Throws: ``SignetError``. One whose family is `environment` may pass, such as a restart of the server: wait, and call it again.
    public func waitForNotes() async throws(SignetError) {
        while !Task.isCancelled {
            let start = ContinuousClock.now
            guard try await !storedNotes({ book throws(NotesError) in try await book.wait(atMost: 25) }) else { return }
            if ContinuousClock.now - start < .seconds(1) { await surroundings.wait(.seconds(5)) }
        }
    }

    /// The same, without a key to write with where there is none yet.
    package func storedNotes<Value: Sendable>(
        _ body: @Sendable (NoteBook<SQLiteStore>) async throws(NotesError) -> Value
    ) async throws(SignetError) -> Value {
        notesUseCount += 1
        defer { notesUseCount -= 1 }
        let first: ClientError
        do throws(NotesError) { return try await body(try await book()) } catch {
            guard case .client(let refusal) = error else { throw .notes(error) }
            first = refusal
        }
        guard let moved = try await home.caughtUp(after: first) else { throw .notes(.client(first)) }
        move(to: moved)
        do throws(NotesError) { return try await body(try await book(isRefused: true)) } catch { throw .notes(error) }
    }

    /// Fetches or makes the account's key to the notes before the first use, because nothing can be written without it. Without
    /// a network, the notes that are already here can be read. Concurrent callers wait for the result.
    private func begin(_ book: NoteBook<SQLiteStore>) async throws(NotesError) {
        let beginning: Task<NotesError?, Never>
        if let notesBeginning, notesBeginning.of == ObjectIdentifier(book) {
            beginning = notesBeginning.task
        } else {
            beginning = Task { await Self.begin(book) }
            notesBeginning = (ObjectIdentifier(book), beginning)
        }
        guard let error = await beginning.value else { return }
        if notesBeginning?.task == beginning { notesBeginning = nil }
        throw error
    }

    private static func begin(_ book: NoteBook<SQLiteStore>) async -> NotesError? {
        guard await !book.hasAccountKey else { return nil }
        do throws(NotesError) { _ = try await book.sync() } catch {
            return error.family == .environment ? nil : error
        }
        return nil
    }

    /// Only one book at a time has the file open; concurrent callers wait while it is being opened. Under another directory
    /// file it is opened again, once it is no longer in use or the directory has refused the previous one.
    private func book(isRefused: Bool = false) async throws(NotesError) -> NoteBook<SQLiteStore> {
        let isCurrent = profileOfNotes == home.profile
        let opening =
            if let openNotes, isCurrent || (notesUseCount > 1 && !isRefused) { openNotes } else { openAgain() }
        switch await opening.value {
        case .success(let open): return open.book
        case .failure(let error):
            if openNotes == opening { openNotes = nil }
            throw error
        }
    }

    private func openAgain() -> Task<Result<OpenNotes, NotesError>, Never> {
        let before = openNotes
        let opening = Task { [home, secrets, opensLockedNotes] in
            await before?.value.close()
            return await OpenNotes.open(in: home, secrets, isUnlocking: opensLockedNotes)
        }
        (openNotes, profileOfNotes, notesBeginning) = (opening, home.profile, nil)
        return opening
    }

    func closeNotes() async {
        guard let opening = openNotes else { return }
        openNotes = nil
        await opening.value.close()
    }
}

extension Result<OpenNotes, NotesError> {
    /// Everything written is already on the disk: a file that fails to close loses nothing.
    fileprivate func close() {
        guard case .success(let open) = self else { return }
        try? open.store.close()
    }
}

/// A book of notes and the file that holds it.
struct OpenNotes: Sendable {
    let book: NoteBook<SQLiteStore>
    let store: NotesStore

    static func open(
        in home: OpenHome, _ secrets: DeviceSecrets, isUnlocking: Bool
    ) async -> Result<OpenNotes, NotesError> {
        let store: NotesStore
        do { store = try NotesStore.open(at: home.folder.notesPath) } catch { return .failure(.store(error)) }
        do throws(NotesError) {
            let book = try await NoteBook(
                home.client, secrets: secrets, store: store, in: home.surroundings, isUnlocking: isUnlocking)
            return .success(OpenNotes(book: book, store: store))
        } catch {
            try? store.close()
            return .failure(error)
        }
    }
}

extension HomeFolder {
    /// The SQLite file of the notes.
    public var notesPath: String { path + "/notes.sqlite" }
}
