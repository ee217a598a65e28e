// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import CSodium
    import Crypto

    /// A secret scalar of ristretto255, not zero. Wiped when the last copy goes; prints nothing.
    package struct GroupScalar: Sendable {
        package static let byteCount = 32

        // SymmetricKey wipes its memory.
        private let secret: SymmetricKey

        /// A scalar from the system's random source.
        init() {
            let bytes = WipedBytes(count: Self.byteCount)
            secret = bytes.withPointer {
                crypto_core_ristretto255_scalar_random($0)
                return SymmetricKey(data: UnsafeRawBufferPointer(start: $0, count: Self.byteCount))
            }
        }

        /// A canonical encoding, 32 bytes, little-endian; nil for zero and for what is not below the group order.
        package init?(_ bytes: Span<UInt8>) {
            guard bytes.count == Self.byteCount else { return nil }
            let secret = bytes.withUnsafeBytes { SymmetricKey(data: $0) }
            guard Self.isCanonical(secret) else { return nil }
            self.secret = secret
        }

        /// HashToScalar of `input`; nil for zero; no input that gives zero can be found.
        ///
        /// Spec: RFC 9497, section 4.1.
        init?(hashing input: Span<UInt8>, tag: StaticString) {
            let uniform = WipedBytes(count: 64)
            ExpandedMessage.write(input, tag: tag, to: uniform)
            let bytes = WipedBytes(count: Self.byteCount)
            secret = uniform.withPointer { uniform in
                bytes.withPointer {
                    crypto_core_ristretto255_scalar_reduce($0, uniform)
                    return SymmetricKey(data: UnsafeRawBufferPointer(start: $0, count: Self.byteCount))
                }
            }
            guard withBytes({ sodium_is_zero($0, Self.byteCount) }) == 0 else { return nil }
        }

        /// 1 / scalar.
        package var inverted: GroupScalar? {
            let inverse = WipedBytes(count: Self.byteCount)
            return inverse.withPointer { inverse in
                guard withBytes({ crypto_core_ristretto255_scalar_invert(inverse, $0) }) == 0 else { return nil }
                return GroupScalar(Span(_unsafeStart: UnsafePointer(inverse), count: Self.byteCount))
            }
        }

        /// Lends the 32 bytes, little-endian. The pointer must not outlive `body`.
        func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
            secret.withUnsafeBytes { buffer in
                let copy = WipedBytes(count: Self.byteCount)
                return copy.withPointer { pointer in
                    UnsafeMutableRawPointer(pointer).copyMemory(
                        from: buffer.baseAddress ?? UnsafeRawPointer(pointer), byteCount: Self.byteCount)
                    return body(pointer)
                }
            }
        }

        /// Below the order: reducing it changes nothing.
        private static func isCanonical(_ secret: SymmetricKey) -> Bool {
            let wide = WipedBytes(count: 64)
            let reduced = WipedBytes(count: byteCount)
            return wide.withPointer { wide in
                secret.withUnsafeBytes { for (index, byte) in $0.enumerated() { wide[index] = byte } }
                return reduced.withPointer {
                    crypto_core_ristretto255_scalar_reduce($0, wide)
                    return sodium_is_zero($0, byteCount) == 0 && sodium_memcmp($0, wide, byteCount) == 0
                }
            }
        }
    }
#endif
