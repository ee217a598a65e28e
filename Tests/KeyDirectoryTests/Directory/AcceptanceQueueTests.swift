// SPDX-License-Identifier: Apache-2.0

import SignetAPI
import Synchronization
import Testing

@testable import KeyDirectory

/// Which changes go together, and who is told what.
@Suite struct AcceptanceQueueTests {
    typealias Outcome = AcceptanceQueue.Outcome

    /// Notes what was written together, and holds each transaction until it is let on.
    private final class Writer: Sendable {
        let groups = Shared<[[Int]]>([])
        private let gates = Shared<[CheckedContinuation<Void, Never>]>([])

        /// The change with a number is refused with `tooLarge` if that is odd.
        func write(_ changes: [Acceptance]) async -> [Outcome] {
            let numbers = changes.map { $0.byteCount / 100 }
            await withCheckedContinuation { gate in
                gates.change { $0.append(gate) }
                groups.change { $0.append(numbers) }
            }
            return numbers.map { $0.isMultiple(of: 2) ? .success(nil) : .failure(.refused(.tooLarge)) }
        }

        func letOn(_ number: Int) async {
            while gates.now.count < number { await Task.yield() }
            gates.now[number - 1].resume()
        }
    }

    private let writer = Writer()

    /// A change with a number, which brings so many bytes as well.
    private func change(_ number: Int, byteCount: Int = 1) -> Acceptance {
        .change(byteCount: number * 100 + byteCount) { _ in nil }
    }

    /// Brings changes, each when the one before waits, and returns how each ended.
    private func bring(_ changes: [Acceptance], to queue: AcceptanceQueue) async -> [Task<ErrorCode?, any Error>] {
        var tasks: [Task<ErrorCode?, any Error>] = []
        for change in changes {
            let before = queue.waitingCount
            tasks.append(Task { try await refusal { try await queue.accept(change) } })
            while writer.groups.now.isEmpty || (tasks.count > 1 && queue.waitingCount == before) { await Task.yield() }
        }
        return tasks
    }

    private func queue(
        _ limits: AcceptanceQueue.Limits = .init(), clock: @escaping @Sendable () -> Duration = { .zero }
    ) -> AcceptanceQueue {
        AcceptanceQueue(limits: limits, clock: clock) { [writer] in await writer.write($0) }
    }

    @Test func whatComesWhileOneIsUnderWayGoesTogetherInTheNext_eachWithItsOwnAnswer() async throws {
        let tasks = await bring((0..<6).map { change($0) }, to: queue())
        for number in 1...2 { await writer.letOn(number) }
        #expect(try await outcomes(tasks) == [nil, .tooLarge, nil, .tooLarge, nil, .tooLarge])
        #expect(writer.groups.now == [[0], [1, 2, 3, 4, 5]])
    }

    @Test func nobodyWaitsWhenNothingIsUnderWay() async throws {
        let queue = queue()
        for number in 1...3 {
            async let outcome = refusal { try await queue.accept(change(2 * number)) }
            await writer.letOn(number)
            #expect(try await outcome == nil)
        }
        #expect(writer.groups.now == [[2], [4], [6]])
    }

    @Test func noMoreThanTheLimitGoTogether_firstComeFirstServed() async throws {
        var limits = AcceptanceQueue.Limits()
        limits.count = 2
        let tasks = await bring((0..<6).map { change($0) }, to: queue(limits))
        for number in 1...4 { await writer.letOn(number) }
        _ = try await outcomes(tasks)
        #expect(writer.groups.now == [[0], [1, 2], [3, 4], [5]])
    }

    /// Large ones are no reason to wait for ever, and take no small ones with them.
    @Test func aChangeBeyondTheLimitOfBytesGoesAlone() async throws {
        var limits = AcceptanceQueue.Limits()
        limits.byteCount = 1000
        let tasks = await bring([change(0), change(2), change(20), change(4), change(4), change(6)], to: queue(limits))
        for number in 1...5 { await writer.letOn(number) }
        _ = try await outcomes(tasks)
        #expect(writer.groups.now == [[0], [2], [20], [4, 4], [6]])
    }

    @Test func whoHasWaitedTooLongIsRefused_andNothingOfItIsWritten() async throws {
        let now = Shared(Duration.zero)
        let queue = queue(clock: { now.now })
        var tasks = await bring([change(0), change(2)], to: queue)
        now.change { $0 = .milliseconds(1) }
        tasks.append(Task { try await refusal { try await queue.accept(change(4)) } })
        while queue.waitingCount < 2 { await Task.yield() }
        now.change { $0 = .seconds(10) + .milliseconds(1) }
        for number in 1...2 { await writer.letOn(number) }
        await #expect(throws: DirectoryError.database) { try await tasks[1].value }
        #expect(try await [tasks[0].value, tasks[2].value] == [nil, nil])
        #expect(writer.groups.now == [[0], [4]])
        async let later = refusal { try await queue.accept(change(6)) }
        await writer.letOn(3)
        #expect(try await later == nil, "the queue goes on")
    }

    /// All wait too long: nobody is forgotten, and the next one does not wait for them.
    @Test func aQueueOfWhichAllHaveWaitedTooLongBeginsAnew() async throws {
        let now = Shared(Duration.zero)
        let queue = queue(clock: { now.now })
        let tasks = await bring([change(0), change(2)], to: queue)
        now.change { $0 = .seconds(11) }
        await writer.letOn(1)
        await #expect(throws: DirectoryError.database) { try await tasks[1].value }
        async let later = refusal { try await queue.accept(change(6)) }
        await writer.letOn(2)
        #expect(try await later == nil)
    }

    @Test func aCancelledCallerGetsItsAnswer_andTheOthersTheirs() async throws {
        let tasks = await bring((0..<4).map { change($0) }, to: queue())
        for task in tasks.prefix(2) { task.cancel() }
        for number in 1...2 { await writer.letOn(number) }
        #expect(try await outcomes(tasks) == [nil, .tooLarge, nil, .tooLarge])
    }

    private func outcomes(_ tasks: [Task<ErrorCode?, any Error>]) async throws -> [ErrorCode?] {
        var outcomes: [ErrorCode?] = []
        for task in tasks { outcomes.append(try await task.value) }
        return outcomes
    }
}
