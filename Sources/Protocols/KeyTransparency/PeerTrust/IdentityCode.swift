// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// What a person's screen shows for the camera of another: who both are, each with the identity key that the screen's owner
/// goes by.
///
/// ```
/// signet-compare/v1
/// alice@example.org
/// <base64 of alice's 33-byte identity key>
/// bob@example.org
/// <base64 of bob's, as alice's device has it>
/// ```
/// Every line ends in LF. The first person is the one whose screen it is.
///
/// Security: it compares all 33 bytes of both keys, so it is worth more than digits. It must come from the person's own screen:
/// it is not signed.
public struct IdentityCode: Hashable, Sendable {
    /// The longest code, in bytes.
    public static let maximumByteCount = 640

    /// Whose screen it is.
    public let giver: Handle
    /// Their identity key, 33 bytes.
    public let giverKey: [UInt8]
    /// Whom they compare with.
    public let reader: Handle
    /// The identity key that they have of the reader, 33 bytes.
    public let readerKey: [UInt8]

    private static let firstLine = Array("signet-compare/v1".utf8)

    /// The code on the screen of `giver`.
    public init(
        of giver: (handle: Handle, identityKey: [UInt8]), for reader: (handle: Handle, identityKey: [UInt8])
    ) {
        (self.giver, giverKey) = giver
        (self.reader, readerKey) = reader
    }

    /// The text.
    public var encoded: [UInt8] {
        let lines = [
            Self.firstLine, giver.bytes, Base64.encode(giverKey), reader.bytes, Base64.encode(readerKey),
        ]
        return lines.flatMap { $0 + [UInt8(ascii: "\n")] }
    }

    /// Reads the text.
    ///
    /// - Throws: ``IdentityCodeError/malformed``: not exactly what ``encoded`` prints.
    public init(decoding bytes: [UInt8]) throws(IdentityCodeError) {
        guard bytes.count <= Self.maximumByteCount else { throw .malformed }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == 6, lines[0] == Self.firstLine[...], lines[5].isEmpty else { throw .malformed }
        do {
            giver = try Handle(canonical: Array(lines[1]))
            giverKey = try Base64.decode(lines[2])
            reader = try Handle(canonical: Array(lines[3]))
            readerKey = try Base64.decode(lines[4])
        } catch { throw .malformed }
        guard giverKey.count == 33, readerKey.count == 33 else { throw .malformed }
    }

    /// Compares it with what the reader knows: it is the screen of the person meant, for the reader, and both keys are those
    /// that the reader goes by.
    ///
    /// - Throws: ``IdentityCodeError``, the first that does not fit.
    public func check(
        peer: (handle: Handle, identityKey: [UInt8]), own: (handle: Handle, identityKey: [UInt8])
    ) throws(IdentityCodeError) {
        guard giver == peer.handle else { throw .anotherPersons(giver) }
        guard reader == own.handle else { throw .forAnother(reader) }
        guard giverKey == peer.identityKey else { throw .theirKeyDiffers }
        guard readerKey == own.identityKey else { throw .ownKeyDiffers }
    }
}

/// Why a code from another person's screen does not show that two people have each other's keys. A retry does not help.
public enum IdentityCodeError: Error, Hashable, Sendable {
    /// No such code.
    case malformed
    /// The screen is another person's.
    case anotherPersons(Handle)
    /// It was made for another person.
    case forAnother(Handle)
    /// Their identity key is not the one that the directory gave the reader.
    case theirKeyDiffers
    /// The directory gave them another identity key of the reader's.
    case ownKeyDiffers
}
