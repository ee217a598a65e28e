// SPDX-License-Identifier: Apache-2.0

/// Whether a leader can show what is committed. One that cannot, for a reason that another candidate may not share, such as its clock or
/// its lines to bucket and witnesses, gives the lease back.
///
/// Nothing about forks rests on it: how long it waits decides only how soon another candidate tries.
public struct ShowingWatch: Hashable, Sendable {
    /// For how long a leader with something to show may make no step towards it before it gives the lease back, the first time.
    public static let patience = Duration.seconds(15)

    private var patience: Duration
    /// When the last step was made, while there is something to show.
    private var last: Duration?

    /// The watch of a leader that has nothing to show yet.
    ///
    /// - Parameter patience: until something is shown; ``patience-swift.type.property`` from then on.
    public init(patience: Duration = Self.patience) { self.patience = patience }

    /// There is something to show from now on, or one step of showing it was made: an object was put, the note was remembered.
    ///
    /// - Parameter now: by a clock of this process that never runs back.
    public mutating func step(at now: Duration) { last = max(last ?? now, now) }

    /// Everything is shown.
    public mutating func rest() { (last, patience) = (nil, Self.patience) }

    /// Whether there is something to show and no step was made for too long.
    public func isStuck(at now: Duration) -> Bool { last.map { now - $0 >= patience } ?? false }
}

/// When a candidate that led and could show nothing tries again.
///
/// It lets others try first, for ``pause``. When it leads again and can show nothing again, it waits for twice as long as before, up to
/// ``longestPatience``: candidates none of which can show anything hand the log over seldom, as each reads all of it after it has led.
public struct CandidateTurns: Hashable, Sendable {
    /// For how long others may try first.
    public static let pause = Duration.seconds(5)
    /// The longest patience.
    public static let longestPatience = ShowingWatch.patience * 16

    private var before: Duration?
    private var aside: Duration?

    /// The turns of a process that has not led.
    public init() {}

    /// For how long it may make no step in its next turn, until it has shown something, before it gives the lease back.
    public var patience: Duration {
        before.map { min($0 * 2, Self.longestPatience) } ?? ShowingWatch.patience
    }

    /// A turn is over in which it had ``patience``.
    ///
    /// - Parameters:
    ///   - isStuck: whether it ended because nothing could be shown.
    ///   - hasShown: whether anything was shown in it.
    ///   - now: by a clock of this process that never runs back.
    public mutating func end(isStuck: Bool, hasShown: Bool, at now: Duration) {
        let patience = patience
        if hasShown { before = nil }
        guard isStuck else { return }
        before = hasShown ? ShowingWatch.patience : patience
        aside = now + Self.pause
    }

    /// Whether it tries to lead, if nobody else does.
    public func mayTry(at now: Duration) -> Bool { aside.map { now >= $0 } ?? true }
}
