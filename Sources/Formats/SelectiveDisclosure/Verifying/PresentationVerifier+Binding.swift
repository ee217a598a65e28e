// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import StrictJSON

/// Who signed for a request, and when.
struct HolderBinding {
    let key: WebKey
    /// In seconds since 1970.
    let time: Int64
}

extension PresentationVerifier {
    /// What was asked for decides, not what arrives.
    static func checkBindingIsSent(
        _ parts: SeparatedText, _ binding: VerificationRequest.Binding
    ) throws(PresentationFault) {
        guard parts.keyBinding != nil || !binding.isRequired else { throw .bindingMissing }
    }

    /// Who signed for this request; nil if there is no such signature and none was required.
    static func holderBinding(
        _ parts: SeparatedText, _ holder: WebKey?, _ binding: VerificationRequest.Binding, _ now: Int64
    ) throws(PresentationFault) -> HolderBinding? {
        guard let text = parts.keyBinding else { return nil }
        guard let holder else { throw .confirmation }
        let token = try bindingToken(text)  // RFC 9901, section 7.3, step 5.a
        try checkBindingHeader(token)  // steps 5.b and 5.c
        try checkBindingSignature(token, holder)  // step 5.d
        let payload = try payload(of: token)
        let time = try checkedBindingTime(payload, binding, now)  // step 5.e
        try checkBindingAudience(payload, binding)  // step 5.f
        try checkBindingNonce(payload, binding)  // step 5.f
        try checkBindingHash(payload, parts)  // step 5.g
        return HolderBinding(key: holder, time: time)
    }

    private static func bindingToken(_ text: [UInt8]) throws(PresentationFault) -> SignedToken {
        do { return try SignedToken(decoding: text) } catch { throw PresentationFault(reading: error) }
    }

    private static func checkBindingHeader(_ token: SignedToken) throws(PresentationFault) {
        guard token.isES256 else { throw .bindingAlgorithm }
        guard token.hasType("kb+jwt") else { throw .bindingType }
        guard !token.hasCriticalParameters else { throw .bindingCritical }
    }

    private static func checkBindingSignature(_ token: SignedToken, _ holder: WebKey) throws(PresentationFault) {
        guard let key = holder.signingKey, (try? token.verify(by: key)) != nil else { throw .bindingSignature }
    }

    private static func checkedBindingTime(
        _ payload: JSONObject, _ binding: VerificationRequest.Binding, _ now: Int64
    ) throws(PresentationFault) -> Int64 {
        guard let time = payload["iat"]?.integer else { throw .bindingTime }
        let (age, isOutside) = now.subtractingReportingOverflow(time)
        guard !isOutside, age <= binding.maximumAge, age >= -binding.clockSkew else { throw .bindingTime }
        return time
    }

    private static func checkBindingAudience(
        _ payload: JSONObject, _ binding: VerificationRequest.Binding
    ) throws(PresentationFault) {
        guard payload["aud"] == .string(binding.audience) else { throw .bindingAudience }
    }

    private static func checkBindingNonce(
        _ payload: JSONObject, _ binding: VerificationRequest.Binding
    ) throws(PresentationFault) {
        guard payload["nonce"] == .string(binding.nonce) else { throw .bindingNonce }
    }

    /// The holder signed this credential with just these disclosures, in this order.
    private static func checkBindingHash(_ payload: JSONObject, _ parts: SeparatedText) throws(PresentationFault) {
        guard payload["sd_hash"] == .string(hash(of: parts.boundText)) else { throw .bindingHash }
    }

    /// base64url of the SHA-256 of a text.
    ///
    /// Spec: RFC 9901, section 4.3.1.
    static func hash(of text: [UInt8]) -> JSONText {
        JSONText(String(decoding: Base64URL.encode(Array(SHA256.hash(data: text))), as: UTF8.self))
    }
}
