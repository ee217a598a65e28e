// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import CSodium

    /// expand_message_xmd with SHA-512 to 64 bytes, under a tag of this OPRF's context.
    ///
    /// Spec: RFC 9380, section 5.3.1; the context string is RFC 9497, section 3.1, mode 0x00.
    enum ExpandedMessage {
        static func write(_ input: Span<UInt8>, tag: StaticString, to output: borrowing WipedBytes) {
            let tag = tag.withUTF8Buffer { Array($0) } + contextString
            let suffix = tag + [UInt8(truncatingIfNeeded: tag.count)]
            let first = WipedBytes(count: 64)
            SodiumHash.write(to: first) { hash in
                hash.update([UInt8](repeating: 0, count: 128))
                hash.update(input)
                hash.update([0, 64, 0] + suffix)
            }
            SodiumHash.write(to: output) { hash in
                first.withPointer { hash.update(Span(_unsafeStart: UnsafePointer($0), count: 64)) }
                hash.update([1] + suffix)
            }
        }

        private static let contextString = Array("OPRFV1-".utf8) + [0] + Array("-ristretto255-SHA512".utf8)
    }

    /// SHA-512 whose state is wiped.
    struct SodiumHash: ~Copyable {
        private var state = crypto_hash_sha512_state()

        private init() { crypto_hash_sha512_init(&state) }

        mutating func update(_ bytes: Span<UInt8>) {
            bytes.withUnsafeBufferPointer { _ = crypto_hash_sha512_update(&state, $0.baseAddress, UInt64($0.count)) }
        }

        mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

        static func write(to output: borrowing WipedBytes, _ body: (inout SodiumHash) -> Void) {
            var hash = SodiumHash()
            body(&hash)
            output.withPointer { _ = crypto_hash_sha512_final(&hash.state, $0) }
            sodium_memzero(&hash.state, MemoryLayout<crypto_hash_sha512_state>.size)
        }
    }
#endif
