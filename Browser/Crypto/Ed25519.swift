// SPDX-License-Identifier: Apache-2.0

/// The bytes are not a key or a signature.
public enum CryptoError: Error {
    /// Another length, or not a point of the curve.
    case invalid
}

/// Ed25519 with the spelling of swift-crypto.
public enum Curve25519 {
    /// Signatures.
    public enum Signing {
        /// A key that verifies.
        ///
        /// Security: variable time; key, signature and message are public. As BoringSSL does, it takes keys whose y is not
        /// reduced, and does not multiply by the cofactor: both must accept the same signatures.
        public struct PublicKey: Sendable {
            private let bytes: [UInt8]

            /// A key of 32 bytes; whether they are a point is asked when verifying.
            public init(rawRepresentation: [UInt8]) throws(CryptoError) {
                guard rawRepresentation.count == 32 else { throw .invalid }
                bytes = rawRepresentation
            }

            /// Whether the signature is this key's over the message.
            public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
                isValidSignature(signature, for: message[...])
            }

            /// Whether the signature is this key's over the message.
            public func isValidSignature(_ signature: ArraySlice<UInt8>, for message: [UInt8]) -> Bool {
                isValidSignature(Array(signature), for: message[...])
            }

            /// Whether the signature is this key's over the message.
            ///
            /// Spec: RFC 8032, section 5.1.7.
            public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
                guard signature.count == 64 else { return false }
                let (commitment, response) = (Array(signature[..<32]), Array(signature[32...]))
                guard let s = PublicScalar(canonical: Bytes32(response.span)),
                    let key = RistrettoPoint(edwards: Bytes32(bytes.span))
                else { return false }
                var hash = SHA512()
                hash.update(data: commitment)
                hash.update(data: bytes)
                hash.update(data: message)
                guard let challenge = PublicScalar(reducing: hash.finalize().bytes) else { return false }
                let sum = RistrettoPoint.variableTimeSum(challenge, -key, generatorTimes: s)
                return sum.edwardsEncoded.bytes == commitment
            }
        }
    }
}

extension RistrettoPoint {
    /// RFC 8032, section 5.1.3, as lenient as BoringSSL: y is reduced, and x = 0 may carry a sign.
    init?(edwards bytes: Bytes32) {
        let y = FieldElement(reducing: bytes)
        let sign = bytes.word3 >> 63 == 1
        let square = y.squared
        let u = square - .one
        let v = square * .curveD + .one
        let ratio = FieldElement.rootOfRatio(u, v)
        guard ratio.isSquare else { return nil }
        let root = ratio.root
        let x = root.isNegative == sign ? root : -root
        self.init(x: x, y: y, z: .one, t: x * y)
    }
    /// RFC 8032, section 5.1.2.
    var edwardsEncoded: Bytes32 {
        let inverse = z.inverted
        let px = x * inverse
        let py = (y * inverse).encoded
        return Bytes32(
            word0: py.word0, word1: py.word1, word2: py.word2, word3: py.word3 | (px.isNegative ? 1 << 63 : 0))
    }
}

extension FieldElement {
    /// This element to the power p - 2 = 2^255 - 21 = 32 · (2^250 - 1) + 11.
    var inverted: FieldElement { power250.squared(5) * (squared.squared(2) * self.squared * self) }
}

extension PublicScalar {
    /// 64 little-endian bytes modulo the order: shift and subtract, a bit at a time. Public values only.
    init?(reducing wide: [UInt8]) {
        var r = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        let l = PublicScalar.order
        for bit in stride(from: 511, through: 0, by: -1) {
            let b = UInt64(wide[bit >> 3] >> UInt8(bit & 7)) & 1
            r = (r.0 << 1 | b, r.1 << 1 | r.0 >> 63, r.2 << 1 | r.1 >> 63, r.3 << 1 | r.2 >> 63)
            let now = Bytes32(word0: r.0, word1: r.1, word2: r.2, word3: r.3)
            if !now.isLess(than: l) {
                let (d0, b0) = r.0.subtractingReportingOverflow(l.word0)
                let (e1, c1) = r.1.subtractingReportingOverflow(l.word1)
                let (d1, f1) = e1.subtractingReportingOverflow(b0 ? 1 : 0)
                let (e2, c2) = r.2.subtractingReportingOverflow(l.word2)
                let (d2, f2) = e2.subtractingReportingOverflow(c1 || f1 ? 1 : 0)
                let d3 = r.3 &- l.word3 &- (c2 || f2 ? 1 : 0)
                r = (d0, d1, d2, d3)
            }
        }
        self.init(canonical: Bytes32(word0: r.0, word1: r.1, word2: r.2, word3: r.3))
    }
}
