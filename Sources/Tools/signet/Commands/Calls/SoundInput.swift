import AudioCodec
import Dispatch
import Foundation
import Synchronization

/// Raw sound from standard input: 16-bit samples, little-endian, 48,000 a second, one channel.
///
/// A program that gives it faster than it is sent waits; what a device gives that was late is sent late.
final class SoundInput: Sendable {
    static let standard = SoundInput(FileHandle.standardInput)
    /// 200 ms.
    private static let capacity = 10

    private struct State {
        var pieces: [[UInt8]] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let room = DispatchSemaphore(value: capacity)

    private init(_ file: FileHandle) {
        let descriptor = file.fileDescriptor
        Thread.detachNewThread { [self] in
            let input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            while let piece = try? Self.piece(input), !piece.isEmpty {
                room.wait()
                state.withLock { $0.pieces.append(piece) }
            }
            state.withLock { $0.isOver = true }
        }
    }

    /// 20 ms; less at the end only.
    private static func piece(_ input: FileHandle) throws -> [UInt8] {
        var piece: [UInt8] = []
        while piece.count < SoundFormat.byteCount,
            let more = try input.read(upToCount: SoundFormat.byteCount - piece.count), !more.isEmpty
        { piece += more }
        return piece
    }

    /// The next 20 ms; nil if they have not come yet; none, which is silence, if it is over.
    func next() -> [UInt8]? {
        let (piece, isOver) = state.withLock { state in
            (state.pieces.isEmpty ? nil : state.pieces.removeFirst(), state.isOver)
        }
        if piece != nil { room.signal() }
        return piece ?? (isOver ? [] : nil)
    }
}
