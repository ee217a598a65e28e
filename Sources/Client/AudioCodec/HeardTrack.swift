// SPDX-License-Identifier: Apache-2.0

/// What one member says, put in order and decoded: what overtook another waits for it, what is lost is concealed.
///
/// Numbers are the sender's; memory does not grow with them.
public final class HeardTrack {
    /// 20 ms of sound and their place, counted in pieces from the first that was heard.
    public struct Piece: Hashable, Sendable {
        /// How many pieces were before, heard or lost.
        public let place: Int
        /// ``SoundFormat/sampleCount`` samples.
        public let samples: [Int16]
    }

    /// At most this many pieces wait for an earlier one: 80 ms.
    static let patience = 4
    /// At most this many lost pieces in a row are concealed; the rest of a longer gap is silence.
    static let concealedCount = 5
    /// A participant whose numbers are this far behind has started again: 10 s.
    static let newBeginning: UInt32 = 500

    private let decoder: SoundDecoder
    private var due: UInt32?
    private var place = 0
    private var waiting: [UInt32: SoundPiece] = [:]

    /// A member of whom nothing was heard yet.
    ///
    /// - Throws: ``SoundCodecError/unavailable``.
    public init() throws(SoundCodecError) { decoder = try SoundDecoder() }

    /// Takes a piece, and gives what can be played now, in order; nothing for a piece that comes too late.
    public func take(_ number: UInt32, _ piece: SoundPiece) -> [Piece] {
        if let due, number < due {
            guard due - number > Self.newBeginning else { return [] }
            let rest = finish()
            self.due = number
            return rest + take(number, piece)
        }
        if due == nil { due = number }
        waiting[number] = piece
        return play(keeping: Self.patience)
    }

    /// What still waits for something before it.
    public func finish() -> [Piece] { play(keeping: 0) }

    private func play(keeping count: Int) -> [Piece] {
        var pieces: [Piece] = []
        while var due, let next = waiting.keys.min() {
            if next > due {
                guard waiting.count > count else { break }
                for lost in 0..<min(next - due, UInt32(Self.concealedCount)) {
                    guard let samples = try? decoder.conceal() else { break }
                    pieces.append(Piece(place: place + Int(lost), samples: samples))
                }
                place += Int(next - due)
                due = next
            }
            if let piece = waiting.removeValue(forKey: due), let samples = decode(piece) {
                pieces.append(Piece(place: place, samples: samples))
            }
            place += 1
            // After the last number there is none: the next is a new beginning.
            self.due = due == .max ? .max : due + 1
        }
        return pieces
    }

    /// A packet that is none, or not of 20 ms, counts as lost.
    private func decode(_ piece: SoundPiece) -> [Int16]? {
        switch piece {
        case .hum(let bytes):
            return SoundFormat.samples(bytes).flatMap { [Int16](repeating: $0, count: 6) }
        case .opus(let packet):
            if let samples = try? decoder.decode(packet), samples.count == SoundFormat.sampleCount { return samples }
            return try? decoder.conceal()
        }
    }
}
