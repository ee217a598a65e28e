// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import KeyTransparency
import LogEngine
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

/// What is left of an erased account: of its bytes, in an SQLite file; of its rows, on every engine.
@Suite struct ErasureTests {
    let place: Place
    let directory: Directory

    init() async throws {
        place = try Place()
        directory = try await place.create()
    }

    /// The files of the data directory that hold these bytes anywhere.
    private func files(holding bytes: [UInt8]) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: place.path)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            let contents = FileManager.default.contents(atPath: "\(place.path)/\(name)") ?? Data()
            return contents.range(of: Data(bytes)) != nil
        }
    }

    @Test func erase_leavesTheHandleInNoFile() async throws {
        var alice = try Person("alice-to-be-forgotten@example.org", deviceCount: 2)
        var bob = try Person("bob@example.org")
        try await alice.register(at: directory)
        try await bob.register(at: directory)
        try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        _ = try await directory.addFriend(bob.handle, by: alice.caller(at: directory))
        _ = try await directory.acceptFriend(alice.handle, by: bob.caller(at: directory))
        #expect(try !files(holding: alice.handle.bytes).isEmpty)
        try await directory.erase(alice.handle)
        #expect(try files(holding: alice.handle.bytes).isEmpty)
        #expect(try files(holding: bob.handle.bytes).count == 1)
    }

    /// Many accounts split and merge pages, which moves rows: no copy may stay behind.
    @Test func erase_leavesNoHandleOfManyAccountsInAFile() async throws {
        let people = try (0..<60).map { try Person("forgotten-\($0)-zyxwv@example.org") }
        for person in people {
            var person = person
            try await person.register(at: directory)
        }
        for person in people.shuffled() { try await directory.erase(person.handle) }
        #expect(try files(holding: Array("forgotten-".utf8)).isEmpty)
        #expect(try files(holding: Array("zyxwv@".utf8)).isEmpty)
    }

    @Test func erase_keepsTheHandlesOfOtherAccounts() async throws {
        let people = try (0..<40).map { try Person("person-\($0)-zyxwv@example.org") }
        for person in people {
            var person = person
            try await person.register(at: directory)
        }
        for (number, person) in people.enumerated() where number % 3 == 0 { try await directory.erase(person.handle) }
        for (number, person) in people.enumerated() {
            #expect(try files(holding: person.handle.bytes).isEmpty == (number % 3 == 0))
        }
    }

    @Test(.everyEngine) func anErasedAccountIsProvenClosedAndCannotBeRegisteredAgain() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        _ = try await place.verifiedLookup(alice.handle, at: directory)
        try await directory.erase(alice.handle)
        guard case .closed(let closure) = try await place.verifiedAnswer(about: alice.handle, at: directory) else {
            Issue.record("not closed")
            return
        }
        #expect(closure.version == 2)
        #expect(closure.history.count == 3)
        #expect(
            try await refusal { try await alice.caller(at: directory) } == .notYourAccount)
        alice.state = nil
        #expect(try await refusal { try await alice.register(at: directory) } == .handleTaken)
    }

    @Test(.everyEngine) func erase_keepsTheLogAndItsRoots() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let before = directory.log.published.head
        try await directory.erase(alice.handle)
        let head = directory.log.published.head
        #expect(head.size == before.size + 2)
        #expect(try directory.log.root(size: before.size) == before.root)
        await directory.close()
        let again = try await place.open()
        #expect(again.log.published.head == head)
        await again.close()
    }

    @Test(.everyEngine) func open_closesAnErasedAccountThatWasNotYetClosed() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        try await directory.database.erase(alice.handle, closing: 2, at: place.clock.now)
        directory.cache.forget(alice.handle)
        #expect(
            try await refusal {
                try await directory.lookup(LookupRequest(handle: alice.handle, knownSize: 0))
            } == .unavailable)
        await directory.close()
        for _ in 0..<2 {
            let again = try await place.open()
            guard case .closed = try await place.verifiedAnswer(about: alice.handle, at: again) else {
                Issue.record("not closed")
                return
            }
            #expect(again.log.published.head.size == 6)
            await again.close()
        }
    }

    @Test(.everyEngine) func erase_doesNotFindAnUnknownHandle() async throws {
        let nobody = try Handle(typed: Array("nobody@example.org".utf8))
        #expect(try await refusal { try await directory.erase(nobody) } == .notFound)
    }

    @Test(.everyEngine) func theAuditTableKeepsTheErasureWithoutTheHandle() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        try await directory.erase(alice.handle)
        let events = try await directory.database.read { try $0.events() }
        #expect(events == ["registered 1", "erased 1"])
    }
}
