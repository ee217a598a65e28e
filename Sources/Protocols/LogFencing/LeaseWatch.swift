// SPDX-License-Identifier: Apache-2.0

/// Who should try to lead: a row with a time in it, by the database's clock. Nothing rests on it but that two servers do not disturb each other.
public struct LeaseWatch: Hashable, Sendable {
    /// How long a lease runs that is not renewed.
    public static let term = Duration.seconds(3)
    /// One that ends later than so long from now was given by a clock that was ahead, and counts as free: otherwise nobody would lead until
    /// then. It is two terms and not one because the clock may have been set back a little.
    public static let longest = term * 2
    /// How often it is renewed.
    public static let renewal = Duration.seconds(1)
    /// So long after its last renewal a leader begins nothing more. Less than ``term``, so that it stops before another one starts.
    public static let patience = Duration.seconds(2)

    private var renewed: Duration

    /// The lease of a leader that has just got it.
    ///
    /// - Parameter now: by a clock of this process that never runs back, when the request for it was *sent*.
    public init(at now: Duration) { renewed = now }

    /// The database has acknowledged a renewal that was sent then. One that was sent before the last one changes nothing.
    public mutating func renew(sentAt time: Duration) { renewed = max(renewed, time) }

    /// Whether it is time to renew it.
    public func isDue(at now: Duration) -> Bool { now - renewed >= Self.renewal }

    /// Whether a leader may still begin to write. What it has begun it may finish.
    public func allowsWriting(at now: Duration) -> Bool { now - renewed < Self.patience }
}
