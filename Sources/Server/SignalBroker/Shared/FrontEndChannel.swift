// SPDX-License-Identifier: Apache-2.0

package import Crypto

// swift-crypto's boxes speak `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The keys that all front ends of a directory have in common, and nobody else.
package struct FrontEndKeys: Sendable {
    /// Begins a channel; 32 bytes.
    let sealing: SymmetricKey
    /// Those under which a channel may have been begun by now.
    let accepted: @Sendable () -> [SymmetricKey]

    /// - Parameters:
    ///   - sealing: begins a channel; 32 bytes.
    ///   - accepted: those under which others may have begun one, `sealing` among them.
    package init(sealing: SymmetricKey, accepted: @escaping @Sendable () -> [SymmetricKey]) {
        (self.sealing, self.accepted) = (sealing, accepted)
    }
}

/// A message on the bus, sealed.
///
/// Wire form: 16-byte name of the sender, 16-byte channel, and the box.
struct FrontEndEnvelope {
    static let nameByteCount = 16
    let sender: [UInt8]
    let channel: [UInt8]
    let box: [UInt8]

    init?(decoding bytes: [UInt8]) {
        guard bytes.count > Self.nameByteCount * 2 else { return nil }
        sender = Array(bytes[..<Self.nameByteCount])
        channel = Array(bytes[Self.nameByteCount..<Self.nameByteCount * 2])
        box = Array(bytes[(Self.nameByteCount * 2)...])
    }
}

/// A channel between two front ends through a bus that neither trusts: what is opened is what the other one sealed, in its order, without gaps
/// and without repetitions.
///
/// A box is ChaCha20-Poly1305 under a key for this channel, these two front ends and this direction, made by HKDF-SHA-256; the nonce is the number of
/// the message. The channel's 16 bytes are random, so no two have a key in common, as long as nobody accepts the same channel twice.
///
/// Security: who runs the bus can delay everything, and end a channel by dropping, changing, repeating or reordering anything; it learns
/// who speaks when, and how much.
struct FrontEndChannel: Sendable {
    let id: [UInt8]
    private let name: [UInt8]
    private let sendingKey: SymmetricKey
    private let receivingKey: SymmetricKey
    private var sentCount: UInt64 = 0
    private var receivedCount: UInt64 = 0

    /// - Parameters:
    ///   - id: 16 random bytes, of the one that begins the channel.
    ///   - root: what front ends have in common.
    ///   - hasBegun: whether this is the one that began it.
    init(_ id: [UInt8], between name: [UInt8], and other: [UInt8], under root: SymmetricKey, hasBegun: Bool) {
        self.id = id
        self.name = name
        let names = hasBegun ? name + other : other + name
        let keys = [UInt8(1), 2].map { direction in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: root, salt: id, info: Array("signet-signals/v1".utf8) + [direction] + names,
                outputByteCount: 32)
        }
        (sendingKey, receivingKey) = hasBegun ? (keys[0], keys[1]) : (keys[1], keys[0])
    }

    /// The next message as it goes onto the bus; nil: there were too many.
    mutating func seal(_ message: FrontEndMessage) -> [UInt8]? {
        guard let nonce = Self.nonce(sentCount), sentCount < .max,
            let box = try? ChaChaPoly.seal(message.encoded, using: sendingKey, nonce: nonce)
        else { return nil }
        sentCount += 1
        return name + id + Array(box.ciphertext) + Array(box.tag)
    }

    /// Opens what has to be the next message; nil: the channel is of no more use.
    mutating func open(_ box: [UInt8]) -> FrontEndMessage? {
        guard box.count >= Self.tagByteCount, let nonce = Self.nonce(receivedCount),
            let sealed = try? ChaChaPoly.SealedBox(
                nonce: nonce, ciphertext: box.dropLast(Self.tagByteCount), tag: box.suffix(Self.tagByteCount)),
            let content = try? ChaChaPoly.open(sealed, using: receivingKey)
        else { return nil }
        receivedCount += 1
        return FrontEndMessage(decoding: Array(content))
    }

    private static let tagByteCount = 16

    private static func nonce(_ number: UInt64) -> ChaChaPoly.Nonce? {
        let bytes = (0..<8).reversed().map { UInt8(number >> ($0 * 8) & 255) }
        return try? ChaChaPoly.Nonce(data: [0, 0, 0, 0] + bytes)
    }
}
