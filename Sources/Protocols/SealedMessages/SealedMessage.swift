// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// A message's name: 16 random bytes, by which an app knows one that it has seen before.
public struct MessageID: Hashable, Sendable {
    /// 16.
    public static let byteCount = 16
    /// The bytes.
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// A message as it travels: one ciphertext, and its key encrypted to each device that may open it.
///
/// Wire form: `signet-message/v1` LF; 16 name; 32 commitment to the key (these three are the header); u16 count of wraps, each
/// 4-byte hint, 1120-byte encapsulation, 48-byte encrypted key; u32 count and the sealed content, which is AES-256-GCM with a zero
/// nonce (each key seals once) over ``MessageContent`` padded as notes are. The header is the associated data of all encryptions.
///
/// A wrap is HPKE with X-Wing, HKDF-SHA256 and AES-256-GCM, with the info `signet-message-wrap/v1`. The hint is the first four bytes of
/// SHA-256(`signet-message-hint/v1` LF ‖ name ‖ hash of the device's keys): it finds a device's wrap, and differs in each message.
/// The commitment is HMAC-SHA-256(key, `signet-message-key/v1` LF ‖ name).
///
/// Security: shows the number of devices and, in steps, the length. It does not show who sealed it or, to an observer
/// who does not know the keys, for whom; the carrier knows that from elsewhere. The keys belong to devices and live as
/// long as they do: the thief of a device can open what was sealed to it before.
public struct SealedMessage: Hashable, Sendable {
    /// No message is for more devices.
    public static let maximumRecipientCount = 1024
    static let format = Array("signet-message/v1\n".utf8)

    /// The key encrypted to one device.
    struct Wrap: Hashable, Sendable {
        let hint: [UInt8]
        let encapsulation: [UInt8]
        let ciphertext: [UInt8]
    }

    /// Its name.
    public let id: MessageID
    let commitment: [UInt8]
    let wraps: [Wrap]
    let sealed: [UInt8]

    init(id: MessageID, commitment: [UInt8], wraps: [Wrap], sealed: [UInt8]) {
        self.id = id
        self.commitment = commitment
        self.wraps = wraps
        self.sealed = sealed
    }

    /// Reads the wire form. Nothing in it is believed yet.
    ///
    /// - Throws: ``SealedMessageError/malformed(_:)``, ``SealedMessageError/unknownFormat``, ``SealedMessageError/invalidField``.
    public init(decoding bytes: [UInt8]) throws(SealedMessageError) {
        var reader = ByteReader(bytes)
        do {
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw SealedMessageError.unknownFormat
            }
            id = MessageID(Array(try reader.bytes(MessageID.byteCount)))
            commitment = Array(try reader.bytes(32))
            let count = Int(try reader.uint16())
            guard (1...Self.maximumRecipientCount).contains(count) else { throw SealedMessageError.invalidField }
            wraps = try (0..<count).map { _ in
                Wrap(
                    hint: Array(try reader.bytes(4)), encapsulation: Array(try reader.bytes(1120)),
                    ciphertext: Array(try reader.bytes(48)))
            }
            sealed = Array(try reader.bytes(Int(try reader.uint32())))
            try reader.end()
        } catch let error as SealedMessageError {
            throw error
        } catch let error as CanonicalCodingError {
            throw .malformed(error)
        } catch { throw .invalidField }
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(header)
        writer.write(UInt16(truncatingIfNeeded: wraps.count))
        for wrap in wraps {
            writer.write(wrap.hint)
            writer.write(wrap.encapsulation)
            writer.write(wrap.ciphertext)
        }
        writer.write(UInt32(truncatingIfNeeded: sealed.count))
        writer.write(sealed)
        return writer.bytes
    }

    /// The message with the wraps of some devices only, for an app's server that sends to each device what it needs.
    ///
    /// - Parameter keysHashes: `DeviceKeys.hash` of the devices, 32 bytes each.
    /// - Returns: nil if none of them has a wrap.
    public func only(for keysHashes: some Sequence<[UInt8]>) -> SealedMessage? {
        let hints = Set(keysHashes.map { Self.hint(of: $0, in: id) })
        let kept = wraps.filter { hints.contains($0.hint) }
        return kept.isEmpty ? nil : SealedMessage(id: id, commitment: commitment, wraps: kept, sealed: sealed)
    }

    var header: [UInt8] { Self.format + id.bytes + commitment }

    static func hint(of keysHash: [UInt8], in id: MessageID) -> [UInt8] {
        let input = Array("signet-message-hint/v1\n".utf8) + id.bytes + keysHash
        return Array(SHA256.hash(data: input).prefix(4))
    }

    static func commitment(to key: SymmetricKey, of id: MessageID) -> [UInt8] {
        let input = Array("signet-message-key/v1\n".utf8) + id.bytes
        return Array(HMAC<SHA256>.authenticationCode(for: input, using: key))
    }
}
