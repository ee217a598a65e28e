// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// The device that invites, until somebody has come who saw the invitation: one guest, and no other after them.
public struct MeetingHost: ~Copyable, Sendable {
    /// For how long an invitation may be good, in seconds.
    public static let maximumSeconds: UInt64 = 600

    /// What the screen shows.
    public let invitation: MeetingInvitation
    private let key: Curve25519.KeyAgreement.PrivateKey
    private let number: [UInt8]

    /// Makes an invitation.
    ///
    /// - Parameters:
    ///   - key: made for this meeting alone.
    ///   - randomness: 48 unpredictable bytes: the host's number, 32, which it opens after the guest's has come; the secret, 16.
    ///   - now: seconds since 1970.
    ///   - seconds: for how long it is good, at most ``maximumSeconds``.
    /// - Returns: nil if there is no port, there are more than two addresses, or the randomness has another length.
    public init?(
        at addresses: [MeetingAddress], port: UInt16, key: Curve25519.KeyAgreement.PrivateKey, randomness: [UInt8],
        now: UInt64, seconds: UInt64
    ) {
        guard randomness.count == 48 else { return nil }
        let number = Array(randomness[..<32])
        guard
            let invitation = MeetingInvitation(
                key: Array(key.publicKey.rawRepresentation), commitment: Self.commitment(to: number),
                secret: Array(randomness[32...]), end: now + min(seconds, Self.maximumSeconds), port: port,
                addresses: addresses)
        else { return nil }
        (self.invitation, self.key, self.number) = (invitation, key, number)
    }

    /// SHA-256 over `signet-meet-opening/v1` LF and the number.
    static func commitment(to number: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: Array("signet-meet-opening/v1\n".utf8) + number))
    }

    /// Takes the guest's first message.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``MeetingError``: `expired`, `notInvited`, `weakKey`.
    public consuming func receive(_ hello: [UInt8], at now: UInt64) throws(MeetingError) -> AgreedHost {
        guard now <= invitation.end else { throw .expired(invitation.end) }
        let hello = try MeetingHello(decoding: hello, to: invitation)
        let keys = try MeetingKeys(invitation, hello: hello, number: number, key, with: hello.key)
        return AgreedHost(keys, opening: number)
    }
}
