// SPDX-License-Identifier: Apache-2.0

import NoteLog
import SignetClient

/// The file of one device's notes. It changes only in transactions, and each of them leaves it consistent.
struct BookStore: Sendable {
    private let store: NotesStore
    private let seal: StoreSeal

    init(_ store: NotesStore, _ secrets: DeviceSecrets) throws(NotesError) {
        self.store = store
        seal = try StoreSeal(secrets)
    }

    func read<Value>(_ body: (NotesTables) throws -> Value) throws(NotesError) -> Value {
        do { return try store.read(seal, body) } catch { throw .store(error) }
    }

    /// Writes in one transaction.
    func write<Value>(_ body: (NotesTables) throws -> Value) throws(NotesError) -> Value {
        do { return try store.write(seal, body) } catch { throw .store(error) }
    }

    func file(of note: NoteID) throws(NotesError) -> NoteFile { try read { try $0.file(of: note) } }

    /// Changes the row of the account, and anything else in the same transaction.
    func changeAccount(
        _ change: (inout NotesAccountRow) -> Void, and more: (NotesTables) throws -> Void = { _ in }
    ) throws(NotesError) {
        try write { tables in
            var account = try tables.account()
            change(&account)
            try tables.set(account)
            try more(tables)
        }
    }
}
