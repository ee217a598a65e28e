// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// The device that has scanned an invitation, until the host has answered.
public struct MeetingGuest: ~Copyable, Sendable {
    /// The clocks of two devices that are not online may differ by this, in seconds: the host goes by its own.
    public static let clockSkew: UInt64 = 300

    /// The message to the host.
    public let hello: [UInt8]
    private let invitation: MeetingInvitation
    private let said: MeetingHello
    private let key: Curve25519.KeyAgreement.PrivateKey

    /// Accepts an invitation.
    ///
    /// - Parameters:
    ///   - key: made for this meeting alone.
    ///   - number: 32 unpredictable bytes.
    ///   - now: seconds since 1970.
    /// - Throws: ``MeetingError/expired(_:)``.
    public init(
        to invitation: MeetingInvitation, key: Curve25519.KeyAgreement.PrivateKey, number: [UInt8], now: UInt64
    ) throws(MeetingError) {
        let (end, isOver) = invitation.end.addingReportingOverflow(Self.clockSkew)
        guard isOver || now <= end else { throw .expired(invitation.end) }
        said = MeetingHello(to: invitation, key: Array(key.publicKey.rawRepresentation), number: number)
        (self.invitation, self.key, hello) = (invitation, key, said.encoded)
    }

    /// Takes the host's answer: the number to which the invitation commits. Only the device that made the invitation knows it, and
    /// only that device can read what comes next.
    ///
    /// - Throws: ``MeetingError``: `otherOpening`, `weakKey`.
    public consuming func receive(_ opening: [UInt8]) throws(MeetingError) -> AgreedGuest {
        guard MeetingHost.commitment(to: opening) == invitation.commitment else { throw .otherOpening }
        let keys = try MeetingKeys(invitation, hello: said, number: opening, key, with: invitation.key)
        return AgreedGuest(keys)
    }
}
