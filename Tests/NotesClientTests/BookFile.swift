// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import NotesAPI
import ProtocolTesting
import SignetClient
import Testing

@testable import NotesClient

/// The file of a device's notes in a folder of its own.
struct BookFile {
    let files: BookStore
    let outbox: Outbox

    static func note(_ number: UInt8) throws -> NoteID {
        try #require(NoteID([UInt8](repeating: number, count: NoteID.byteCount)))
    }

    static func with(_ body: (BookFile) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "signet-book-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let secrets = try DeviceSecrets.generate(
            for: Handle(typed: Array("alice@example.org".utf8)), withIdentity: true)
        let store = try NotesStore.open(at: folder.path() + "/notes.sqlite")
        let files = try BookStore(store, secrets)
        try body(BookFile(files: files, outbox: Outbox(files)))
        try store.close()
    }

    /// Accepts a record of a note that the server holds.
    func accept(_ record: HeldRecord, of note: NoteID) throws {
        try files.write { try $0.keep(record, of: note, isAccepted: true) }
    }
}

extension NotePush {
    /// The revision that is pushed.
    var revision: RevisionRecord {
        get throws {
            guard case .revision(let record) = operation else { throw Missing() }
            return record
        }
    }

    /// The step that is pushed.
    var entry: ControlEntry {
        get throws {
            guard case .control(let push) = operation else { throw Missing() }
            return push.entry
        }
    }
}
