// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import CSodium

    /// An element of ristretto255 other than the identity, as its 32-byte encoding.
    ///
    /// Spec: RFC 9496, section 4.3.
    package struct GroupElement: Hashable, Sendable {
        package static let byteCount = 32

        package let bytes: [UInt8]

        /// The element with this encoding; nil for the identity and for what encodes none.
        package init?(_ bytes: some Collection<UInt8>) {
            self.init(Array(bytes))
        }

        private init?(_ bytes: [UInt8]) {
            guard bytes.count == Self.byteCount, bytes.contains(where: { $0 != 0 }),
                crypto_core_ristretto255_is_valid_point(bytes) == 1
            else { return nil }
            self.bytes = bytes
        }

        /// hash_to_ristretto255 of `input`.
        ///
        /// Spec: RFC 9380, appendix B; the separation tag is RFC 9497's "HashToGroup-".
        package init?(hashing input: Span<UInt8>) {
            let uniform = WipedBytes(count: 64)
            ExpandedMessage.write(input, tag: "HashToGroup-", to: uniform)
            var bytes = [UInt8](repeating: 0, count: Self.byteCount)
            guard uniform.withPointer({ crypto_core_ristretto255_from_hash(&bytes, $0) }) == 0 else { return nil }
            self.init(bytes)
        }

        /// scalar · element; nil when that is the identity.
        package func times(_ scalar: GroupScalar) -> GroupElement? {
            var product = [UInt8](repeating: 0, count: Self.byteCount)
            guard scalar.withBytes({ crypto_scalarmult_ristretto255(&product, $0, bytes) }) == 0 else { return nil }
            return GroupElement(product)
        }

        /// Writes scalar · element, which is secret, where it is to be, and nowhere else; false when that is the identity.
        ///
        /// - Parameter product: 32 bytes.
        func write(times scalar: GroupScalar, to product: UnsafeMutablePointer<UInt8>) -> Bool {
            scalar.withBytes { crypto_scalarmult_ristretto255(product, $0, bytes) } == 0
        }

        /// scalar · generator; nil when that is the identity.
        static func generatorTimes(_ scalar: GroupScalar) -> GroupElement? {
            var product = [UInt8](repeating: 0, count: byteCount)
            guard scalar.withBytes({ crypto_scalarmult_ristretto255_base(&product, $0) }) == 0 else { return nil }
            return GroupElement(product)
        }
    }
#endif
