// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// On which side of a meeting a device is. The host shows the invitation, the guest scans it.
public enum MeetingRole: UInt8, Hashable, Sendable, CaseIterable {
    case host = 1
    case guest = 2

    /// The other side.
    public var peer: MeetingRole { self == .host ? .guest : .host }
}

/// What only the two ends of one meeting know, and a key from it for each message: one role's, at one step, used once.
///
/// Every key is HKDF-SHA256 over the X25519 secret and the 16 bytes of the invitation; the salt is the ``transcript``, the info is
/// `signet-meet/v1` LF, u8 role, u8 purpose. So whoever records the radio and does not see the screen opens nothing, even
/// with a quantum computer; a message for one side, step or meeting opens at no other.
struct MeetingKeys: Sendable {
    /// What a key is for.
    enum Purpose: UInt8 {
        case proof = 1
        case binding, words, verdict, receipt, number, channel
    }

    private static let format = Array("signet-meet/v1\n".utf8)
    private let secret: SymmetricKey
    /// SHA-256 over `signet-meet-transcript/v1` LF, u16 length and the invitation, u16 length and the guest's hello, and the host's
    /// number: everything that was said in the clear.
    let transcript: [UInt8]
    /// What identity keys sign, without the role: both one-time keys and both numbers, host's first, 128 bytes. The time, the
    /// address and the other person are not in it, so that a signature shows a third party no more than that its owner was in some
    /// meeting.
    let signed: [UInt8]

    /// - Parameters:
    ///   - privateKey: this side's.
    ///   - key: the other side's one-time key, 32 bytes.
    init(
        _ invitation: MeetingInvitation, hello: MeetingHello, number: [UInt8],
        _ privateKey: Curve25519.KeyAgreement.PrivateKey, with key: [UInt8]
    ) throws(MeetingError) {
        let agreed: [UInt8]
        do {
            agreed = try privateKey.sharedSecretFromKeyAgreement(with: .init(rawRepresentation: key))
                .withUnsafeBytes { Array($0) }
        } catch { throw .weakKey }
        // RFC 7748, section 6.1: a point of small order gives zero. All bytes are read, whatever they are.
        guard agreed.reduce(0, |) != 0 else { throw .weakKey }
        secret = SymmetricKey(data: agreed + invitation.secret)
        var writer = ByteWriter()
        writer.write("signet-meet-transcript/v1\n")
        for part in [invitation.encoded, hello.encoded] {
            writer.write(UInt16(truncatingIfNeeded: part.count))
            writer.write(part)
        }
        writer.write(number)
        transcript = Array(SHA256.hash(data: writer.bytes))
        signed = invitation.key + hello.key + number + hello.number
    }

    /// 32 bytes.
    func key(_ purpose: Purpose, of role: MeetingRole) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: transcript, info: Self.format + [role.rawValue, purpose.rawValue],
            outputByteCount: 32)
    }

    /// This many bytes that are the same at both ends and that nobody else knows.
    func bytes(_ count: Int, _ purpose: Purpose, of role: MeetingRole) -> [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(for: Self.format, using: key(purpose, of: role))
        return Array(Array(code).prefix(count))
    }

    /// ChaCha20-Poly1305 with a nonce of zeros: each key seals one message, because a state of the exchange is used up when it gives
    /// its message.
    func seal(_ plaintext: [UInt8], _ purpose: Purpose, by role: MeetingRole) throws(MeetingError) -> [UInt8] {
        do {
            let nonce = try ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12))
            let box = try ChaChaPoly.seal(plaintext, using: key(purpose, of: role), nonce: nonce)
            return Array(box.ciphertext) + Array(box.tag)
        } catch { throw .malformed }
    }

    /// - Throws: ``MeetingError/notOpened``.
    func open(_ sealed: [UInt8], _ purpose: Purpose, from role: MeetingRole) throws(MeetingError) -> [UInt8] {
        do {
            let box = try ChaChaPoly.SealedBox(combined: [UInt8](repeating: 0, count: 12) + sealed)
            return Array(try ChaChaPoly.open(box, using: key(purpose, of: role)))
        } catch { throw .notOpened }
    }

    /// HMAC-SHA-256 over who a side says that it is, 32 bytes. It keeps a person from putting their name on another's key, or their
    /// key on another's words (SIGMA's answer to identity misbinding).
    func binding(of person: MeetingPerson, as role: MeetingRole) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: person.bound, using: key(.binding, of: role))
    }

    /// What the identity key of a side signs: `signet-meet/v1` LF, u8 role, and ``signed``.
    func statement(of role: MeetingRole) -> [UInt8] { Self.format + [role.rawValue] + signed }
}
