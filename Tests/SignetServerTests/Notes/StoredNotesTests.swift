// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteStore
import NotesAPI
import ProtocolTesting
import Testing
import TransparencyLog

@testable import SignetServer

/// The notes' files in a data directory.
@Suite struct StoredNotesTests {
    private func mode(_ path: String) throws -> Int {
        try (FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    /// Makes the notes of a data directory, with a password registered in them.
    private func makeNotes(_ data: DataDirectory) async throws {
        await (try StoredNotes.open(data, logger: silent)).close()
        let store = try NoteArchive(at: data.notesDatabase, clock: { 1 }, logger: silent)
        _ = try await store.register(
            RegistrationEnd(version: 0, record: NoteDraft.bytes(192), wrap: [1]), of: NoteWriter("alice").handle)
        store.close()
    }

    @Test func onlyTheOwnerCanReadTheDatabaseAndTheLoginKey() async throws {
        try await withDataDirectory { data in
            try await makeNotes(data)
            #expect(try mode(data.notes) == 0o700)
            #expect(try mode(data.notesDatabase) == 0o600)
            #expect(try mode(data.loginKey) == 0o600)
            #expect(FileManager.default.contents(atPath: data.loginKey)?.count == 96)
        }
    }

    @Test func open_refusesAMissingLoginKeyOfRegisteredPasswords() async throws {
        try await withDataDirectory { data in
            try await makeNotes(data)
            try FileManager.default.removeItem(atPath: data.loginKey)
            await #expect(throws: StoredNotesError.loginKeyMissing) { try await StoredNotes.open(data, logger: silent) }
        }
    }

    @Test func open_refusesALoginKeyThatOthersMayRead() async throws {
        try await withDataDirectory { data in
            try await makeNotes(data)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: data.loginKey)
            await #expect(throws: StoredNotesError.loginKeyNotPrivate) {
                try await StoredNotes.open(data, logger: silent)
            }
        }
    }

    @Test func open_refusesADamagedLoginKey() async throws {
        try await withDataDirectory { data in
            try await makeNotes(data)
            let key = try FileHandle(forWritingTo: URL(fileURLWithPath: data.loginKey))
            try key.truncate(atOffset: 95)
            try key.close()
            await #expect(throws: StoredNotesError.loginKeyDamaged) { try await StoredNotes.open(data, logger: silent) }
        }
    }

    @Test func theDatabaseDoesNotHoldTheLoginKey() async throws {
        try await withDataDirectory { data in
            try await makeNotes(data)
            let secret = try #require(FileManager.default.contents(atPath: data.loginKey))
            let database = try #require(FileManager.default.contents(atPath: data.notesDatabase))
            for part in [secret.prefix(64), secret.suffix(32)] { #expect(database.range(of: part) == nil) }
        }
    }

    @Test func erase_leavesTheHandleOutOfTheDatabase() async throws {
        try await withDataDirectory { data in
            try await makeNotes(data)
            let handle = try NoteWriter("alice").handle
            #expect(FileManager.default.contents(atPath: data.notesDatabase)?.range(of: Data(handle.bytes)) != nil)
            try await StoredNotes.erase(handle, from: data, logger: silent)
            #expect(FileManager.default.contents(atPath: data.notesDatabase)?.range(of: Data(handle.bytes)) == nil)
        }
    }

    @Test func handOver_movesTheNotesAndTheLoginKey() async throws {
        try await withDataDirectory { data in
            try await makeNotes(data)
            let secret = FileManager.default.contents(atPath: data.loginKey)
            let successor = DataDirectory(path: data.path + "-successor")
            let rotation = DirectoryKeyRotation(data, logger: silent)
            _ = try await rotation.handOver(
                to: successor, origin: try KeyName(Array("example.org/next".utf8)), witnesses: nil, at: TestPerson.now)
            #expect(!FileManager.default.fileExists(atPath: data.notes))
            #expect(FileManager.default.contents(atPath: successor.loginKey) == secret)
            await (try StoredNotes.open(successor, logger: silent)).close()
        }
    }

    @Test func erase_createsNoNotes() async throws {
        try await withDataDirectory { data in
            try await StoredNotes.erase(NoteWriter("alice").handle, from: data, logger: silent)
            #expect(!FileManager.default.fileExists(atPath: data.notes))
        }
    }
}
