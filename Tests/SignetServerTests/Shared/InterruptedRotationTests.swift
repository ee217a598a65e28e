// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import ObjectStores
import ObjectTesting
import SignetAPI
import Synchronization
import Testing
import TransparencyLog

@testable import SignetServer

/// Where a change is interrupted.
enum Stop: CaseIterable, Hashable {
    /// Its frame is in the database, and nothing that has it is signed or published.
    case committed
    /// It is published, and its proof is in no file.
    case published
    case after(SharedRotation.Step)

    static let allCases: [Stop] = [.committed, .published] + SharedRotation.Step.allCases.map(Stop.after)
}

/// Interrupts changes.
final class Interruptions: Sendable {
    /// The lines with which the record begins after whose commit no object is put any more.
    private let record = Mutex<String?>(nil)

    func fault(_ operation: MemoryObjects.Operation) -> MemoryObjects.Fault? {
        guard let record = record.withLock({ $0 }), case .put(_, let bytes, _) = operation,
            String(decoding: bytes, as: UTF8.self).contains(record)
        else { return nil }
        // What a leader does not try again.
        return .before(.malformedAnswer)
    }

    func interrupt(
        _ change: SharedRotationTests.Change, _ stop: Stop, of directory: MovingDirectory, _ number: Int = 0
    ) async throws {
        let rotation = directory.rotation { (reached) throws(KeyRotationError) in
            if stop == .after(reached) { throw .interrupted }
        }
        if stop == .committed {
            let proofs = FileManager.default.contents(atPath: directory.data.history + "/succession")
            let count = try proofs.map { try SuccessionChain(decoding: Array($0)).links.count } ?? 0
            record.withLock { $0 = "kt-key/v1\nkeys\n\(count + 1)\n" }
        }
        // Where the draft of the proof is to be.
        let draft = directory.data.history + "/succession.new"
        let before = try directory.sql("SELECT published_size FROM log.log")
        if stop == .published {
            try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: true)
        }
        await #expect(throws: KeyRotationError.self) { _ = try await change.run(rotation, number) }
        record.withLock { $0 = nil }
        if stop == .published {
            try FileManager.default.removeItem(atPath: draft)
            #expect(try directory.sql("SELECT published_size FROM log.log") != before, "it is not published")
        }
        guard stop == .committed else { return }
        #expect(try directory.sql("SELECT size > published_size FROM log.log") == "t", "it is published")
    }
}

// What else is asked for while a change is interrupted.
extension SharedRotationTests {
    /// A log that has been led, with nobody in it, whose changes are interrupted.
    func withInterruptions(_ body: (MovingDirectory, Interruptions) async throws -> Void) async throws {
        let interruptions = Interruptions()
        try await withShared(MemoryObjects { interruptions.fault($0) }) { try await body($0, interruptions) }
    }

    /// Neither an edited list nor the one of before completes it, and neither is said to be required already: the right one is named.
    @Test(arguments: [Stop.committed, .published, .after(.logged), .after(.kept)])
    func anInterruptedChangeIsCompletedByNoOtherList(step: Stop) async throws {
        try await withInterruptions { directory, interruptions in
            _ = try await Change.witnesses.run(directory.rotation(), 1)
            try await interruptions.interrupt(.witnesses, step, of: directory, 2)
            let generation = try directory.sql("SELECT generation FROM log.log")
            var lines: [UInt8] = []
            for (change, number) in [(Change.witnesses, 1), (.witnesses, 3), (.key, 0)] {
                let named = try await otherChange { _ = try await change.run(directory.rotation(), number) }
                guard case .witnesses(let list) = named else {
                    Issue.record("\(change), \(number): \(String(describing: named))")
                    return
                }
                lines = list
            }
            #expect(try directory.sql("SELECT generation FROM log.log") == generation)
            #expect(try await directory.rotation().changeWitnesses(to: lines, untried: true) != nil)
            #expect(try await Change.witnesses.run(directory.rotation(), 2) == nil, "it is another list")
        }
    }

    /// What a command says that something else has to be completed first.
    private func otherChange(_ command: () async throws -> Void) async throws -> PendingChange? {
        do { try await command() } catch KeyRotationError.otherChange(let pending) { return pending }
        return nil
    }

    /// The key that it needs is named, and neither one more is made nor another one tried.
    @Test(arguments: [Stop.committed, .published, .after(.logged), .after(.kept)])
    func anInterruptedChangeIsCompletedByNoOtherKey(step: Stop) async throws {
        try await withInterruptions { directory, interruptions in
            try await interruptions.interrupt(.key, step, of: directory)
            let next = try directory.rotation().announceLogKey()
            let path = directory.data.keys + "/log.key.next"
            try FileManager.default.moveItem(atPath: path, toPath: path + ".needed")
            #expect(try await otherChange { _ = try await Change.key.run(directory.rotation()) } == .logKey(next))
            #expect(!exists(path), "one more was made")
            #expect(try directory.rotation().announceLogKey() != next)
            for change in Change.allCases {
                #expect(try await otherChange { _ = try await change.run(directory.rotation()) } == .logKey(next))
            }
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + ".needed", toPath: path)
            #expect(try await Change.key.run(directory.rotation())?.trust.policy.logs == [next])
        }
    }

    /// With another next key nobody could lead any more.
    @Test(arguments: Stop.allCases.filter { $0 != .after(.taken) })
    func inAnInterruptedChangeTheNextKeyIsNotDiscarded(step: Stop) async throws {
        try await withInterruptions { directory, interruptions in
            try await interruptions.interrupt(.key, step, of: directory)
            let next = try directory.rotation().announceLogKey()
            await #expect(throws: KeyRotationError.self) {
                _ = try await directory.rotation().announceAnotherLogKey()
            }
            #expect(try directory.rotation().announceLogKey() == next)
            #expect(try await Change.key.run(directory.rotation())?.trust.policy.logs == [next])
            #expect(try await directory.rotation().announceAnotherLogKey().discarded == nil)
        }
    }
}

private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
