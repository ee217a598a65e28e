// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import Crypto

    /// What a client derives from its password with the server's help, and the envelope it seals or opens with it.
    ///
    /// Spec: RFC 9807, section 4.1.
    struct PasswordSecret {
        private let secret: SymmetricKey

        init(
            password: Span<UInt8>, blind: GroupScalar, evaluated: GroupElement, stretching: KeyStretching
        ) throws(OPAQUEError) {
            let output = WipedBytes(count: 64)
            let stretched = WipedBytes(count: 64)
            try ObliviousFunction.finalize(password, blind, evaluated, to: output)
            try stretching.stretch(output, to: stretched)
            let material = WipedBytes(count: 128)
            material.withPointer { material in
                output.withPointer { material.update(from: $0, count: 64) }
                stretched.withPointer { (material + 64).update(from: $0, count: 64) }
            }
            secret = Expansion.extract(material)
        }

        var maskingKey: SymmetricKey { Expansion.expand(secret, [], "MaskingKey", 64) }

        func exportKey(nonce: [UInt8]) -> SymmetricKey { Expansion.expand(secret, nonce, "ExportKey", 64) }

        func keyPair(nonce: [UInt8]) throws(OPAQUEError) -> (scalar: GroupScalar, element: GroupElement) {
            try ObliviousFunction.keyPair(
                seed: Expansion.expand(secret, nonce, "PrivateKey", 32),
                purpose: "OPAQUE-DeriveDiffieHellmanKeyPair")
        }

        func envelope(
            nonce: [UInt8], server: GroupElement, client: GroupElement, _ parameters: LoginParameters
        ) -> Envelope {
            Envelope(nonce + Expansion.mac(authKey(nonce), Self.authenticated(nonce, server, client, parameters)))
        }

        func opens(
            _ envelope: Envelope, server: GroupElement, client: GroupElement, _ parameters: LoginParameters
        ) -> Bool {
            Expansion.isMAC(
                envelope.tag, authKey(envelope.nonce),
                Self.authenticated(envelope.nonce, server, client, parameters))
        }

        private func authKey(_ nonce: [UInt8]) -> SymmetricKey { Expansion.expand(secret, nonce, "AuthKey", 64) }

        private static func authenticated(
            _ nonce: [UInt8], _ server: GroupElement, _ client: GroupElement, _ parameters: LoginParameters
        ) -> [UInt8] {
            nonce + server.bytes + (parameters.serverIdentity ?? server.bytes).withLength
                + (parameters.clientIdentity ?? client.bytes).withLength
        }
    }
#endif
