// SPDX-License-Identifier: Apache-2.0

import SeededRandomness

#if canImport(CSodium)
    import Testing

    @testable import VRF

    /// libsodium proves, our arithmetic verifies, and what is altered on the way is refused.
    struct ProvingCrossCheckTests {
        @Test(arguments: SodiumCrossCheckTests.seeds)
        func proofsVerifyToTheProversOutput(seed: UInt64) throws {
            var generator = SeededGenerator(seed: seed)
            for round in 0..<500 {
                let (key, alpha) = try generator.keyAndInput()
                let (output, proof) = try key.prove(alpha)
                let received = try VRFProof(proof.bytes)
                #expect(received == proof, "seed \(seed), round \(round)")
                #expect(try key.publicKey.verify(received, for: alpha) == output, "seed \(seed), round \(round)")
            }
        }

        @Test(arguments: SodiumCrossCheckTests.seeds)
        func alteredProofsKeysAndInputsAreRefused(seed: UInt64) throws {
            var generator = SeededGenerator(seed: seed)
            for round in 0..<500 {
                let (key, alpha) = try generator.keyAndInput()
                var (keyBytes, input) = (key.publicKey.bytes, alpha)
                var proof = try key.prove(alpha).proof.bytes
                switch generator.next() % 4 {
                case 0: generator.flipBit(of: &keyBytes)
                case 1: input.append(UInt8(truncatingIfNeeded: generator.next()))
                default: generator.flipBit(of: &proof)
                }
                #expect(throws: (any Error).self, "seed \(seed), round \(round)") {
                    _ = try VRFPublicKey(keyBytes).verify(VRFProof(proof), for: input)
                }
            }
        }

        @Test func provingTwiceGivesTheSameProof() throws {
            let key = try VRFPrivateKey.generate()
            let (first, second) = (try key.prove([7]), try key.prove([7]))
            #expect(first.proof == second.proof && first.hash == second.hash)
        }
    }

    extension SeededGenerator {
        fileprivate mutating func keyAndInput() throws -> (VRFPrivateKey, [UInt8]) {
            var secret = scalar()
            if secret.allSatisfy({ $0 == 0 }) { secret[0] = 1 }
            return (try VRFPrivateKey(secret), bytes(Int(next() % 200)))
        }

        fileprivate mutating func flipBit(of bytes: inout [UInt8]) {
            let bit = Int(next() % UInt64(bytes.count * 8))
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
    }
#endif
