// SPDX-License-Identifier: Apache-2.0

public import Crypto
import SecretMemory

/// A secret integer from 1 to n - 1, n being the order of P-256: a private key, and what a share is.
///
/// Security: multiplying points and signing run in swift-crypto. Adding and multiplying scalars, which swift-crypto
/// has no function for, runs in ``Residue`` in steps that do not depend on the values. The bytes are wiped when the
/// last copy goes, have no coding and no description, and only ``withBytes(_:)`` reaches them.
///
/// Spec: SEC 1, section 3.2.1 (private keys); section 2.3.7 (encoding).
public struct SecretScalar: Sendable {
    /// 32.
    public static let byteCount = 32

    private let octets: SecretBytes

    /// Copies 32 bytes, big-endian.
    ///
    /// - Throws: ``SecretScalarError``: another length, zero, or not below n. The bytes are not a scalar.
    ///
    /// Security: wipe the memory behind `bytes` afterwards. The time taken tells whether they are a scalar, not which.
    public init(_ bytes: Span<UInt8>) throws(SecretScalarError) {
        guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
        try self.init(
            SecretBytes(count: Self.byteCount) { memory in
                for index in 0..<Self.byteCount { memory[index] = bytes[index] }
            })
    }

    /// Copies 32 bytes, big-endian; see ``init(_:)-(Span<UInt8>)``.
    ///
    /// - Throws: ``SecretScalarError``.
    public init(_ bytes: [UInt8]) throws(SecretScalarError) { try self.init(bytes.span) }

    /// A scalar of which each is equally likely.
    ///
    /// - Parameter generator: a cryptographic source, such as the system's.
    public static func random(using generator: inout some RandomNumberGenerator) -> SecretScalar {
        while true {
            let octets = SecretBytes(count: byteCount) { memory in
                for index in memory.indices { memory[index] = generator.next() }
            }
            // Once in 2^32 the value is not below n.
            if let scalar = try? SecretScalar(octets) { return scalar }
        }
    }

    /// A scalar from the system's generator.
    public static func random() -> SecretScalar {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    private init(_ octets: SecretBytes) throws(SecretScalarError) {
        let words = octets.withBytes { Words256(bigEndian: $0) }
        guard words.maskIfBelow(GroupOrder.words) != 0 else { throw .notBelowOrder }
        guard words.word0 | words.word1 | words.word2 | words.word3 != 0 else { throw .zero }
        self.octets = octets
    }

    /// The scalar that a sum or product is; zero is none.
    init(_ residue: Residue<GroupOrder>) throws(SecretScalarError) {
        try self.init(SecretBytes(count: Self.byteCount) { residue.words.write(bigEndian: $0) })
    }

    var residue: Residue<GroupOrder> {
        Residue(reduced: octets.withBytes { Words256(bigEndian: $0) })
    }

    /// Lends the 32 bytes, big-endian, for storing or sealing them.
    ///
    /// - Throws: any error that `body` throws.
    ///
    /// Security: code that copies the bytes must protect and wipe the copy.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try octets.withSpan(body)
    }

    /// The scalar as a key that signs.
    ///
    /// - Throws: ``SecretScalarError/refused``, which no scalar causes.
    public func signingKey() throws(SecretScalarError) -> P256.Signing.PrivateKey {
        let key = octets.withBytes { try? P256.Signing.PrivateKey(rawRepresentation: $0) }
        guard let key else { throw .refused }
        return key
    }

    /// The scalar as a key to which others seal.
    ///
    /// - Throws: ``SecretScalarError/refused``, which no scalar causes.
    public func agreementKey() throws(SecretScalarError) -> P256.KeyAgreement.PrivateKey {
        let key = octets.withBytes { try? P256.KeyAgreement.PrivateKey(rawRepresentation: $0) }
        guard let key else { throw .refused }
        return key
    }

    /// The scalar times the generator: the public key. Computed in swift-crypto, in constant time.
    ///
    /// - Throws: ``SecretScalarError/refused``, which no scalar causes.
    public func publicPoint() throws(SecretScalarError) -> CurvePoint {
        guard let point = CurvePoint(uncompressed: Array(try signingKey().publicKey.x963Representation)) else {
            throw .refused
        }
        return point
    }
}

extension SecretScalar: CustomStringConvertible, CustomReflectable {
    /// Never the value.
    public var description: String { "SecretScalar" }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why bytes are no secret scalar.
public enum SecretScalarError: Error, Hashable, Sendable {
    /// Not 32 bytes.
    case invalidLength(Int)
    /// Zero.
    case zero
    /// n or more.
    case notBelowOrder
    /// swift-crypto refused a scalar from 1 to n - 1: a bug.
    case refused
}
