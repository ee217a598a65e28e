// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import GRDB
import KeyTransparency
import SQLStores
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

/// The data directory of `signetd` from before the tables of former logs and of what friends signed: alice has asked
/// bob, who accepted, and carol, who has not answered.
@Suite struct OldDirectoryTests {
    private static let old = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Vectors/old/directory-1")

    /// Puts the files where that program had them.
    private func place() throws -> Place {
        let files = FileManager.default
        let keys = files.temporaryDirectory.appending(path: "signet-keys-\(UUID().uuidString)")
        defer { try? files.removeItem(at: keys) }
        try files.copyItem(at: Self.old.appending(path: "keys"), to: keys)
        for name in try files.contentsOfDirectory(atPath: keys.path) {
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys.appending(path: name).path)
        }
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: keys.path)
        let place = try Place(
            DirectoryKeys.read(from: keys.path, origin: KeyName("example.org/signet".utf8)), on: .sqlite)
        let paths = DirectoryPaths(root: place.path)
        try files.createDirectory(atPath: paths.log + "/wal", withIntermediateDirectories: true)
        try pad("wal", to: 1 << 20, at: paths.log + "/wal/00000000000000000000")
        try pad("checkpoint.lock", to: 1 << 17, at: paths.log + "/checkpoint.lock")
        let queue = try DatabaseQueue(path: paths.database)
        let dump = try String(contentsOf: Self.old.appending(path: "directory.sql"), encoding: .utf8)
        try queue.inDatabase { try $0.execute(sql: dump) }
        try queue.close()
        return place
    }

    private func pad(_ name: String, to count: Int, at path: String) throws {
        var bytes = try Data(contentsOf: Self.old.appending(path: name))
        bytes.append(Data(count: count - bytes.count))
        try bytes.write(to: URL(filePath: path))
    }

    @Test func open_keepsTheAccountsAndFriendsOfAnOlderProgram() async throws {
        let place = try place()
        for round in 0..<2 {
            let directory = try await place.open()
            for name in ["alice", "bob", "carol"] {
                let handle = try Handle(typed: Array("\(name)@example.org".utf8))
                #expect(try await place.verifiedLookup(handle, at: directory).state.version == 1)
            }
            let (friends, signed, former) = try await directory.database.read { database in
                (
                    try FriendRows.list(of: 1, after: nil, limit: 100, in: database),
                    try FriendRows.signed(by: Handle(typed: Array("alice@example.org".utf8)), to: 2, in: database),
                    try database.rows("SELECT * FROM former", []).count
                )
            }
            #expect(
                friends == [
                    .init(handle: "bob@example.org", status: .accepted),
                    .init(handle: "carol@example.org", status: .requested),
                ])
            #expect(signed == nil && former == 0)
            let trail = try await directory.events(of: Handle(typed: Array("alice@example.org".utf8)))
            #expect(trail.last?.name == "registered" && trail.allSatisfy { $0.administrator == nil && $0.until == nil })
            var person = try Person("dave\(round)@example.org")
            try await person.register(at: directory)
            await directory.close()
        }
    }
}
