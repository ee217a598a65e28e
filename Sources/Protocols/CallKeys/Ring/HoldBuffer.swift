// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// Frames that came before their key, in order of arrival, bounded in time, number and bytes.
struct HoldBuffer {
    static let framesPerStream = 160
    static let bytesPerStream = 262_144
    static let framesAltogether = 4096
    static let bytesAltogether = 8_388_608

    struct Stream: Hashable {
        let index: UInt16
        let context: MediaContext
    }

    struct Held {
        let frame: [UInt8]
        let keyID: CallKeyID
        /// The member from which the relay had it; nil if unknown.
        let carriedFor: MemberAlias?
        let arrivedAt: UInt64
    }

    private(set) var frames: [Held] = []
    private var load: [Stream: (frames: Int, bytes: Int)] = [:]
    private var byteCount = 0

    /// Takes a frame in; returns false if there is no room.
    mutating func insert(_ held: Held) -> Bool {
        let stream = Stream(index: held.keyID.index, context: held.keyID.context)
        let (known, size) = (load[stream] ?? (0, 0), held.frame.count)
        guard known.frames < Self.framesPerStream, known.bytes + size <= Self.bytesPerStream,
            frames.count < Self.framesAltogether, byteCount + size <= Self.bytesAltogether
        else { return false }
        frames.append(held)
        load[stream] = (known.frames + 1, known.bytes + size)
        byteCount += size
        return true
    }

    /// Gives everything back, and is empty.
    mutating func takeAll() -> [Held] {
        defer { self = HoldBuffer() }
        return frames
    }

    /// The oldest frame's arrival.
    var oldest: UInt64? { frames.first?.arrivedAt }
}
