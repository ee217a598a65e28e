// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// What the screen of the device that invites shows, as a QR code and as a link: how to reach the device, and by what to know it.
///
/// u8 1; one-time X25519 key, 32 bytes; commitment to the host's number, 32; secret, 16; u64 end in seconds since 1970; u16 port; u8
/// count of addresses, 0 to 2; each address as u8 4 or 6 and 4 or 16 bytes. As a link: `signet-meet:` and Base64url of these bytes, which
/// is at most 180 characters: version 8 of a QR code.
///
/// It names nobody, so that a photograph of the screen shows nobody's name. Whoever has it while it is good can take the guest's place:
/// that is what the words are for (``MeetingWords``).
public struct MeetingInvitation: Hashable, Sendable {
    /// What a link begins with.
    public static let scheme = "signet-meet:"
    /// The largest number of addresses.
    public static let maximumAddressCount = 2
    /// The longest link, in bytes.
    public static let maximumLinkByteCount = 12 + (91 + 2 * 17 + 2) / 3 * 4

    /// X25519, 32 bytes: made for this meeting alone.
    public let key: [UInt8]
    /// To the host's number, 32 bytes.
    let commitment: [UInt8]
    /// 16 bytes that only those know who have seen the invitation.
    let secret: [UInt8]
    /// Until when it is good, in seconds since 1970.
    public let end: UInt64
    /// The TCP port at which the device waits.
    public let port: UInt16
    /// At most two addresses of the device, the likeliest first; without any, it is found by multicast alone (``MeetingAdvert``).
    public let addresses: [MeetingAddress]

    init?(
        key: [UInt8], commitment: [UInt8], secret: [UInt8], end: UInt64, port: UInt16, addresses: [MeetingAddress]
    ) {
        guard port > 0, addresses.count <= Self.maximumAddressCount else { return nil }
        self.key = key
        self.commitment = commitment
        self.secret = secret
        self.end = end
        self.port = port
        self.addresses = addresses
    }

    /// The bytes.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(1))
        writer.write(key)
        writer.write(commitment)
        writer.write(secret)
        writer.write(end)
        writer.write(port)
        writer.write(UInt8(truncatingIfNeeded: addresses.count))
        for address in addresses { address.write(to: &writer) }
        return writer.bytes
    }

    /// The text that a QR code holds and a person may paste.
    public var link: [UInt8] { Array(Self.scheme.utf8) + Base64URL.encode(encoded) }

    /// Reads the bytes; only what ``encoded`` prints.
    ///
    /// - Throws: ``MeetingError/notAnInvitation``.
    public init(decoding bytes: [UInt8]) throws(MeetingError) {
        do { self = try Self.read(bytes) } catch { throw .notAnInvitation }
    }

    /// Reads a link.
    ///
    /// - Throws: ``MeetingError/notAnInvitation``.
    public init(link: [UInt8]) throws(MeetingError) {
        let scheme = Array(Self.scheme.utf8)
        guard link.count <= Self.maximumLinkByteCount, link.starts(with: scheme),
            let bytes = try? Base64URL.decode(Array(link.dropFirst(scheme.count)))
        else { throw .notAnInvitation }
        try self.init(decoding: bytes)
    }

    /// Whether a first message comes from somebody who has seen this invitation. A stranger's does not use it up.
    public func isAnswered(by hello: [UInt8]) -> Bool { (try? MeetingHello(decoding: hello, to: self)) != nil }

    private static func read(_ bytes: [UInt8]) throws -> MeetingInvitation {
        var reader = ByteReader(bytes)
        guard try reader.uint8() == 1 else { throw MeetingError.notAnInvitation }
        let (key, commitment) = (Array(try reader.bytes(32)), Array(try reader.bytes(32)))
        let secret = Array(try reader.bytes(16))
        let (end, port) = (try reader.uint64(), try reader.uint16())
        let count = Int(try reader.uint8())
        guard count <= maximumAddressCount else { throw MeetingError.notAnInvitation }
        var addresses: [MeetingAddress] = []
        for _ in 0..<count { addresses.append(try MeetingAddress(from: &reader)) }
        try reader.end()
        guard
            let invitation = MeetingInvitation(
                key: key, commitment: commitment, secret: secret, end: end, port: port, addresses: addresses)
        else { throw MeetingError.notAnInvitation }
        return invitation
    }
}
