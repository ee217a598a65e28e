// SPDX-License-Identifier: Apache-2.0

/// Which counters under one key were seen: the newest, and a bit for each of the 1024 up to it.
///
/// Never grows, and a check costs the same for every counter. A counter is looked up before a frame is decrypted and recorded
/// only after: a forged frame moves nothing.
///
/// Spec: RFC 9605, section 9.3, leaves replay to the application.
public struct ReplayWindow: Sendable {
    /// How far a frame may be behind the newest, in counters.
    public static let width: UInt64 = 1024

    private var newest: UInt64 = 0
    private var isEmpty = true
    private var words = [UInt64](repeating: 0, count: Int(width / 64))

    /// The newest counter that was recorded; nil before the first.
    var newestSeen: UInt64? { isEmpty ? nil : newest }

    /// A window that has seen nothing.
    public init() {}

    /// Demands that the counter is neither seen nor behind the window.
    ///
    /// - Throws: ``ReplayError``. A retry cannot help.
    public func check(_ counter: UInt64) throws(ReplayError) {
        guard !isEmpty && counter <= newest else { return }
        guard newest - counter < Self.width else { throw .tooOld }
        let (word, bit) = Self.place(counter)
        guard words[word] & bit == 0 else { throw .replayed }
    }

    /// Records the counter of a frame that was authentic and that ``check(_:)`` let through.
    public mutating func record(_ counter: UInt64) {
        if isEmpty || counter > newest { advance(to: counter) }
        let (word, bit) = Self.place(counter)
        words[word] |= bit
    }

    private mutating func advance(to counter: UInt64) {
        if isEmpty || counter - newest >= Self.width {
            for word in words.indices { words[word] = 0 }
        } else {
            for skipped in newest + 1...counter {
                let (word, bit) = Self.place(skipped)
                words[word] &= ~bit
            }
        }
        newest = counter
        isEmpty = false
    }

    private static func place(_ counter: UInt64) -> (word: Int, bit: UInt64) {
        (Int(truncatingIfNeeded: counter / 64 % (width / 64)), 1 << (counter % 64))
    }
}

/// Why a counter is refused.
public enum ReplayError: Error, Hashable, Sendable {
    /// A frame with this counter was opened before.
    case replayed
    /// It is so far behind the newest frame that the window no longer knows whether it was opened.
    case tooOld
}
