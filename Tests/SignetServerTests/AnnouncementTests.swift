// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import SignetServer

/// A server that is told to stop tells the balancer before it takes no connection any more.
@Suite struct AnnouncementTests {
    private let told = AsyncStream.makeStream(of: Void.self)
    private let slept = AsyncStream.makeStream(of: Duration.self)
    private let wakes = AsyncStream.makeStream(of: Void.self)

    private func announcement() -> Announcement {
        Announcement(for: .seconds(15)) { [told] in
            told.stream
        } sleeping: { [slept, wakes] duration in
            slept.continuation.yield(duration)
            for await _ in wakes.stream { return }
            throw CancellationError()
        }
    }

    @Test func itSaysSo_andGoesOnForAWhile() async {
        let announcement = announcement()
        let isWaiting = Atomic(true)
        let running = Task {
            await announcement.wait()
            isWaiting.store(false, ordering: .releasing)
        }
        #expect(!announcement.isMade)
        told.continuation.yield()
        #expect(await slept.stream.first { _ in true } == .seconds(15))
        #expect(announcement.isMade && isWaiting.load(ordering: .acquiring))
        wakes.continuation.yield()
        await running.value
    }

    @Test func whoTellsItTwiceNeedNotWait() async {
        let announcement = announcement()
        let running = Task { await announcement.wait() }
        told.continuation.yield()
        told.continuation.yield()
        await running.value
        #expect(announcement.isMade)
    }
}
