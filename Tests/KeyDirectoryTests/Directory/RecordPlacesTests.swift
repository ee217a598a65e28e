// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LogEngine
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

/// Log and database of one machine are removed under the server: nothing is accepted that would be gone with the process.
@Suite struct RecordPlacesTests {
    @Test(arguments: ["directory.sqlite", "log/checkpoint.lock", "log/wal/00000000000000000000"])
    func nothingIsAcceptedWhileAFileIsAway(_ name: String) async throws {
        let place = try Place()
        let directory = try await place.create()
        var (alice, bob) = (try Person("alice@example.org"), try Person("bob@example.org"))
        try await alice.register(at: directory)
        #expect(directory.displaced == DisplacedFiles())
        let (file, away) = ("\(place.path)/\(name)", "\(place.path)/away")
        try FileManager.default.moveItem(atPath: file, toPath: away)
        #expect(directory.displaced.open == [name])
        #expect(try await refusal { try await bob.register(at: directory) } == .unavailable)
        let next = directory.version(of: .pages) + 1
        #expect(
            try await refusal { try await directory.log([1], under: .pages, version: next) } == .unavailable)

        // People read on; no epoch begins that only this process has.
        let size = directory.log.published.head.size
        place.clock.advance(Directory.standardHeartbeat)
        if name != "directory.sqlite" {
            try await directory.republish()
            #expect(directory.log.published.head.size == size)
        }
        try FileManager.default.moveItem(atPath: away, toPath: file)
        #expect(directory.displaced == DisplacedFiles())
        try await directory.republish()
        #expect(directory.log.published.head.size > size)
        try await bob.register(at: directory, time: place.clock.now)
        await directory.close()
        await (try await place.open()).close()
    }

    /// A connection that opens the database by then does not find what was committed, so nothing is read here.
    @Test(arguments: ["directory.sqlite-wal", "directory.sqlite-shm"])
    func whatSQLiteKeepsBesideTheDatabaseIsLookedForToo_andAnOrderlyEndLosesNothing(_ name: String) async throws {
        let place = try Place()
        let directory = try await place.create()
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        #expect(directory.displaced == DisplacedFiles())
        try FileManager.default.removeItem(atPath: "\(place.path)/\(name)")
        #expect(directory.displaced.open == [name])
        #expect(try await refusal { try await directory.database.write { _ in } } == .unavailable)
        await directory.close()

        let again = try await place.open()
        let handle = alice.handle
        #expect(try await again.database.read { try AccountRow.find(handle, in: $0) != nil })
        await again.close()
    }
}
