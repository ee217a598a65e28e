public import NotesClient
import SignetAPI
public import SignetClient

extension Account {
    /// Does something of the notes'. A change of the directory's keys is followed on the way, and reported.
    ///
    /// - Throws: ``SignetError``.
    public func notes<Value: Sendable>(
        _ body: @Sendable (NoteBook<SQLiteStore>) async throws(NotesError) -> Value
    ) async throws(SignetError) -> Value {
        let first: ClientError
        do throws(NotesError) { return try await body(try await book()) } catch {
            guard case .client(let refusal) = error else { throw .notes(error) }
            first = refusal
        }
        guard let moved = try await home.caughtUp(after: first) else { throw .notes(.client(first)) }
        // One book at a time has the file.
        do { try openNotes?.store.close() } catch { throw .notes(.store(error)) }
        openNotes = nil
        move(to: moved)
        do throws(NotesError) { return try await body(try await book()) } catch { throw .notes(error) }
    }

    private func book() async throws(NotesError) -> NoteBook<SQLiteStore> {
        if let openNotes { return openNotes.book }
        let store: NotesStore
        do { store = try NotesStore.open(at: home.folder.notesPath) } catch { throw .store(error) }
        let book = try await NoteBook(home.client, secrets: secrets, store: store, in: surroundings)
        openNotes = (book, store)
        try await begin(book)
        return book
    }

    /// The account's key to notes is fetched, or made, before the first use: nothing could be written without it. Without a network the
    /// notes that are here can be read.
    private func begin(_ book: NoteBook<SQLiteStore>) async throws(NotesError) {
        guard await !book.hasAccountKey else { return }
        do { _ = try await book.sync() } catch  where error.family == .environment {}
    }
}

extension HomeFolder {
    /// The SQLite file of the notes.
    public var notesPath: String { path + "/notes.sqlite" }
}
