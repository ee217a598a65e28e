import CallSignalling

/// Frames that came before their key, in order of arrival, bounded in time, number and bytes.
struct HoldBuffer {
    static let framesPerStream = 64
    static let bytesPerStream = 262_144
    static let framesAltogether = 2048
    static let bytesAltogether = 8_388_608

    struct Stream: Hashable {
        let index: UInt16
        let context: MediaContext
    }

    struct Held {
        let frame: [UInt8]
        let keyID: CallKeyID
        let arrivedAt: UInt64
    }

    private(set) var frames: [Held] = []
    private var load: [Stream: (frames: Int, bytes: Int)] = [:]
    private var byteCount = 0

    /// Takes a frame in; returns false if there is no room.
    mutating func insert(_ frame: [UInt8], _ keyID: CallKeyID, at now: UInt64) -> Bool {
        let stream = Stream(index: keyID.index, context: keyID.context)
        let held = load[stream] ?? (0, 0)
        guard held.frames < Self.framesPerStream, held.bytes + frame.count <= Self.bytesPerStream,
            frames.count < Self.framesAltogether, byteCount + frame.count <= Self.bytesAltogether
        else { return false }
        frames.append(Held(frame: frame, keyID: keyID, arrivedAt: now))
        load[stream] = (held.frames + 1, held.bytes + frame.count)
        byteCount += frame.count
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
