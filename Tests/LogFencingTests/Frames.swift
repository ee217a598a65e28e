// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// A log of at most seven frames, each of which is a leaf here. In place of a root stands the log itself, so that two logs have the same
/// root only if they are the same, and the root of the first entries can be told from it.
struct Frames: Hashable {
    /// One frame in eight bits: the waiting batch that is in it, who made it, and in which generation. Never zero.
    private(set) var codes: UInt64 = 0

    var count: UInt64 { UInt64((64 - codes.leadingZeroBitCount + 7) / 8) }

    var head: TreeHead { TreeHead(size: count, root: Self.root(codes)) }

    /// Adds the frame that a candidate makes of a batch.
    func adding(batch: UInt64, by candidate: Int, in generation: UInt64) -> Frames {
        var next = self
        next.codes |= (1 << 7 | batch << 4 | UInt64(candidate) << 3 | generation & 7) << (8 * count)
        return next
    }

    /// The root of the first frames; nil beyond the end.
    func root(_ size: UInt64) -> TreeHash? { size <= count ? Self.root(first(size).codes) : nil }

    func first(_ size: UInt64) -> Frames {
        var first = self
        first.codes &= size >= 8 ? .max : (1 << (8 * size)) - 1
        return first
    }

    /// Whether these are the first frames of other ones.
    func begins(_ other: Frames) -> Bool { other.first(count) == self }

    /// Whether a batch is in two frames.
    var repeatsABatch: Bool {
        var seen: UInt64 = 0
        for place in 0..<count {
            let bit: UInt64 = 1 << (codes >> (8 * place + 4) & 7)
            if seen & bit != 0 { return true }
            seen |= bit
        }
        return false
    }

    private static func root(_ codes: UInt64) -> TreeHash {
        guard codes != 0 else { return .emptyTree }
        var bytes = [UInt8](repeating: 0, count: TreeHash.byteCount)
        for place in 0..<8 { bytes[place] = UInt8(truncatingIfNeeded: codes >> (8 * place)) }
        return TreeHash(bytes) ?? .emptyTree
    }

    init() {}

    init(_ head: TreeHead) {
        guard head != .empty else { return }
        codes = head.root.withUnsafeBytes { bytes in
            (0..<8).reduce(0) { $0 | UInt64(bytes[$1]) << (8 * UInt64($1)) }
        }
    }
}

extension TreeHead {
    var frames: Frames { Frames(self) }
}
