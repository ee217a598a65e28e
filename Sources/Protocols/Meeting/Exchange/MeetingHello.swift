// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// The guest's first message: their one-time key and number, and that they have seen the invitation.
///
/// X25519 key, 32 bytes; number, 32; HMAC-SHA-256 under the invitation's secret over `signet-meet-hello/v1` LF, the invitation, the key
/// and the number, 32.
struct MeetingHello: Hashable, Sendable {
    static let byteCount = 96
    private static let format = Array("signet-meet-hello/v1\n".utf8)

    let key: [UInt8]
    let number: [UInt8]
    private let code: [UInt8]

    init(to invitation: MeetingInvitation, key: [UInt8], number: [UInt8]) {
        (self.key, self.number) = (key, number)
        let said = Self.format + invitation.encoded + key + number
        code = Array(HMAC<SHA256>.authenticationCode(for: said, using: SymmetricKey(data: invitation.secret)))
    }

    var encoded: [UInt8] { key + number + code }

    /// - Throws: ``MeetingError/notInvited``: another length, or the sender has not seen this invitation.
    init(decoding bytes: [UInt8], to invitation: MeetingInvitation) throws(MeetingError) {
        guard bytes.count == Self.byteCount else { throw .notInvited }
        (key, number, code) = (Array(bytes[..<32]), Array(bytes[32..<64]), Array(bytes[64...]))
        let said = Self.format + invitation.encoded + key + number
        let secret = SymmetricKey(data: invitation.secret)
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: said, using: secret) else {
            throw .notInvited
        }
    }
}
