// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Dispatch
import Foundation
import Platform
import Synchronization

#if canImport(Darwin)
    /// `FIONREAD`, a macro that Swift does not import there.
    private let waitingCountRequest: UInt = 0x4004_667F
#else
    private let waitingCountRequest = UInt(FIONREAD)
#endif

/// Raw sound from standard input: 16-bit samples, little-endian, 48,000 a second, one channel.
///
/// A program that gives it faster than it is sent waits; what a device gives that was late is sent late.
/// What a pipe held before the first piece was asked for is left out: a microphone would be late by as much for the whole call.
final class SoundInput: Sendable {
    static let standard = SoundInput(FileHandle.standardInput)
    /// 200 ms.
    private static let capacity = 10

    private struct State {
        var pieces: [[UInt8]] = []
        var isBegun = false
        var isOver = false
    }

    private let state = Mutex(State())
    /// Grows from 0: a semaphore that ends below its first value ends the program.
    private let room = DispatchSemaphore(value: 0)

    /// Stays open for as long as the thread reads it.
    private let file: FileHandle
    private var descriptor: Int32 { file.fileDescriptor }

    init(_ file: FileHandle) {
        self.file = file
        for _ in 0..<Self.capacity { room.signal() }
    }

    /// Nothing is asked for any more: whoever writes into the pipe ends.
    func end() {
        state.withLock { $0.isOver = true }
        room.signal()
    }

    private func begin() {
        let input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        // Whole samples; of a file, and of a pipe that is empty, there is nothing to leave out.
        if let stale = Self.waitingByteCount(descriptor), stale > 1 { _ = try? input.read(upToCount: stale & ~1) }
        Thread.detachNewThread { [self, descriptor] in
            let input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            while let piece = try? Self.piece(input), !piece.isEmpty {
                room.wait()
                let isOver = state.withLock { state in
                    state.pieces.append(piece)
                    return state.isOver
                }
                if isOver { break }
            }
            state.withLock { $0.isOver = true }
        }
    }

    /// How much a pipe holds; nil if it is none.
    private static func waitingByteCount(_ descriptor: Int32) -> Int? {
        var count = Int32(0)
        guard FileStatus(of: descriptor)?.isPipe == true, ioctl(descriptor, waitingCountRequest, &count) == 0 else {
            return nil
        }
        return Int(count)
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
        let isFirst = state.withLock { state in
            defer { state.isBegun = true }
            return !state.isBegun
        }
        if isFirst { begin() }
        let (piece, isOver) = state.withLock { state in
            (state.pieces.isEmpty ? nil : state.pieces.removeFirst(), state.isOver)
        }
        if piece != nil { room.signal() }
        return piece ?? (isOver ? [] : nil)
    }
}
