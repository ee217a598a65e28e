// SPDX-License-Identifier: Apache-2.0

import PinnedHTTP

/// What a client takes from its environment besides the directory: time and randomness.
public struct Surroundings: Sendable {
    /// Seconds since 1970.
    public let now: @Sendable () -> UInt64
    /// Waits before another attempt.
    public let wait: @Sendable (Duration) async -> Void
    /// Returns this many unpredictable bytes.
    public let randomBytes: @Sendable (Int) -> [UInt8]

    /// Surroundings for a test.
    public init(
        now: @escaping @Sendable () -> UInt64, wait: @escaping @Sendable (Duration) async -> Void,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.now = now
        self.wait = wait
        self.randomBytes = randomBytes
    }

    /// The same with a clock that never shows less than a time that is known to have passed, so that setting the device's clock
    /// back does not make an expired certificate or pin valid again.
    ///
    /// - Parameter time: seconds since 1970; see ``SQLiteStore/newestTime()``.
    public func notBefore(_ time: UInt64) -> Surroundings {
        Surroundings(now: { [now] in max(now(), time) }, wait: wait, randomBytes: randomBytes)
    }

    /// Makes up to three attempts, 200 and 800 milliseconds apart.
    ///
    /// - Parameters:
    ///   - isPassing: whether an error may go away by itself, so that another attempt is worth it.
    ///   - attempt: what may be done twice without harm.
    /// - Throws: the error of the last attempt.
    package func repeating<Answer, Failure: Error>(
        while isPassing: (Failure) -> Bool, _ attempt: () async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        for delay in [Duration.milliseconds(200), .milliseconds(800)] {
            do { return try await attempt() } catch {
                guard isPassing(error) else { throw error }
                await wait(delay)
            }
        }
        return try await attempt()
    }

    /// The system's clock and generator.
    public static let system = Surroundings(
        now: SystemClock.now,
        wait: { try? await Task.sleep(for: $0) },
        randomBytes: { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in generator.next() }
        })
}
