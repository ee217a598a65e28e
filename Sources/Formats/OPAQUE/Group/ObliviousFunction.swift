// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import Crypto

    /// The oblivious pseudorandom function under the password: OPRF(ristretto255, SHA-512), base mode.
    ///
    /// Spec: RFC 9497, section 3.3.1 and section 3.2.1.
    enum ObliviousFunction {
        /// blind · H(input).
        static func blind(_ input: Span<UInt8>, by blind: GroupScalar) throws(OPAQUEError) -> GroupElement {
            guard let blinded = GroupElement(hashing: input)?.times(blind) else { throw .unavailable }
            return blinded
        }

        /// The output, 64 bytes, from the server's answer.
        static func finalize(
            _ input: Span<UInt8>, _ blind: GroupScalar, _ evaluated: GroupElement, to output: borrowing WipedBytes
        ) throws(OPAQUEError) {
            guard let inverse = blind.inverted, let element = evaluated.times(inverse) else { throw .unavailable }
            let length = input.count
            SodiumHash.write(to: output) { hash in
                hash.update([UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)])
                hash.update(input)
                hash.update(element.bytes.withLength)
                hash.update(Array("Finalize".utf8))
            }
        }

        /// DeriveKeyPair: a key pair from a 32-byte seed.
        static func keyPair(
            seed: SymmetricKey, purpose: StaticString
        ) throws(OPAQUEError) -> (scalar: GroupScalar, element: GroupElement) {
            let purpose = purpose.withUTF8Buffer { Array($0) }.withLength
            let seedCount = seed.bitCount / 8
            let input = WipedBytes(count: seedCount + purpose.count + 1)
            // A counter of 0 gives zero once in 2^252 seeds.
            let scalar: GroupScalar? = input.withPointer { pointer in
                seed.withUnsafeBytes { for (index, byte) in $0.enumerated() { pointer[index] = byte } }
                for index in purpose.indices { pointer[seedCount + index] = purpose[index] }
                return GroupScalar(
                    hashing: Span(_unsafeStart: UnsafePointer(pointer), count: input.count), tag: "DeriveKeyPair")
            }
            guard let scalar, let element = GroupElement.generatorTimes(scalar) else { throw .unavailable }
            return (scalar, element)
        }
    }
#endif
