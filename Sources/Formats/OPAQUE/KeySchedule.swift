// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import Crypto

    /// HKDF-SHA512, HMAC-SHA512, and the labels of RFC 9807.
    enum Expansion {
        static func extract(_ material: borrowing WipedBytes) -> SymmetricKey {
            material.withPointer { pointer in
                let buffer = UnsafeRawBufferPointer(start: pointer, count: material.count)
                let key = HKDF<SHA512>.extract(
                    inputKeyMaterial: SymmetricKey(data: buffer), salt: [UInt8]())
                return SymmetricKey(data: key)
            }
        }

        static func expand(_ key: SymmetricKey, _ context: [UInt8], _ label: StaticString, _ count: Int) -> SymmetricKey
        {
            HKDF<SHA512>.expand(
                pseudoRandomKey: key, info: context + label.withUTF8Buffer { Array($0) }, outputByteCount: count)
        }

        /// Derive-Secret, 64 bytes.
        static func secret(_ key: SymmetricKey, _ label: StaticString, _ transcriptHash: [UInt8]) -> SymmetricKey {
            let label = Array("OPAQUE-".utf8) + label.withUTF8Buffer { Array($0) }
            let information =
                [0, 64, UInt8(truncatingIfNeeded: label.count)] + label
                + [UInt8(truncatingIfNeeded: transcriptHash.count)] + transcriptHash
            return HKDF<SHA512>.expand(pseudoRandomKey: key, info: information, outputByteCount: 64)
        }

        static func mac(_ key: SymmetricKey, _ message: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA512>.authenticationCode(for: message, using: key))
        }

        /// In constant time.
        static func isMAC(_ mac: [UInt8], _ key: SymmetricKey, _ message: [UInt8]) -> Bool {
            HMAC<SHA512>.isValidAuthenticationCode(mac, authenticating: message, using: key)
        }
    }

    /// The keys of one login, from three Diffie-Hellman values and the transcript.
    ///
    /// Spec: RFC 9807, section 6.4.
    struct KeySchedule {
        let sessionKey: SymmetricKey
        let serverMAC: [UInt8]
        let clientMAC: [UInt8]
        private let serverKey: SymmetricKey
        private let transcriptHash: [UInt8]

        /// - Parameter pairs: each gives a Diffie-Hellman value, which is in wiped memory only.
        /// - Throws: ``OPAQUEError/unavailable``: one of them is the identity.
        init(
            _ pairs: [(element: GroupElement, scalar: GroupScalar)], preamble: [UInt8]
        ) throws(OPAQUEError) {
            let material = WipedBytes(count: pairs.count * GroupElement.byteCount)
            let areProducts = material.withPointer { pointer in
                pairs.enumerated().allSatisfy { index, pair in
                    pair.element.write(times: pair.scalar, to: pointer + index * GroupElement.byteCount)
                }
            }
            guard areProducts else { throw .unavailable }
            let root = Expansion.extract(material)
            transcriptHash = Array(SHA512.hash(data: preamble))
            let handshake = Expansion.secret(root, "HandshakeSecret", transcriptHash)
            sessionKey = Expansion.secret(root, "SessionKey", transcriptHash)
            serverKey = Expansion.secret(handshake, "ServerMAC", [])
            serverMAC = Expansion.mac(serverKey, transcriptHash)
            let complete = Array(SHA512.hash(data: preamble + serverMAC))
            clientMAC = Expansion.mac(Expansion.secret(handshake, "ClientMAC", []), complete)
        }

        func isServerMAC(_ mac: [UInt8]) -> Bool { Expansion.isMAC(mac, serverKey, transcriptHash) }

        /// Everything both sides have said up to the server's MAC.
        static func preamble(
            _ parameters: LoginParameters, request: LoginRequest, credential: CredentialResponse, nonce: [UInt8],
            keyShare: GroupElement, server: GroupElement, client: GroupElement
        ) -> [UInt8] {
            Array("OPAQUEv1-".utf8) + parameters.context.withLength
                + (parameters.clientIdentity ?? client.bytes).withLength + request.encoded
                + (parameters.serverIdentity ?? server.bytes).withLength + credential.bytes + nonce + keyShare.bytes
        }
    }
#endif
