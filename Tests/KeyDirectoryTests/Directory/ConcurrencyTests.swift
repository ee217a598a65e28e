// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

@Suite(.everyEngine) struct DirectoryConcurrencyTests {
    let place: Place
    let directory: Directory

    init() async throws {
        place = try Place()
        directory = try await place.create()
    }

    @Test func ofManyConcurrentUpdatesExactlyOneIsStored() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        var requests: [(StateSubmission, Caller)] = []
        for number in 2...25 {
            let submission = try await alice.submission(
                devices: alice.devices + [Device(UInt16(number))], at: directory)
            let caller = try await alice.devices[0].caller(.updateState, submission.encoded, at: directory)
            requests.append((submission, caller))
        }
        let outcomes = try await withThrowingTaskGroup(of: ErrorCode?.self) { group in
            for (submission, caller) in requests {
                group.addTask { try await refusal { try await directory.update(submission, by: caller) } }
            }
            return try await group.reduce(into: [ErrorCode?]()) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        #expect(outcomes.filter { $0 == .versionConflict }.count == requests.count - 1)
        #expect(directory.log.published.head.size == 7)
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state.version == 2)
    }

    /// Without `AccountTurns`: the transaction alone must let one through.
    @Test func ofManyTransactionsForOneVersionExactlyOneIsStored() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        var submissions: [StateSubmission] = []
        for number in 2...13 {
            submissions.append(
                try await alice.submission(devices: alice.devices + [Device(UInt16(number))], at: directory))
        }
        let device = alice.devices[0]
        let outcomes = try await withThrowingTaskGroup(of: ErrorCode?.self) { group in
            for submission in submissions {
                group.addTask { try await refusal { try await directory.writeOnly(submission, by: device) } }
            }
            return try await group.reduce(into: [ErrorCode?]()) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        #expect(outcomes.filter { $0 == .versionConflict }.count == submissions.count - 1)
    }

    @Test func concurrentCopiesOfOneRegistrationGetTheSameReceipt() async throws {
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let receipts = try await withThrowingTaskGroup(of: StateReceipt.self) { group in
            for _ in 0..<16 { group.addTask { try await alice.send(submission, to: directory) } }
            return try await group.reduce(into: [StateReceipt]()) { $0.append($1) }
        }
        #expect(Set(receipts) == [StateReceipt(index: 2, size: 4)])
    }

    @Test func ofManyConcurrentRegistrationsWithOneDeviceKeyOneIsAccepted() async throws {
        let shared = try Device(1)
        let people = try (0..<12).map { number in
            var person = try Person("person-\(number)@example.org")
            person.devices = [shared]
            return person
        }
        let outcomes = try await withThrowingTaskGroup(of: ErrorCode?.self) { group in
            for person in people {
                group.addTask {
                    var person = person
                    return try await refusal { try await person.register(at: directory) }
                }
            }
            return try await group.reduce(into: [ErrorCode?]()) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        #expect(outcomes.filter { $0 == .keyInUse }.count == people.count - 1)
    }

    @Test func lookupsDuringUpdatesAlwaysVerify() async throws {
        var alice = try Person("alice@example.org")
        try await alice.register(at: directory)
        let (handle, place, directory) = (alice.handle, place, directory)
        let isDone = Shared(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var version: UInt64 = 0
                    repeat {
                        let found = try await place.verifiedLookup(handle, at: directory)
                        #expect(found.state.version >= version)
                        version = found.state.version
                        await Task.yield()
                    } while !isDone.now
                }
            }
            for _ in 0..<12 { try await alice.change(to: alice.devices + [alice.newDevice()], at: directory) }
            isDone.change { $0 = true }
            try await group.waitForAll()
        }
        #expect(try await place.verifiedLookup(handle, at: directory).state.version == 13)
    }

    @Test func aCancelledCallersStateStillGoesIntoTheLog() async throws {
        let alice = try Person("alice@example.org")
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let (signature, content) = try alice.devices[0].sign(
            .register, submission.encoded, at: directory, time: place.clock.now)
        let task = Task { try await directory.register(submission, signature, content) }
        task.cancel()
        #expect(try await task.value == StateReceipt(index: 2, size: 4))
    }
}

@Suite struct AccountTurnsTests {
    @Test func changesOfOneHandleRunOneAtATime() async throws {
        let turns = AccountTurns()
        let handle = try Handle(typed: Array("alice@example.org".utf8))
        let running = Shared(0)
        let largest = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await turns.run(handle) { () throws(DirectoryError) in
                        let now = running.change { count -> Int in
                            count += 1
                            return count
                        }
                        largest.change { $0 = max($0, now) }
                        await Task.yield()
                        running.change { $0 -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(largest.now == 1)
    }

    @Test func aChangeRunsAfterARefusedOne() async throws {
        let turns = AccountTurns()
        let handle = try Handle(typed: Array("alice@example.org".utf8))
        await #expect(throws: DirectoryError.database) {
            try await turns.run(handle) { () throws(DirectoryError) in throw .database }
        }
        #expect(try await turns.run(handle) { () throws(DirectoryError) in 7 } == 7)
    }
}
