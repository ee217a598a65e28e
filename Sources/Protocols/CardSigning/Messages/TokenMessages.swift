// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// Asks for tokens. Wire form: u16 length of each request, u8 count, and the requests.
public struct TokensRequest: Hashable, Sendable {
    /// The most tokens of one request.
    public static let maximumCount = 20
    /// The longest modulus, in bytes.
    static let maximumLength = 512
    /// In bytes.
    public static let maximumByteCount = 3 + maximumCount * maximumLength

    /// What the signer signs, each as long as its modulus.
    public let requests: [[UInt8]]

    /// Requests of one length; nil if they differ, are none, or too many.
    public init?(_ requests: [[UInt8]]) {
        guard SignatureList.isSendable(requests) else { return nil }
        self.requests = requests
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        SignatureList.write(requests, to: &writer)
        return writer.bytes
    }

    /// Reads the wire form, all of it; nil if it is none.
    public init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let requests = SignatureList.read(&reader), (try? reader.end()) != nil else { return nil }
        self.requests = requests
    }
}

/// Wire form: u8 1 and signatures as ``TokensRequest`` has requests; or u8 2 and u8 how many tokens are left.
public enum TokensAnswer: Hashable, Sendable {
    /// The signatures, in the order of the requests.
    case signed([[UInt8]])
    /// The account has had more of this month's than that.
    case left(UInt8)

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .signed(let signatures):
            writer.write(UInt8(1))
            SignatureList.write(signatures, to: &writer)
        case .left(let count):
            writer.write(UInt8(2))
            writer.write(count)
        }
        return writer.bytes
    }

    /// Reads the wire form, all of it; nil if it is none.
    public init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        switch try? reader.uint8() {
        case 1:
            guard let signatures = SignatureList.read(&reader) else { return nil }
            self = .signed(signatures)
        case 2:
            guard let count = try? reader.uint8() else { return nil }
            self = .left(count)
        default: return nil
        }
        guard (try? reader.end()) != nil else { return nil }
    }
}

/// Some byte strings of one length.
private enum SignatureList {
    static func isSendable(_ list: [[UInt8]]) -> Bool {
        guard let first = list.first, list.count <= TokensRequest.maximumCount else { return false }
        return (1...TokensRequest.maximumLength).contains(first.count) && list.allSatisfy { $0.count == first.count }
    }

    static func write(_ list: [[UInt8]], to writer: inout ByteWriter) {
        writer.write(UInt16(truncatingIfNeeded: list.first?.count ?? 0))
        writer.write(UInt8(truncatingIfNeeded: list.count))
        for bytes in list { writer.write(bytes) }
    }

    static func read(_ reader: inout ByteReader) -> [[UInt8]]? {
        guard let length = try? reader.uint16(), let count = try? reader.uint8(),
            length <= TokensRequest.maximumLength, count <= TokensRequest.maximumCount
        else { return nil }
        var list: [[UInt8]] = []
        for _ in 0..<count {
            guard let bytes = try? reader.bytes(Int(length)) else { return nil }
            list.append(Array(bytes))
        }
        return isSendable(list) ? list : nil
    }
}
