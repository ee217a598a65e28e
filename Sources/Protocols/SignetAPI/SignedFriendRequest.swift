// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// What a person's device signed when they asked to be a friend, or agreed: the request as it was sent to the
/// directory, which keeps it for the other person. That signature covers the checkpoint in its body, so it cannot be
/// removed or changed in transit.
///
/// Wire form: `signet-friend-request/v1` LF, one byte (0: they asked, 1: they agreed), u16 length and the value of the header
/// `Signet-Signature`, u16 length and the body. Integers are big-endian.
public struct SignedFriendRequest: Hashable, Sendable {
    /// No body of a request is longer, in bytes.
    public static let maximumBodyByteCount = 2048
    /// No encoding is longer, in bytes.
    public static let maximumByteCount = 25 + 1 + 2 + 512 + 2 + maximumBodyByteCount

    /// Whether they agreed to what the other person had asked; else they asked.
    public let isAgreement: Bool
    /// By which device, when, and the signature.
    public let signature: RequestSignature
    /// JSON ``FriendRequest``, as it was signed; at most ``maximumBodyByteCount`` bytes.
    public let body: [UInt8]

    /// A request as it was received.
    ///
    /// - Throws: ``SignedFriendRequestError/tooLong``.
    public init(
        isAgreement: Bool, signature: RequestSignature, body: [UInt8]
    ) throws(SignedFriendRequestError) {
        guard body.count <= Self.maximumBodyByteCount else { throw .tooLong }
        self.isAgreement = isAgreement
        self.signature = signature
        self.body = body
    }

    /// Reads the wire form; nothing is verified.
    ///
    /// - Throws: ``SignedFriendRequestError``: not exactly what ``encoded`` prints.
    public init(decoding bytes: [UInt8]) throws(SignedFriendRequestError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        let header: [UInt8]
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.firstLine.count).elementsEqual(Self.firstLine) else { throw Self.malformed }
            let kind = try reader.uint8()
            guard kind <= 1 else { throw Self.malformed }
            isAgreement = kind == 1
            header = Array(try reader.bytes(Int(reader.uint16())))
            body = Array(try reader.bytes(Int(reader.uint16())))
            try reader.end()
        } catch { throw .malformed }
        guard body.count <= Self.maximumBodyByteCount else { throw .tooLong }
        do { signature = try RequestSignature(headerValue: header) } catch { throw .malformed }
    }

    /// The wire form.
    public var encoded: [UInt8] {
        let header = signature.headerValue
        var writer = ByteWriter()
        writer.write(Self.firstLine)
        writer.write(UInt8(isAgreement ? 1 : 0))
        writer.write(UInt16(truncatingIfNeeded: header.count))
        writer.write(header)
        writer.write(UInt16(truncatingIfNeeded: body.count))
        writer.write(body)
        return writer.bytes
    }

    /// Whether the device that it names signed exactly this request to the directory of `origin`. Whose device that is, a
    /// verified lookup says.
    public func isSigned(forLog origin: [UInt8]) -> Bool {
        let route = isAgreement ? Route.acceptFriend : .addFriend
        let content = RequestSignature.Content(route, origin: origin, body: body)
        return (try? signature.verify(content, at: signature.time)) != nil
    }

    private static let firstLine = Array("signet-friend-request/v1\n".utf8)
    private static let malformed = SignedFriendRequestError.malformed
}

/// Why bytes are not a signed friend request. The directory misbehaved; a retry does not help.
public enum SignedFriendRequestError: Error, Hashable, Sendable {
    /// Longer than any.
    case tooLong
    /// Another first line, cut short, or something left over.
    case malformed
}
