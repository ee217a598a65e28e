// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import CanonicalCoding
import Crypto

/// The digits that the people in a call read to each other.
///
/// Spec: SHA-512 over `signet-call-code/v2` LF, the 16-byte call, u32 term, and for each member, in rising order of device key, the
/// 32-byte device key, u8 length of the identity key, and the identity key; then 5,199 times SHA-512 over the last hash and the call. Of the last hash the
/// first 30 bytes are six groups of five bytes, each a big-endian number whose remainder by 100,000 is five digits.
///
/// Security: nothing secret is in it. It says who is in the call, by the keys that their signals are signed with and the identities
/// that vouch for these; no secret of the call reaches any other device. It changes when a member comes or goes and
/// when the host changes, and not at a rotation. An attacker who makes both of the calls between which they stand can
/// search for two with the same digits: about 2^50 tries of 5,200 hashes each.
public enum CallCode {
    /// How often SHA-512 is computed.
    public static let rounds = 5200

    /// Thirty ASCII digits.
    ///
    /// - Parameter identities: each member's identity key, 33 bytes, as verified lookups gave it.
    public static func digits(of callID: CallID, term: UInt32, identities: [CallDevice: [UInt8]]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-call-code/v2\n")
        writer.write(callID.bytes)
        writer.write(term)
        for (device, identity) in identities.sorted(by: { $0.key < $1.key }) {
            writer.write(device.signingKey)
            writer.write(UInt8(truncatingIfNeeded: identity.count))
            writer.write(identity)
        }
        var hash = Array(SHA512.hash(data: writer.bytes))
        for _ in 1..<rounds { hash = Array(SHA512.hash(data: hash + callID.bytes)) }
        return stride(from: 0, to: 30, by: 5).flatMap { start in
            let number = hash[start..<start + 5].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100_000
            return Decimal.encode(number + 100_000).dropFirst()
        }
    }
}

extension CallParticipant {
    /// The thirty digits of the call as it is, ``CallCode``; nil while this device cannot send, or if the identity of
    /// any member is unknown.
    public func verificationCode(identity: (CallDevice) -> [UInt8]?) -> [UInt8]? {
        guard isMember, sending != nil, let roster else { return nil }
        var identities: [CallDevice: [UInt8]] = [:]
        for member in roster.members {
            guard let key = identity(member.device) else { return nil }
            identities[member.device] = key
        }
        return CallCode.digits(of: callID, term: roster.term, identities: identities)
    }
}
