import CallSignalling

/// Frames of each member that are counted, and told of from fifty on, each ten seconds at most: a few are lost, doubled or late on any
/// network.
struct PacedCount {
    private static let least = 50
    /// In milliseconds.
    private static let pause: UInt64 = 10_000

    private var told: [CallDevice: (count: Int, at: UInt64)] = [:]

    /// Of how many a person is to hear now.
    ///
    /// - Parameter total: how many there have been altogether.
    /// - Returns: how many came since the last time; nil if it is not time.
    mutating func due(_ total: Int, of device: CallDevice, at now: UInt64) -> Int? {
        let last = told[device]
        let more = total - (last?.count ?? 0)
        guard more >= Self.least, last.map({ now >= $0.at + Self.pause }) ?? true else { return nil }
        told[device] = (total, now)
        return more
    }
}
