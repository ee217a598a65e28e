// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CSodium

    @testable import VRF

    /// libsodium's ristretto255 as the second opinion on every operation. Encodings in, encodings out.
    enum Oracle {
        /// Must be touched before any other member; libsodium starts once.
        static let isReady = sodium_init() >= 0

        static func isValid(_ encoding: [UInt8]) -> Bool {
            crypto_core_ristretto255_is_valid_point(encoding) == 1
        }

        static func add(_ p: [UInt8], _ q: [UInt8]) -> [UInt8] {
            element { crypto_core_ristretto255_add($0, p, q) }
        }

        static func subtract(_ p: [UInt8], _ q: [UInt8]) -> [UInt8] {
            element { crypto_core_ristretto255_sub($0, p, q) }
        }

        static func map(_ uniform: [UInt8]) -> [UInt8] {
            element { crypto_core_ristretto255_from_hash($0, uniform) }
        }

        /// All zeros, the identity, where libsodium reports the identity.
        static func product(_ scalar: [UInt8], _ p: [UInt8]) -> [UInt8] {
            element { crypto_scalarmult_ristretto255($0, scalar, p) }
        }

        static func generatorTimes(_ scalar: [UInt8]) -> [UInt8] {
            element { crypto_scalarmult_ristretto255_base($0, scalar) }
        }

        private static func element(_ body: (UnsafeMutablePointer<UInt8>) -> Int32) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
                guard let start = buffer.baseAddress else { return }
                buffer.initialize(repeating: 0)
                if body(start) != 0 { buffer.update(repeating: 0) }
                count = 32
            }
        }
    }
#endif
