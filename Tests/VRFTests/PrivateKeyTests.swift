// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import Testing

    @testable import VRF

    struct PrivateKeyTests {
        private let order = PublicScalar.order.bytes

        @Test(arguments: [0, 31, 33, 64])
        func aSecretOfAnotherLengthIsRefused(count: Int) {
            let bytes = [UInt8](repeating: 1, count: count)
            #expect(throws: VRFKeyError.invalidLength(count)) { try VRFPrivateKey(bytes) }
        }

        @Test func secret_refusesZero() {
            let bytes = [UInt8](repeating: 0, count: 32)
            #expect(throws: VRFKeyError.scalarIsZero) { try VRFPrivateKey(bytes) }
        }

        @Test func secret_refusesTheOrderAndValuesAboveIt() {
            var next = order
            next[0] += 1
            var high = order
            high[16] = 1
            for bytes in [order, next, high, [UInt8](repeating: 0xFF, count: 32)] {
                #expect(throws: VRFKeyError.scalarNotCanonical) { try VRFPrivateKey(bytes) }
            }
        }

        /// 1·B is the generator, and (q - 1)·B its negation: RFC 9496, appendix A.1 and section 4.4.
        @Test func theSmallestAndTheLargestSecretWork() throws {
            var one = [UInt8](repeating: 0, count: 32)
            one[0] = 1
            var largest = order
            largest[0] -= 1
            #expect(hex(try VRFPrivateKey(one).publicKey.bytes) == RFC9496.multiples[1])
            #expect(try VRFPrivateKey(largest).publicKey.point == -RistrettoPoint.generator)
        }

        @Test func generatedKeysDifferAndProve() throws {
            let first = try VRFPrivateKey.generate()
            let second = try VRFPrivateKey.generate()
            #expect(first.publicKey != second.publicKey)
            let (output, proof) = try first.prove([1, 2, 3])
            #expect(try first.publicKey.verify(proof, for: [1, 2, 3]) == output)
        }

        @Test func theClosureLendsExactlyTheScalar() throws {
            let scalar = try unhex(SpecificationVector.secret)
            let copy = try VRFPrivateKey(scalar).withScalar { bytes in bytes.indices.map { bytes[$0] } }
            #expect(copy == scalar)
        }

        @Test func theClosuresErrorKeepsItsType() throws {
            let key = try VRFPrivateKey.generate()
            #expect(throws: VRFKeyError.identity) {
                try key.withScalar { _ throws(VRFKeyError) in throw VRFKeyError.identity }
            }
        }

        @Test func printingAKeyShowsNothingOfTheSecret() throws {
            let scalar = try unhex(SpecificationVector.secret)
            let key = try VRFPrivateKey(scalar)
            var dumped = ""
            dump(key, to: &dumped)
            for text in [dumped, String(describing: key), String(reflecting: key)] {
                #expect(!text.contains(SpecificationVector.secret.prefix(16)))
                #expect(!text.contains("52, 49, 194, 176"))
                #expect(!text.contains(String(Bytes32(scalar.span).word0)))
            }
        }
    }
#endif
