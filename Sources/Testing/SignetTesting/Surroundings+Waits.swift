// SPDX-License-Identifier: Apache-2.0

public import SignetClient

extension Surroundings {
    /// The system's clock and generator, and waits that last a day. Each wait is announced when it begins, so that a test knows
    /// that everything before it has been done.
    public static func announcingWaits() -> (surroundings: Surroundings, waits: AsyncStream<Void>) {
        let (waits, wait) = AsyncStream.makeStream(of: Void.self)
        let surroundings = Surroundings(
            now: system.now,
            wait: { _ in
                wait.yield()
                // Cancelling the task ends it.
                try? await Task.sleep(for: .seconds(86_400))
            }, randomBytes: system.randomBytes)
        return (surroundings, waits)
    }
}
