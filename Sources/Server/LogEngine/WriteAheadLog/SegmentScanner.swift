// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads the frames of one segment from front to back through a window, so that memory stays small.
struct SegmentScanner {
    private static let windowByteCount = 1 << 20

    let header: SegmentHeader
    /// Where the next frame begins.
    private(set) var offset = UInt64(SegmentHeader.byteCount)
    /// Where the last frame read began, if one was.
    private(set) var lastFrameOffset: UInt64?
    let fileSize: UInt64
    private let file: any LogFile
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0

    /// What stands at the current offset.
    enum Reading {
        /// A whole frame.
        case frame(Frame)
        /// Nothing but preallocated zeros, or the end of the file.
        case end
        /// Bytes that are not a whole frame.
        case damage
    }

    /// A scanner at the first frame; nil when the file has no intact header.
    init?(_ file: any LogFile) throws(LogFileError) {
        guard let header = SegmentHeader(try file.read(SegmentHeader.byteCount, at: 0)) else { return nil }
        self.header = header
        self.file = file
        fileSize = try file.size()
    }

    /// Reads the next frame and steps over it.
    mutating func next() throws(LogFileError) -> Reading {
        let head = try bytes(Frame.headerByteCount, at: offset)
        guard let byteCount = Frame.byteCount(header: head) else { return try isZero(from: offset) ? .end : .damage }
        guard let frame = Frame(try bytes(byteCount, at: offset), nonce: header.nonce) else { return .damage }
        lastFrameOffset = offset
        offset += UInt64(byteCount)
        return .frame(frame)
    }

    /// Whether the damage at the current offset can be one write that a crash interrupted: nothing whole after it, and
    /// no byte further away than one frame reaches.
    mutating func damageMayBeTorn() throws(LogFileError) -> Bool {
        let reach = UInt64(Frame.byteCount(payloadByteCount: Frame.maximumPayloadByteCount))
        guard try isZero(from: offset + reach) else { return false }
        let damaged = try bytes(Int(min(reach, fileSize - offset)), at: offset)
        var candidate = damaged.startIndex + 1
        while candidate < damaged.endIndex {
            guard let found = damaged[candidate...].firstIndex(of: Frame.magicBytes[0]) else { break }
            if isFrame(damaged[found...]) { return false }
            candidate = found + 1
        }
        return true
    }

    private func isFrame(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let byteCount = Frame.byteCount(header: bytes.prefix(Frame.headerByteCount)), byteCount <= bytes.count
        else { return false }
        return Frame(bytes.prefix(byteCount), nonce: header.nonce) != nil
    }

    /// Up to `count` bytes at `position`; fewer only at the end of the file.
    private mutating func bytes(_ count: Int, at position: UInt64) throws(LogFileError) -> ArraySlice<UInt8> {
        if position < windowStart || position + UInt64(count) > windowStart + UInt64(window.count) {
            window = try file.read(max(count, Self.windowByteCount), at: position)
            windowStart = position
        }
        let start = Int(position - windowStart)
        return window[start..<min(start + count, window.count)]
    }

    private func isZero(from start: UInt64) throws(LogFileError) -> Bool {
        var position = start
        while position < fileSize {
            let chunk = try file.read(Self.windowByteCount, at: position)
            guard !chunk.isEmpty else { break }
            guard chunk.isAllZero else { return false }
            position += UInt64(chunk.count)
        }
        return true
    }
}

extension [UInt8] {
    /// Whether every byte is zero.
    fileprivate var isAllZero: Bool {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, bytes[0] == 0 else { return bytes.isEmpty }
            return memcmp(start, start + 1, bytes.count - 1) == 0
        }
    }
}
