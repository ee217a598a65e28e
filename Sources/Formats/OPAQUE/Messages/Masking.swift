// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import Crypto

    /// What hides from a client that does not know the password whether the account exists.
    ///
    /// Spec: RFC 9807, section 6.3.2.
    enum Masking {
        static func mask(
            server: GroupElement, _ envelope: Envelope, maskingKey: [UInt8], nonce: [UInt8]
        ) -> [UInt8] {
            pad(SymmetricKey(data: maskingKey), nonce, server.bytes + envelope.bytes)
        }

        /// - Throws: ``OPAQUEError/notOpened``: under a wrong key this is noise, which is rarely an element.
        static func unmask(
            _ response: CredentialResponse, _ maskingKey: SymmetricKey
        ) throws(OPAQUEError) -> (server: GroupElement, envelope: Envelope) {
            let plain = pad(maskingKey, response.maskingNonce, response.masked)
            guard let server = GroupElement(plain.prefix(GroupElement.byteCount)) else { throw .notOpened }
            return (server, Envelope(Array(plain.suffix(Envelope.byteCount))))
        }

        private static func pad(_ key: SymmetricKey, _ nonce: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
            Expansion.expand(key, nonce, "CredentialResponsePad", bytes.count).withUnsafeBytes { pad in
                zip(bytes, pad).map { $0 ^ $1 }
            }
        }
    }
#endif
