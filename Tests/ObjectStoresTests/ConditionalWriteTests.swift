// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import ObjectTesting
import Synchronization
import Testing

/// The writes that callers use, over a store that loses requests and answers.
struct ConditionalWriteTests {
    private let lost = ObjectFault.outcomeUnknown(.connection)
    private let away = ObjectFault.unavailable(.status(503, code: "SlowDown"))
    private let retry = ObjectRetry(attempts: 3) { _ in }

    @Test(arguments: ObjectRule.allCases)
    func aStoreInMemoryKeepsTheRule(rule: ObjectRule) async throws {
        try await rule.check(MemoryObjects(), at: "below")
    }

    /// The faults of the writes, in order; reads are not disturbed.
    private func store(_ faults: [MemoryObjects.Fault?], reads: [MemoryObjects.Fault?] = []) -> MemoryObjects {
        let left = Mutex((faults, reads))
        return MemoryObjects { operation in
            left.withLock { left in
                switch operation {
                case .put: left.0.isEmpty ? nil : left.0.removeFirst()
                case .get: left.1.isEmpty ? nil : left.1.removeFirst()
                case .remove, .list: nil
                }
            }
        }
    }

    @Test func aLostAnswerIsFoundAgain() async throws {
        let store = store([.after(lost)])
        #expect(try await store.putImmutable([1], at: "a", retry: retry) == .same)
        #expect(store.log == [.put("a", [1], .ifAbsent), .put("a", [1], .ifAbsent), .get("a")])
    }

    @Test func aLostRequestIsSentAgain() async throws {
        #expect(try await store([.before(lost)]).putImmutable([1], at: "a", retry: retry) == .written)
        #expect(try await store([.before(away), .before(away)]).putImmutable([1], at: "a", retry: retry) == .written)
    }

    @Test func aSwapWhoseAnswerWasLostIsFoundAgain() async throws {
        let store = store([nil, .after(lost)])
        guard case .swapped(let first) = try await store.swap([1], at: "a", after: nil, retry: retry) else {
            throw Missing()
        }
        let second = try await store.swap([2], at: "a", after: first, retry: retry)
        let there = try #require(await store.get("a"))
        #expect(second == .swapped(there.tag))
        #expect(there.bytes == [2])
    }

    private struct Missing: Error {}

    @Test func aWriteIsGivenUp() async throws {
        let store = store([.before(away), .before(away), .before(away)])
        await #expect(throws: away) { try await store.putImmutable([1], at: "a", retry: retry) }
        #expect(store.log.count == 3)
    }

    /// The last failure says that nothing was done; the first does not.
    @Test func oneUnknownAttemptMakesTheWholeUnknown() async throws {
        let store = store([.before(lost), .before(away), .before(away)])
        let unknown = ObjectFault.outcomeUnknown(.status(503, code: "SlowDown"))
        await #expect(throws: unknown) { try await store.putImmutable([1], at: "a", retry: retry) }
        let refused = ObjectReason.status(403, code: "AccessDenied")
        let second = self.store([.before(lost), .before(.refused(refused))])
        await #expect(throws: ObjectFault.outcomeUnknown(refused)) {
            try await second.putImmutable([1], at: "a", retry: retry)
        }
    }

    @Test func aRefusalIsNotTriedAgain() async throws {
        let refused = ObjectFault.refused(.status(403, code: "RequestTimeTooSkewed"))
        let store = store([.before(refused)])
        await #expect(throws: refused) { try await store.putImmutable([1], at: "a", retry: retry) }
        #expect(store.log.count == 1)
    }

    @Test func aLookThatFailsIsTriedAgainAndNothingIsWrittenMeanwhile() async throws {
        let store = store([.after(lost)], reads: [.before(away)])
        #expect(try await store.putImmutable([1], at: "a", retry: retry) == .same)
        #expect(store.log.suffix(2) == [.get("a"), .get("a")])
    }

    @Test func anObjectThatIsRemovedBetweenWriteAndLookIsWrittenAgain() {
        var write = ConditionalWrite([1], .ifAbsent, attempts: 3)
        write.putAnswered(.changed)
        #expect(write.step == .read)
        write.readAnswered(nil)
        #expect(write.step == .put)
        write.putAnswered(.changed)
        write.readAnswered(nil)
        write.putAnswered(.changed)
        write.readAnswered(nil)
        #expect(write.step == .finished(.failed(.unavailable(.status(412, code: "")))))
    }

    /// F10: a write that was late for ten seconds arrives after the next one.
    @Test func aLateWriteDoesNotOverwriteANewerOne() async throws {
        let store = store([nil, .late(lost)])
        guard case .swapped(let first) = try await store.swap([1], at: "a", after: nil, retry: retry),
            case .swapped(let second) = try await store.swap([2], at: "a", after: first, retry: retry),
            case .swapped = try await store.swap([3], at: "a", after: second, retry: retry)
        else { throw Missing() }
        store.deliver()
        #expect(try await store.get("a")?.bytes == [3])
    }

    @Test func aLateFirstWriteDoesNotOverwriteAnything() async throws {
        let store = store([.late(lost)])
        await #expect(throws: lost) { try await store.putImmutable([1], at: "a", retry: .none) }
        try await store.putImmutable([2], at: "a", retry: retry)
        store.deliver()
        #expect(try await store.get("a")?.bytes == [2])
    }

    @Test func pausesAreMadeBetweenAttemptsOnly() async throws {
        let pauses = Mutex<[Int]>([])
        let retry = ObjectRetry(attempts: 4) { failures in pauses.withLock { $0.append(failures) } }
        let store = store([.before(away), .after(lost)], reads: [.before(away)])
        try await store.putImmutable([1], at: "a", retry: retry)
        #expect(pauses.withLock { $0 } == [1, 2, 3])
    }
}
