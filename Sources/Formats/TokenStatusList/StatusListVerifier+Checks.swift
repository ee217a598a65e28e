// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import StrictJSON

extension StatusListVerifier {
    static func token(_ text: [UInt8], _ limits: StatusListLimits) throws(StatusFault) -> SignedToken {
        do {
            return try SignedToken(decoding: text, limits: JSONLimits(byteCount: limits.tokenByteCount, depth: 16))
        } catch { throw StatusFault(reading: error) }
    }

    static func checkHeader(_ token: SignedToken) throws(StatusFault) {
        guard token.isES256 else { throw .algorithm }
        guard token.hasType("statuslist+jwt") else { throw .type }
        guard !token.hasCriticalParameters else { throw .critical }
    }

    static func checkSignature(_ token: SignedToken, _ key: P256.Signing.PublicKey) throws(StatusFault) {
        do { try token.verify(by: key) } catch { throw .signature }
    }

    static func payload(_ token: SignedToken, _ limits: StatusListLimits) throws(StatusFault) -> JSONObject {
        do {
            return try JSONObject(
                decoding: token.unverifiedPayload, limits: JSONLimits(byteCount: limits.tokenByteCount, depth: 16))
        } catch { throw StatusFault(error) }
    }

    static func checkSubject(_ payload: JSONObject, _ reference: StatusReference) throws(StatusFault) {
        guard payload["sub"] == .string(reference.uri) else { throw .subject }
    }

    static func checkExpiry(_ payload: JSONObject, _ now: Int64) throws(StatusFault) {
        guard let value = payload["exp"] else { return }
        guard let end = value.integer, now < end else { throw .expiry }
    }

    static func checkAge(_ payload: JSONObject, _ limits: StatusListLimits, _ now: Int64) throws(StatusFault) {
        guard let time = payload["iat"]?.integer, time >= 0, time <= now else { throw .issueTime }
        guard now - time <= limits.maximumAge else { throw .stale }
    }

    static func checkTimeToLive(_ payload: JSONObject) throws(StatusFault) {
        guard let value = payload["ttl"] else { return }
        guard let seconds = value.integer, seconds > 0 else { throw .timeToLive }
    }

    static func bitsPerEntry(_ payload: JSONObject) throws(StatusFault) -> Int {
        guard let bits = payload["status_list"]?.object?["bits"]?.integer, [1, 2, 4, 8].contains(bits) else {
            throw .bits
        }
        return Int(bits)
    }

    static func entries(_ payload: JSONObject, _ limits: StatusListLimits) throws(StatusFault) -> [UInt8] {
        guard let text = payload["status_list"]?.object?["lst"]?.string,
            let stream = try? Base64URL.decode(text.utf8)
        else { throw .list }
        return try ZlibStream.inflated(stream, maximumByteCount: limits.maximumByteCount)
    }
}
