// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import Synchronization

/// Says at `/ready` that the server is about to stop, and goes on as before for a while.
///
/// A balancer that looks there now and then sends nobody any more by the time at which the server takes no connection: one that is made in that
/// moment is lost with what was asked over it, and nobody but the client can ask again.
final class Announcement: Service, Sendable {
    private let duration: Duration
    private let told: @Sendable () async -> AsyncStream<Void>
    private let sleep: @Sendable (Duration) async throws -> Void
    private let begun = Atomic<Bool>(false)

    /// - Parameters:
    ///   - duration: for so long.
    ///   - told: gives something each time that the server is told to stop. The second time ends the wait.
    init(
        for duration: Duration, told: @escaping @Sendable () async -> AsyncStream<Void>,
        sleeping sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        (self.duration, self.told, self.sleep) = (duration, told, sleep)
    }

    /// Whether the server was told to stop.
    var isMade: Bool { begun.load(ordering: .acquiring) }

    /// Returns when the server is to take no more connections.
    func run() async throws { await cancelWhenGracefulShutdown { [self] in await wait() } }

    func wait() async {
        let (told, (first, report)) = (await told(), AsyncStream.makeStream(of: Void.self))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await _ in told {
                    guard !begun.exchange(true, ordering: .acquiringAndReleasing) else { return }
                    report.yield()
                }
            }
            group.addTask { [sleep, duration] in
                for await _ in first {
                    try? await sleep(duration)
                    return
                }
            }
            await group.next()
            group.cancelAll()
        }
    }
}
