// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CSodium

    /// The ristretto255 operations of libsodium, constant time in the scalar. Elements are their 32-byte encodings.
    enum SodiumGroup {
        /// scalar · B; nil when that is the identity.
        static func generatorTimes(_ scalar: UnsafePointer<UInt8>) -> Bytes32? {
            var product = [UInt8](repeating: 0, count: 32)
            guard crypto_scalarmult_ristretto255_base(&product, scalar) == 0 else { return nil }
            return Bytes32(product.span)
        }

        /// scalar · element; nil when that is the identity or `element` is not an encoding.
        static func product(_ scalar: UnsafePointer<UInt8>, _ element: Bytes32) -> Bytes32? {
            var product = [UInt8](repeating: 0, count: 32)
            guard crypto_scalarmult_ristretto255(&product, scalar, element.bytes) == 0 else { return nil }
            return Bytes32(product.span)
        }

        /// The one-way map.
        static func mapped(_ digest: Digest512) -> Bytes32? {
            var element = [UInt8](repeating: 0, count: 32)
            guard crypto_core_ristretto255_from_hash(&element, digest.bytes) == 0 else { return nil }
            return Bytes32(element.span)
        }
    }
#endif
