// SPDX-License-Identifier: Apache-2.0

public import CBOR
import Crypto

/// The data that binds a device's signature to one request of one site.
///
/// Spec: ISO/IEC 18013-5:2021, section 9.1.5.1; OpenID for Verifiable Presentations 1.0, annex B.2.6.1.
public struct SessionTranscript: Hashable, Sendable {
    let value: CBORValue

    /// The transcript of a request over OpenID4VP whose answer is posted or redirected.
    ///
    /// - Parameters:
    ///   - clientID: the site's whole client identifier, prefix included.
    ///   - nonce: the nonce of the request.
    ///   - keyThumbprint: the thumbprint of the key that the answer is encrypted to, 32 bytes (RFC 7638); nil if the
    ///     answer is not encrypted.
    ///   - responseAddress: the `response_uri` of the request.
    public init(clientID: CBORText, nonce: CBORText, keyThumbprint: [UInt8]?, responseAddress: CBORText) {
        let said = CBORValue.array([
            .text(clientID), .text(nonce), keyThumbprint.map(CBORValue.bytes) ?? .null, .text(responseAddress),
        ])
        let handover = CBORValue.array(["OpenID4VPHandover", .bytes(Array(SHA256.hash(data: said.encoded)))])
        value = .array([.null, .null, handover])
    }

    /// The bytes that a device signs, which are not sent: the transcript, the type of the document, and an empty list
    /// of elements of the device's own.
    ///
    /// Spec: ISO/IEC 18013-5:2021, section 9.1.3.4 (DeviceAuthenticationBytes).
    func deviceAuthentication(_ type: CBORText) -> [UInt8] {
        let said = CBORValue.array(["DeviceAuthentication", value, .text(type), Self.nothingSaid])
        return CBORValue.encodedItem(said.encoded).encoded
    }

    /// The encoded empty map of the elements that the device states itself.
    static let nothingSaid = CBORValue.encodedItem([0xA0])
}
