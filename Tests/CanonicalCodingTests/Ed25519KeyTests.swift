// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Testing

#if canImport(CSodium)
    import CSodium
#endif

/// The spellings of points of small order, by `Scripts/interop/small-order.py list`, each with a signature over "hello" and a
/// line feed by its `sign`, made without a private key.
private let forgeries: [(key: String, signature: String)] = [
    // Order 1: canonical.
    (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "5866666666666666666666666666666666666666666666666666666666666666"
            + "0100000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 2: canonical.
    (
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022"
            + "0200000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 4: canonical.
    (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "5866666666666666666666666666666666666666666666666666666666666666"
            + "0100000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 4: canonical.
    (
        "0000000000000000000000000000000000000000000000000000000000000080",
        "2f1132ca61ab38dff00f2fea3228f24c6c71d58085b80e47e19515cb27e8d047"
            + "0400000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 8: canonical.
    (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "9e286d335160c6ff6ea5d8c7c5d506ae35ccf8f4dde523f3e55a97b716d12866"
            + "1500000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 8: canonical.
    (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "d4b4f5784868c3020403246717ec169ff79e26608ea126a1ab69ee77d1b16712"
            + "0300000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 8: canonical.
    (
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "eb2767c137ab7ad8279c078eff116ab0786ead3a2e0f989f72c37f82f2969670"
            + "1000000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 8: canonical.
    (
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "5866666666666666666666666666666666666666666666666666666666666666"
            + "0100000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 1: x is zero and has a sign.
    (
        "0100000000000000000000000000000000000000000000000000000000000080",
        "5866666666666666666666666666666666666666666666666666666666666666"
            + "0100000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 1: y is not below p.
    (
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "5866666666666666666666666666666666666666666666666666666666666666"
            + "0100000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 1: y is not below p and x is zero and has a sign.
    (
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "5866666666666666666666666666666666666666666666666666666666666666"
            + "0100000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 2: x is zero and has a sign.
    (
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "5866666666666666666666666666666666666666666666666666666666666666"
            + "0100000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 4: y is not below p.
    (
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "2f1132ca61ab38dff00f2fea3228f24c6c71d58085b80e47e19515cb27e8d047"
            + "0400000000000000000000000000000000000000000000000000000000000000"
    ),
    // Order 4: y is not below p.
    (
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "2c7be86ab07488ba43e8e03d85a67625cfbf98c8544de4c877241b7aaafc7fe3"
            + "0a00000000000000000000000000000000000000000000000000000000000000"
    ),
]

@Suite struct Ed25519KeyTests {
    /// Why the check is there at all: swift-crypto takes them for keys and the signatures for theirs.
    @Test(arguments: forgeries.indices) func aPointOfSmallOrderAcceptsForgedSignatures(_ number: Int) throws {
        let key = try Curve25519.Signing.PublicKey(rawRepresentation: Hex.decode(Array(forgeries[number].key.utf8)))
        let signature = try Hex.decode(Array(forgeries[number].signature.utf8))
        #expect(key.isValidSignature(signature, for: Array("hello\n".utf8)))
    }

    @Test(arguments: forgeries.indices) func everySpellingOfAPointOfSmallOrderIsRefused(_ number: Int) throws {
        let key = try Hex.decode(Array(forgeries[number].key.utf8))
        #expect(throws: Ed25519KeyError.self) { try Ed25519Key.check(key) }
    }

    @Test func theEightPointsAreRefusedForTheirOrder() throws {
        for forgery in forgeries.prefix(8) {
            let key = try Hex.decode(Array(forgery.key.utf8))
            #expect(throws: Ed25519KeyError.smallOrder) { try Ed25519Key.check(key) }
        }
    }

    /// Two to eighteen beyond the prime are no points of small order, so only their spelling is wrong.
    @Test func aSecondSpellingIsRefused() throws {
        for excess in UInt8(2)...18 {
            for sign in [0x7F, 0xFF] as [UInt8] {
                let key = [0xED + excess] + [UInt8](repeating: 0xFF, count: 30) + [sign]
                #expect(throws: Ed25519KeyError.notCanonical) { try Ed25519Key.check(key) }
            }
        }
    }

    @Test func theLargestCoordinatesBelowThePrimeAreNotTakenForMore() throws {
        let below = [0xEB] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        try Ed25519Key.check(below)
        for place in 1...31 {
            var key = [0xFF] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
            key[place] -= 1
            try Ed25519Key.check(key)
        }
    }

    @Test(arguments: [0, 31, 33]) func aKeyOfAnotherLengthIsRefused(_ count: Int) {
        #expect(throws: Ed25519KeyError.wrongLength(count)) {
            try Ed25519Key.check([UInt8](repeating: 9, count: count))
        }
    }

    @Test func realKeysPass() throws {
        for _ in 0..<100 {
            try Ed25519Key.check(Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation))
        }
    }

    #if canImport(CSodium)
        /// libsodium's own list and rule, which are another's: what we refuse it refuses, and what it takes for a point of the
        /// main subgroup we take.
        @Test func libsodiumAgrees() throws {
            #expect(sodium_init() >= 0)
            for forgery in forgeries {
                let key = try Hex.decode(Array(forgery.key.utf8))
                let signature = try Hex.decode(Array(forgery.signature.utf8))
                #expect(crypto_core_ed25519_is_valid_point(key) == 0)
                #expect(crypto_sign_verify_detached(signature, Array("hello\n".utf8), 6, key) != 0)
            }
            for _ in 0..<100 {
                var point = [UInt8](repeating: 0, count: 32)
                crypto_core_ed25519_random(&point)
                try Ed25519Key.check(point)
            }
            for excess in UInt8(0)...18 {
                for sign in [0x7F, 0xFF] as [UInt8] {
                    let key = [0xED + excess] + [UInt8](repeating: 0xFF, count: 30) + [sign]
                    #expect(crypto_core_ed25519_is_valid_point(key) == 0)
                }
            }
        }
    #endif
}
