// SPDX-License-Identifier: Apache-2.0

import Crypto

/// What two devices tell each other after both people have confirmed the meeting, in sealed frames.
///
/// A frame is ChaCha20-Poly1305 of u8 1 if more of the message follows, or u8 0, and a part of the message; the nonce is four zeros and the
/// number of the frame of its side, from 0, u64. So a frame that is lost, repeated, sent back or moved does not open.
///
/// Spec: RFC 8439, section 2.8.
public struct MeetingChannel: ~Copyable, Sendable {
    /// The longest frame, in bytes.
    public static let maximumFrameByteCount = 16_384
    /// The longest message, in bytes.
    public static let maximumMessageByteCount = 262_144
    private static let partByteCount = maximumFrameByteCount - 17

    private let own: SymmetricKey
    private let peer: SymmetricKey
    private var sentCount: UInt64 = 0
    private var receivedCount: UInt64 = 0
    private var message: [UInt8] = []

    init(_ keys: MeetingKeys, as role: MeetingRole) {
        own = keys.key(.channel, of: role)
        peer = keys.key(.channel, of: role.peer)
    }

    /// The frames of a message, to be sent in order.
    ///
    /// - Throws: ``MeetingError/malformed`` for a message that is longer than ``maximumMessageByteCount``.
    public mutating func frames(of message: [UInt8]) throws(MeetingError) -> [[UInt8]] {
        guard message.count <= Self.maximumMessageByteCount else { throw .malformed }
        var frames: [[UInt8]] = []
        var rest = message[...]
        repeat {
            let part = rest.prefix(Self.partByteCount)
            rest = rest.dropFirst(part.count)
            do {
                let box = try ChaChaPoly.seal(
                    [rest.isEmpty ? 0 : 1] + part, using: own, nonce: Self.nonce(sentCount))
                frames.append(Array(box.ciphertext) + Array(box.tag))
            } catch { throw .malformed }
            sentCount += 1
        } while !rest.isEmpty
        return frames
    }

    /// Takes a frame of the other side.
    ///
    /// - Returns: the message that it ends; nil if more of it follows.
    /// - Throws: ``MeetingError``: `notOpened`, `malformed`.
    public mutating func receive(_ frame: [UInt8]) throws(MeetingError) -> [UInt8]? {
        let plaintext: [UInt8]
        do {
            let box = try ChaChaPoly.SealedBox(combined: Array(Self.nonce(receivedCount)) + frame)
            plaintext = Array(try ChaChaPoly.open(box, using: peer))
        } catch { throw .notOpened }
        receivedCount += 1
        guard let first = plaintext.first, first <= 1 else { throw .malformed }
        guard message.count + plaintext.count - 1 <= Self.maximumMessageByteCount else { throw .malformed }
        message += plaintext.dropFirst()
        guard first == 0 else { return nil }
        defer { message = [] }
        return message
    }

    private static func nonce(_ count: UInt64) throws -> ChaChaPoly.Nonce {
        try ChaChaPoly.Nonce(
            data: [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * UInt64($0))) })
    }
}
