// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// What a client asks: the keys of a handle, and the growth of log and label since what it knows of them.
///
/// Wire form, integers big-endian: `signet-lookup-request/v3` LF; u64 known size; u64 known count; u8 whether the X-Wing keys
/// of the devices are to come with their state, 0 or 1; the handle to the end.
public struct LookupRequest: Hashable, Sendable {
    /// Whose keys.
    public let handle: Handle
    /// Size of the largest checkpoint the client has verified; 0 for none.
    public let knownSize: UInt64
    /// How many entries of the handle's label the client has verified; 0 for none.
    public let knownCount: UInt64
    /// Whether the client wants the X-Wing keys beside the state, of which that has the hashes.
    public let wantsKeys: Bool

    private static let format = Array("signet-lookup-request/v3\n".utf8)

    /// A request.
    public init(handle: Handle, knownSize: UInt64, knownCount: UInt64 = 0, wantsKeys: Bool = false) {
        self.handle = handle
        self.knownSize = knownSize
        self.knownCount = knownCount
        self.wantsKeys = wantsKeys
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(knownSize)
        writer.write(knownCount)
        writer.write(UInt8(wantsKeys ? 1 : 0))
        writer.write(handle.bytes)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``LookupMessageError``.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        var reader = FormatReader<LookupMessageError>(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else { throw .unknownFormat }
        knownSize = try reader.uint64()
        knownCount = try reader.uint64()
        switch try reader.uint8() {
        case 0: wantsKeys = false
        case 1: wantsKeys = true
        case let byte: throw .unknownAnswer(byte)
        }
        let name = Array(reader.rest())
        do throws(HandleError) { handle = try Handle(canonical: name) } catch { throw .invalidHandle(error) }
    }
}
