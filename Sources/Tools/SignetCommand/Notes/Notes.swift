// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import NoteLog
import SealedNotes
import Signet

/// `signet notes`
struct Notes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes", abstract: "Notes that only you, and the people you share them with, can read.",
        discussion: """
            Notes are sealed on this device before they are sent, and opened on it. What you write is kept here, sealed, and \
            sent at once if the server can be reached, or by the next 'signet notes sync', which also fetches \
            what others wrote. A NOTE is named by the first digits that 'ls' shows, or by its whole title.

            Example: signet notes new Groceries "Milk and bread"
            """,
        subcommands: [
            New.self, List.self, Show.self, Edit.self, Comment.self, Star.self, Search.self, Share.self,
            Unshare.self, Leave.self, Members.self, Rekey.self, Revert.self, Transfer.self, Remove.self, History.self,
            Sync.self,
            Password.self, Recovery.self, Rotate.self, Unlock.self, Lock.self, Attach.self, Fetch.self, Export.self,
            Import.self, AcceptLoss.self,
        ])
}

/// An account's open book of notes, and the session that it was opened in.
struct NotesSession {
    private(set) var session: Session
    private(set) var book: NoteBook<SQLiteStore>
    private let account: Account

    /// Opens the keystore and the notes.
    ///
    /// - Parameter isUnlocking: whether locked notes are wanted, which can only be unlocked.
    init(_ options: any HomeChoice, isUnlocking: Bool = false) async throws {
        let session = try Session(options)
        try await self.init(session, session.secrets(), isUnlocking: isUnlocking)
    }

    /// Opens the notes with keys that are open.
    init(_ session: Session, _ secrets: DeviceSecrets, isUnlocking: Bool = false) async throws {
        self.session = session
        account = try await session.account(secrets, opensLockedNotes: isUnlocking)
        do { book = try await account.storedNotes { $0 } } catch { throw CommandFailure(error, session: session) }
    }

    /// Runs something of the book's and says what went wrong. Changes of the directory's keys are followed on the way.
    mutating func run<Value: Sendable>(
        isWatching: Bool = true, _ body: @Sendable (NoteBook<SQLiteStore>) async throws(NotesError) -> Value
    ) async throws -> Value {
        let result: Result<(Value, NoteBook<SQLiteStore>), SignetError>
        do throws(SignetError) {
            result = .success(try await account.storedNotes { book throws(NotesError) in (try await body(book), book) })
        } catch { result = .failure(error) }
        session = session.moved(to: await account.home)
        do throws(SignetError) {
            let value: Value
            (value, book) = try result.get()
            if isWatching { OwnAccountWatch.arm(session) }
            return value
        } catch { throw CommandFailure(error, session: session) }
    }

    /// Accepts that the server lost something. The next use of the notes opens the new file.
    ///
    /// - Returns: what was done and where the file of before is; nil if nothing is lost.
    mutating func acceptLoss() async throws -> (loss: AcceptedLoss, before: String)? {
        let result: Result<(loss: AcceptedLoss, before: String)?, SignetError>
        do throws(SignetError) {
            result = .success(try await account.acceptLossOfNotes())
        } catch { result = .failure(error) }
        session = session.moved(to: await account.home)
        do throws(SignetError) { return try result.get() } catch { throw CommandFailure(error, session: session) }
    }

    /// Waits until the server has something new.
    mutating func waitForNews() async throws {
        let result: Result<Void, SignetError>
        do throws(SignetError) { result = .success(try await account.waitForNotes()) } catch {
            result = .failure(error)
        }
        session = session.moved(to: await account.home)
        do throws(SignetError) { try result.get() } catch { throw CommandFailure(error, session: session) }
    }

    /// The one note that a person named.
    func note(_ name: String) async throws -> NoteFacts {
        let notes = await book.notes()
        let digits = name.lowercased()
        let isNumber = digits.count >= 4 && digits.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        let titled = notes.filter { $0.document?.title == Array(name.utf8) }
        let found = titled.isEmpty && isNumber ? notes.filter { $0.name.hasPrefix(digits) } : titled
        guard let note = found.first else {
            throw CommandFailure(
                .usage, "No note is called '\(PrintedValue.printable(name))'.",
                "'signet notes ls' shows all notes; 'signet notes sync' fetches new ones.")
        }
        guard found.count == 1 else {
            throw CommandFailure(
                .usage, "\(found.count) notes are called '\(PrintedValue.printable(name))'.",
                "Use the digits that 'signet notes ls' shows.")
        }
        return note
    }

    /// Syncs after a step that the server has applied. What the server has no room for, or what cannot be reached now, waits for
    /// the next sync and is named, which is not a failure of the step.
    mutating func syncTheRest() async throws {
        let result: Result<SyncReport, NotesError>
        do {
            result = try await run { book throws(NotesError) -> Result<SyncReport, NotesError> in
                do throws(NotesError) { return .success(try await book.sync()) } catch {
                    guard case .noRoom = error else { throw error }
                    return .failure(error)
                }
            }
        } catch let failure as CommandFailure where failure.status == .environment {
            return NotesPage.waits(await book.notes(), because: failure.sentence)
        }
        switch result {
        case .success(let report): _ = try NotesPage.finish(report)
        case .failure(let error): NotesPage.waits(await book.notes(), because: error.sentence)
        }
    }

    /// Sends what was written. Without a network it waits, which is not a failure.
    ///
    /// - Returns: whether it is sent.
    mutating func send(unless isOffline: Bool) async throws -> Bool {
        guard !isOffline else { return false }
        do {
            let report = try await run { book throws(NotesError) in try await book.sync() }
            return try NotesPage.finish(report)
        } catch let failure as CommandFailure where failure.status == .environment {
            Output.error("It is kept here but not sent yet: \(failure.sentence.what)")
            return false
        }
    }
}

/// For commands that write.
struct OfflineOptions: ParsableArguments {
    @Flag(help: "Only keep it here; 'signet notes sync' sends it later.") var offline = false
}
