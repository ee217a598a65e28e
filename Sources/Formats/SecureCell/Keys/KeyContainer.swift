// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import SecretMemory

/// A Themis key as bytes: tag, size, checksum, body.
///
/// Wire form: 4-byte tag, u32 big-endian size of the whole, CRC-32C of the whole with this field zero (little-endian),
/// body. A container that is read says nothing of its key: a point off the curve or a scalar of zero is found when
/// ``ECPublicKey``, ``ECPrivateKey``, ``RSAPublicKey`` or ``RSAPrivateKey`` is made of it.
///
/// Spec: Themis 0.15, key containers; CRC-32C of RFC 3720.
///
/// Security: the checksum finds damage and nothing else. A private container is secret: it is wiped when the last
/// copy goes, prints nothing, and ``withEncoded(_:)`` is the only way to its bytes.
public struct KeyContainer: Sendable {
    /// What is in it.
    public let kind: KeyKind
    // SymmetricKey wipes its memory.
    private let body: SymmetricKey

    static let headerByteCount = 12

    /// Reads the wire form.
    ///
    /// - Throws: ``KeyContainerError``: not a container, or a damaged one.
    ///
    /// Security: copies a private body; wipe `bytes` afterwards.
    public init(decoding bytes: [UInt8]) throws(KeyContainerError) {
        guard bytes.count >= Self.headerByteCount else { throw .truncated }
        guard let kind = KeyKind(tag: bytes[..<4]) else { throw .unknownTag }
        let (size, body) = (bytes[4..<8].reduce(0) { $0 << 8 | Int($1) }, bytes[Self.headerByteCount...])
        guard size == bytes.count, kind.bodyByteCounts.contains(body.count) else { throw .wrongSize }
        guard bytes[8..<12].elementsEqual(Self.checksum(bytes[..<8], body)) else { throw .damaged }
        self.kind = kind
        self.body = SymmetricKey(data: body)
    }

    /// A container of a body of the right length.
    init(_ kind: KeyKind, body: SymmetricKey) {
        self.kind = kind
        self.body = body
    }

    /// Lends the wire form.
    ///
    /// - Throws: any error that `use` throws.
    ///
    /// Security: of a private container, code that copies the bytes must protect and wipe the copy.
    public func withEncoded<Result, Failure: Error>(
        _ use: ([UInt8]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var writer = ByteWriter()
        writer.write(kind.tag)
        writer.write(UInt32(truncatingIfNeeded: Self.headerByteCount + body.bitCount / 8))
        var bytes = body.withUnsafeBytes { body in
            writer.bytes + Self.checksum(writer.bytes[...], body) + Array(body)
        }
        defer { bytes.wipe() }
        return try use(bytes)
    }

    /// Lends the body, a slice that starts at 0.
    func withBody<Result, Failure: Error>(
        _ use: (ArraySlice<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = body.withUnsafeBytes { Array($0) }
        defer { bytes.wipe() }
        return try use(bytes[...])
    }

    private static func checksum(_ start: ArraySlice<UInt8>, _ body: some Sequence<UInt8>) -> [UInt8] {
        var checksum = CRC32C()
        checksum.update(start)
        checksum.update([0, 0, 0, 0])
        checksum.update(body)
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(checksum.value)
        return bytes
    }
}

/// Why bytes are not a key container. Nothing but other bytes helps.
public enum KeyContainerError: Error, Hashable, Sendable {
    /// Less than tag, size and checksum.
    case truncated
    /// Not one of the tags of ``KeyKind``.
    case unknownTag
    /// The size field is not the size, or no key of this kind has it.
    case wrongSize
    /// The checksum does not hold.
    case damaged
}

/// Why a container's key cannot be used. Nothing but another key helps.
public enum KeyError: Error, Hashable, Sendable {
    /// The container holds another kind of key.
    case wrongKind
    /// Not a point of the curve in compressed or uncompressed form. Hybrid points (06, 07) are refused, Themis takes them.
    case invalidPoint
    /// The scalar is zero, not below the group order, or follows a byte other than zero. Themis signs with the first two.
    case invalidScalar
    /// The modulus has fewer than 2048 bits. Themis takes 1024.
    case modulusTooSmall
    /// The numbers do not make an RSA key with exponent 3 or 65537.
    case invalidNumbers
}
