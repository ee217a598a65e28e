// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import CSodium

    /// The nonce k of one proof.
    struct VRFNonce: ~Copyable {
        private let scalar = WipedBytes(count: Int(crypto_core_ristretto255_SCALARBYTES))

        /// k = SHA-512(suite || 0x81 || SK || H) modulo q.
        ///
        /// Spec: c2sp.org/vrf-r255, "Nonce generation".
        init(secret: UnsafePointer<UInt8>, mapped: Bytes32) {
            let prefix = VRFTranscript.start(separator: 0x81, capacity: 0)
            let digest = WipedBytes(count: Int(crypto_hash_sha512_BYTES))
            var state = crypto_hash_sha512_state()
            defer { sodium_memzero(&state, MemoryLayout<crypto_hash_sha512_state>.size) }
            crypto_hash_sha512_init(&state)
            crypto_hash_sha512_update(&state, prefix, UInt64(prefix.count))
            crypto_hash_sha512_update(&state, secret, 32)
            crypto_hash_sha512_update(&state, mapped.bytes, 32)
            digest.withPointer { digest in
                _ = crypto_hash_sha512_final(&state, digest)
                scalar.withPointer { crypto_core_ristretto255_scalar_reduce($0, digest) }
            }
        }

        /// k · B; nil when k is zero.
        borrowing func generatorTimes() -> Bytes32? {
            scalar.withPointer { SodiumGroup.generatorTimes($0) }
        }

        /// k · element; nil when k is zero or `element` is not an encoding.
        borrowing func product(_ element: Bytes32) -> Bytes32? {
            scalar.withPointer { SodiumGroup.product($0, element) }
        }

        /// s = k + c·x modulo q, which is published.
        borrowing func response(challenge: Bytes32, secret: UnsafePointer<UInt8>) -> Bytes32 {
            let product = WipedBytes(count: Int(crypto_core_ristretto255_SCALARBYTES))
            var response = [UInt8](repeating: 0, count: 32)
            product.withPointer { product in
                crypto_core_ristretto255_scalar_mul(product, challenge.bytes, secret)
                scalar.withPointer { crypto_core_ristretto255_scalar_add(&response, $0, product) }
            }
            return Bytes32(response.span)
        }
    }
#endif
