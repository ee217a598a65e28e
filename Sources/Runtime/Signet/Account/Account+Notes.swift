public import NotesClient
import SignetAPI
public import SignetClient

extension Account {
    /// Does something of the notes'. They are opened at the first use. A change of the directory's keys is followed on the way, and
    /// reported; what else uses the notes at that moment fails, and can be done again.
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
        do throws(NotesError) { try await closeNotes() } catch { throw .notes(error) }
        move(to: moved)
        do throws(NotesError) { return try await body(try await book()) } catch { throw .notes(error) }
    }

    /// One book at a time has the file: whoever comes while it is being opened waits for it.
    private func book() async throws(NotesError) -> NoteBook<SQLiteStore> {
        let opening =
            openNotes
            ?? Task { [client = home.client, secrets, surroundings, path = home.folder.notesPath] in
                await OpenNotes.open(at: path, client, secrets, in: surroundings)
            }
        openNotes = opening
        switch await opening.value {
        case .success(let open): return open.book
        case .failure(let error):
            if openNotes == opening { openNotes = nil }
            throw error
        }
    }

    func closeNotes() async throws(NotesError) {
        guard let opening = openNotes else { return }
        openNotes = nil
        guard case .success(let open) = await opening.value else { return }
        do { try open.store.close() } catch { throw .store(error) }
    }
}

/// A book of notes and the file that it is in.
struct OpenNotes: Sendable {
    let book: NoteBook<SQLiteStore>
    let store: NotesStore

    static func open(
        at path: String, _ client: Client<SQLiteStore>, _ secrets: DeviceSecrets, in surroundings: Surroundings
    ) async -> Result<OpenNotes, NotesError> {
        let store: NotesStore
        do { store = try NotesStore.open(at: path) } catch { return .failure(.store(error)) }
        do throws(NotesError) {
            let book = try await NoteBook(client, secrets: secrets, store: store, in: surroundings)
            try await begin(book)
            return .success(OpenNotes(book: book, store: store))
        } catch {
            try? store.close()
            return .failure(error)
        }
    }

    /// The account's key to notes is fetched, or made, before the first use: nothing could be written without it. Without a network the
    /// notes that are here can be read.
    private static func begin(_ book: NoteBook<SQLiteStore>) async throws(NotesError) {
        guard await !book.hasAccountKey else { return }
        do { _ = try await book.sync() } catch  where error.family == .environment {}
    }
}

extension HomeFolder {
    /// The SQLite file of the notes.
    public var notesPath: String { path + "/notes.sqlite" }
}
