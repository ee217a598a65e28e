// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency
public import TransparencyLog

/// What a new device hands to a device that holds the identity: its ``DeviceCard``, and the newest checkpoint of the log that it has
/// verified.
///
/// Wire form: `signet-link-card/v1` LF; u16 length and bytes of the device card; the checkpoint card to the end.
///
/// Security: the checkpoint shows the other device whether both see one log, and its root is the salt of the digits that people
/// compare: cards with given digits cannot be computed ahead of time, because the root is not known ahead of time.
public struct LinkCard: Hashable, Sendable {
    /// The longest card, in bytes.
    public static let maximumByteCount = 4096
    /// No card is older than so many seconds by the time of the log that is in it: an hour for the card, and one for the epoch
    /// that was the newest when it was made.
    public static let maximumAge: UInt64 = PossessionChallenge.lifetime + 3600

    /// The device and its public keys.
    public let device: DeviceCard
    /// The newest checkpoint that the device had verified.
    public let checkpoint: CheckpointCard

    private static let format = Array("signet-link-card/v1\n".utf8)

    /// A card.
    public init(_ device: DeviceCard, _ checkpoint: CheckpointCard) {
        self.device = device
        self.checkpoint = checkpoint
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt16(truncatingIfNeeded: device.encoded.count))
        writer.write(device.encoded)
        writer.write(checkpoint.encoded)
        return writer.bytes
    }

    /// SHA-256 of the wire form, 32 bytes.
    public var hash: [UInt8] { Array(SHA256.hash(data: encoded)) }

    /// The root of the log in the card, 32 bytes.
    public var logRoot: [UInt8] { checkpoint.checkpoint.head.root.bytes }

    /// Reads a card; checks the device's signature and the log's.
    ///
    /// - Throws: ``LinkCardError``.
    public init(decoding bytes: [UInt8], policy: Policy) throws(LinkCardError) {
        guard bytes.count <= Self.maximumByteCount, bytes.starts(with: Self.format) else { throw .unknownFormat }
        let card: [UInt8]
        let rest: [UInt8]
        do {
            var reader = ByteReader(Array(bytes.dropFirst(Self.format.count)))
            card = Array(try reader.bytes(Int(reader.uint16())))
            rest = Array(reader.rest())
        } catch { throw .device(SubmissionError(error)) }
        do { device = try DeviceCard(decoding: card) } catch { throw .device(error) }
        do { checkpoint = try CheckpointCard(decoding: rest, policy: policy) } catch { throw .checkpoint(error) }
    }
}

/// Why a new device's card cannot be used. A retry does not help.
public enum LinkCardError: Error, Hashable, Sendable {
    /// Another first line: no such card, or one of an earlier version, which had no checkpoint.
    case unknownFormat
    /// The device card in it.
    case device(SubmissionError)
    /// The checkpoint in it.
    case checkpoint(CheckpointCardError)
    /// The directory does not prove that the new device sees the log that this device sees.
    case anotherLog
    /// It was made longer ago than ``LinkCard/maximumAge``, by the time of the log in it, in seconds since 1970.
    case tooOld(UInt64)
}
