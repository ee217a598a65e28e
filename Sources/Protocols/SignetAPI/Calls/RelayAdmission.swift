// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// The reply to a device that asks to join the relay of a call.
///
/// Wire form: u8 kind; when admitted, u16 port, the 16-byte key and the ticket up to the end. Kind 1 was an admission without a key.
public enum RelayAdmission: Hashable, Sendable {
    /// 4. The UDP port at the host of the directory; the key of the device's packets, 16 bytes; and the ticket, 1 to 128 bytes
    /// that only the relay reads.
    case admitted(port: UInt16, key: [UInt8], ticket: [UInt8])
    /// 2. The device is not a member of the call, as far as the server knows.
    case notInCall
    /// 3. The server relays no frames.
    case noRelay

    /// No answer is longer, in bytes.
    public static let maximumByteCount = 147
    private static let keyByteCount = 16

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .admitted(let port, let key, let ticket):
            writer.write(4 as UInt8)
            writer.write(port)
            writer.write(key)
            writer.write(ticket)
        case .notInCall: writer.write(2 as UInt8)
        case .noRelay: writer.write(3 as UInt8)
        }
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: `CanonicalCodingError`: not exactly what ``encoded`` prints. A retry cannot help.
    public init(decoding bytes: [UInt8]) throws(CanonicalCodingError) {
        var reader = ByteReader(bytes)
        switch try reader.uint8() {
        case 4 where (4 + Self.keyByteCount...Self.maximumByteCount).contains(bytes.count):
            let port = try reader.uint16()
            let key = Array(try reader.bytes(Self.keyByteCount))
            self = .admitted(port: port, key: key, ticket: Array(try reader.bytes(reader.remaining)))
            return
        case 2: self = .notInCall
        case 3: self = .noRelay
        default: throw .invalidLength(bytes.count)
        }
        try reader.end()
    }
}
