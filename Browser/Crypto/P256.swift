// SPDX-License-Identifier: Apache-2.0

/// P-256 with the spelling of swift-crypto.
public enum P256 {
    /// ECDSA.
    public enum Signing {
        /// A key that verifies.
        ///
        /// Security: variable time; key, signature and message are public.
        public struct PublicKey: Sendable {
            let point: AffinePoint
            /// A point of 33 bytes (SEC 1, section 2.3.3).
            public init(compressedRepresentation bytes: [UInt8]) throws(CryptoError) {
                guard let point = AffinePoint(compressed: bytes) else { throw .invalid }
                self.point = point
            }
            /// A point of 64 bytes: x and y.
            public init(rawRepresentation bytes: [UInt8]) throws(CryptoError) {
                guard let point = AffinePoint(raw: bytes) else { throw .invalid }
                self.point = point
            }
            /// x and y, 64 bytes.
            public var rawRepresentation: [UInt8] { point.x.words.bigEndian + point.y.words.bigEndian }
            /// Whether the signature is this key's over the SHA-256 of the message.
            ///
            /// Spec: FIPS 186-5, section 6.4.2.
            public func isValidSignature(_ signature: ECDSASignature, for message: [UInt8]) -> Bool {
                isValidSignature(signature, for: message[...])
            }
            /// The same, of a part of a message.
            public func isValidSignature(_ signature: ECDSASignature, for message: ArraySlice<UInt8>) -> Bool {
                var hasher = SHA256()
                hasher.update(data: message)
                let digest = Array(hasher.finalize())
                guard let r = Residue<GroupOrder>.nonZero(Array(signature.raw[0..<32])),
                    let s = Residue<GroupOrder>.nonZero(Array(signature.raw[32..<64]))
                else { return false }
                let e = Residue<GroupOrder>(reducing: Words256(bytes: digest))
                let w = s.inverted()
                let sum = JacobianPoint.variableTimeSum([PublicTerm(e * w, .generator), PublicTerm(r * w, point)])
                guard let found = sum.affine else { return false }
                return Residue<GroupOrder>(reducing: found.x.words) == r
            }
        }
        /// r and s.
        public struct ECDSASignature: Sendable {
            let raw: [UInt8]
            /// 64 bytes, r || s; whether they are in range is asked when verifying.
            public init(rawRepresentation: [UInt8]) throws(CryptoError) {
                guard rawRepresentation.count == 64 else { throw .invalid }
                raw = rawRepresentation
            }
        }
    }
    /// Key agreement.
    public enum KeyAgreement {
        /// A key that is known to be a point, and of which nothing more is asked.
        public struct PublicKey: Sendable {
            /// A point of 33 bytes (SEC 1, section 2.3.3).
            public init(compressedRepresentation bytes: [UInt8]) throws(CryptoError) {
                guard AffinePoint(compressed: bytes) != nil else { throw .invalid }
            }
        }
    }
}

/// P-384 with the spelling of swift-crypto: nothing that a browser verifies is under such a key, so that none is read.
public enum P384 {
    /// ECDSA.
    public enum Signing {
        /// No key.
        public struct PublicKey: Sendable {
            /// Refuses all bytes.
            public init(compressedRepresentation bytes: [UInt8]) throws(CryptoError) { throw .invalid }
            /// Empty.
            public var rawRepresentation: [UInt8] { [] }
        }
    }
}

extension Words256 {
    init(bytes: [UInt8]) { self = bytes.withUnsafeBytes { Words256(bigEndian: $0) } }
}

extension Residue where Prime == GroupOrder {
    static func nonZero(_ bytes: [UInt8]) -> Residue? {
        let words = Words256(bytes: bytes)
        guard words.maskIfBelow(Prime.words) != 0 else { return nil }
        let value = Residue(reduced: words)
        return value.isZero ? nil : value
    }

    /// A value below 2^256 is below 2n.
    init(reducing words: Words256) {
        let (difference, borrow) = words.minus(Prime.words)
        self.init(reduced: borrow == 1 ? words : difference)
    }
}

extension AffinePoint {
    static let b = Residue<FieldPrime>(
        reduced: Words256(0x3bce_3c3e_27d2_604b, 0x651d_06b0_cc53_b0f6, 0xb3eb_bd55_7698_86bc, 0x5ac6_35d8_aa3a_93e7))
    static let generator = AffinePoint(
        x: Residue(
            reduced: Words256(
                0xf4a1_3945_d898_c296, 0x7703_7d81_2deb_33a0, 0xf8bc_e6e5_63a4_40f2, 0x6b17_d1f2_e12c_4247)),
        y: Residue(
            reduced: Words256(
                0xcbb6_4068_37bf_51f5, 0x2bce_3357_6b31_5ece, 0x8ee7_eb4a_7c0f_9e16, 0x4fe3_42e2_fe1a_7f9b)))

    init?(raw bytes: [UInt8]) {
        guard bytes.count == 64, let point = AffinePoint(compressed: [2 + bytes[63] & 1] + bytes[..<32]),
            point.y.words.bigEndian == Array(bytes[32...])
        else { return nil }
        self = point
    }

    init?(compressed bytes: [UInt8]) {
        guard bytes.count == 33, bytes[0] == 2 || bytes[0] == 3 else { return nil }
        let words = Words256(bytes: Array(bytes[1...]))
        guard words.maskIfBelow(FieldPrime.words) != 0 else { return nil }
        let x = Residue<FieldPrime>(reduced: words)
        let right = x * x * x - x.doubled - x + Self.b
        let y = right.squareRootCandidate()
        guard y * y == right else { return nil }
        let isOdd = y.words.bit(0)
        if y.isZero && bytes[0] == 3 { return nil }
        self.init(x: x, y: isOdd == (bytes[0] == 3) ? y : .zero - y)
    }
}

extension Residue where Prime == FieldPrime {
    /// To the power (p + 1) / 4 = 2^254 - 2^222 + 2^190 + 2^94.
    func squareRootCandidate() -> Residue {
        let ones2 = squared(1) * self
        let ones4 = ones2.squared(2) * ones2
        let ones8 = ones4.squared(4) * ones4
        let ones16 = ones8.squared(8) * ones8
        let ones32 = ones16.squared(16) * ones16
        return ((ones32.squared(32) * self).squared(96) * self).squared(94)
    }

    private func squared(_ times: Int) -> Residue {
        (0..<times).reduce(self) { power, _ in power * power }
    }
}
