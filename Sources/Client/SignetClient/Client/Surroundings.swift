import PinnedHTTP

/// What a client takes from the world besides its directory: time and chance.
public struct Surroundings: Sendable {
    /// Seconds since 1970.
    public let now: @Sendable () -> UInt64
    /// Lets time pass before another try.
    public let wait: @Sendable (Duration) async -> Void
    /// As many unpredictable bytes.
    public let randomBytes: @Sendable (Int) -> [UInt8]

    /// Surroundings of a test.
    public init(
        now: @escaping @Sendable () -> UInt64, wait: @escaping @Sendable (Duration) async -> Void,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.now = now
        self.wait = wait
        self.randomBytes = randomBytes
    }

    /// The same with a clock that never shows less than a time that is known to have passed: whoever sets the device's clock back
    /// makes no expired certificate or pin good again.
    ///
    /// - Parameter time: seconds since 1970; see ``SQLiteStore/newestTime()``.
    public func notBefore(_ time: UInt64) -> Surroundings {
        Surroundings(now: { [now] in max(now(), time) }, wait: wait, randomBytes: randomBytes)
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
