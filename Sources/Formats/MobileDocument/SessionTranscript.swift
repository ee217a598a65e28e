// SPDX-License-Identifier: Apache-2.0

public import CBOR
import Crypto

/// What binds a device's signature to one request of one site.
///
/// Spec: ISO/IEC 18013-5:2021, section 9.1.5.1; OpenID for Verifiable Presentations 1.0, annex B.2.6.1.
public struct SessionTranscript: Hashable, Sendable {
    let value: CBORValue

    /// The transcript of a request over OpenID4VP, whose answer is posted or redirected.
    ///
    /// - Parameters:
    ///   - clientID: the site's whole client identifier, prefix included.
    ///   - nonce: the nonce of the request.
    ///   - keyThumbprint: of the key that the answer is encrypted to, 32 bytes (RFC 7638); nil if it is not encrypted.
    ///   - responseAddress: the `response_uri` of the request.
    public init(clientID: CBORText, nonce: CBORText, keyThumbprint: [UInt8]?, responseAddress: CBORText) {
        let said = CBORValue.array([
            .text(clientID), .text(nonce), keyThumbprint.map(CBORValue.bytes) ?? .null, .text(responseAddress),
        ])
        let handover = CBORValue.array(["OpenID4VPHandover", .bytes(Array(SHA256.hash(data: said.encoded)))])
        value = .array([.null, .null, handover])
    }

    /// What a device signs, without being sent: the transcript, the type of its document, and what it says itself, which is nothing.
    ///
    /// Spec: ISO/IEC 18013-5:2021, section 9.1.3.4 (DeviceAuthenticationBytes).
    func deviceAuthentication(_ type: CBORText) -> [UInt8] {
        let said = CBORValue.array(["DeviceAuthentication", value, .text(type), Self.nothingSaid])
        return CBORValue.encodedItem(said.encoded).encoded
    }

    /// The elements that the device signed itself: none.
    static let nothingSaid = CBORValue.encodedItem([0xA0])
}
