// SPDX-License-Identifier: Apache-2.0

/// The first 1 to 17 bytes of a frame: which key, and which number under it.
///
/// Wire form: a byte X KKK Y CCC, then the key id if X is set, then the counter if Y is set, both big-endian. A number
/// below 8 stands in KKK or CCC itself; another in as few bytes as it has, and KKK or CCC is their count less one.
///
/// Spec: RFC 9605, section 4.3.
public struct FrameHeader: Hashable, Sendable {
    /// Which key: KID.
    public let keyID: UInt64
    /// Which frame under the key: CTR.
    public let counter: UInt64

    /// A header.
    public init(keyID: UInt64, counter: UInt64) {
        self.keyID = keyID
        self.counter = counter
    }

    /// The longest header, in bytes.
    public static let maximumByteCount = 17

    /// Length of the wire form, in bytes.
    public var byteCount: Int { 1 + Self.extraByteCount(keyID) + Self.extraByteCount(counter) }

    /// The wire form.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.maximumByteCount)
        write(to: &bytes)
        return bytes
    }

    /// Appends the wire form.
    public func write(to output: inout [UInt8]) {
        output.append(Self.nibble(keyID) << 4 | Self.nibble(counter))
        Self.write(keyID, to: &output)
        Self.write(counter, to: &output)
    }

    /// Reads the header that a frame begins with; ``byteCount`` says where it ends.
    ///
    /// - Throws: ``FrameHeaderError``: cut short, or longer than it need be. A retry cannot help.
    public init(startOf frame: Span<UInt8>) throws(FrameHeaderError) {
        guard frame.count > 0 else { throw .truncated }
        var offset = 1
        keyID = try Self.read(frame[0] >> 4, from: frame, at: &offset)
        counter = try Self.read(frame[0] & 15, from: frame, at: &offset)
    }

    /// Reads the header that a frame begins with.
    ///
    /// - Throws: ``FrameHeaderError``: cut short, or longer than it need be. A retry cannot help.
    public init(startOf frame: [UInt8]) throws(FrameHeaderError) { try self.init(startOf: frame.span) }

    private static let flag: UInt8 = 8

    private static func extraByteCount(_ value: UInt64) -> Int {
        value < 8 ? 0 : 8 - value.leadingZeroBitCount / 8
    }

    private static func nibble(_ value: UInt64) -> UInt8 {
        value < 8 ? UInt8(truncatingIfNeeded: value) : flag | UInt8(extraByteCount(value) - 1)
    }

    private static func write(_ value: UInt64, to output: inout [UInt8]) {
        for place in stride(from: extraByteCount(value) - 1, through: 0, by: -1) {
            output.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * place)))
        }
    }

    private static func read(
        _ nibble: UInt8, from frame: Span<UInt8>, at offset: inout Int
    ) throws(FrameHeaderError) -> UInt64 {
        guard nibble & flag != 0 else { return UInt64(nibble) }
        let end = offset + Int(nibble & 7) + 1
        guard end <= frame.count else { throw .truncated }
        var value: UInt64 = 0
        while offset < end {
            value = value << 8 | UInt64(frame[offset])
            offset += 1
        }
        guard extraByteCount(value) == Int(nibble & 7) + 1 else { throw .notMinimal }
        return value
    }
}

/// Why bytes are not a frame header. The peer, or an attacker in between, misbehaved; a retry cannot help.
public enum FrameHeaderError: Error, Hashable, Sendable {
    /// The frame ends inside the header.
    case truncated
    /// A shorter header says the same.
    case notMinimal
}
