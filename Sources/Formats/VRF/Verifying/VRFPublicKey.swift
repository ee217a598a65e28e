// SPDX-License-Identifier: Apache-2.0

/// A VRF public key: an element of ristretto255 that is not the identity.
///
/// Spec: c2sp.org/vrf-r255 (`PK`); RFC 9381, section 5.4.5 (validate_key).
public struct VRFPublicKey: Hashable, Sendable {
    /// 32 bytes.
    public static let byteCount = 32

    let encoded: Bytes32
    let point: RistrettoPoint

    /// The key whose one encoding is `bytes`, 32 bytes.
    ///
    /// - Throws: ``VRFKeyError``: wrong length, not canonical, or the identity element. The key's owner sent something
    ///   malformed; a retry does not help.
    public init(_ bytes: [UInt8]) throws(VRFKeyError) { try self.init(bytes.span) }

    /// The key whose one encoding is `bytes`, 32 bytes.
    ///
    /// - Throws: ``VRFKeyError``: wrong length, not canonical, or the identity element. The key's owner sent something
    ///   malformed; a retry does not help.
    public init(_ bytes: Span<UInt8>) throws(VRFKeyError) {
        guard bytes.count == Self.byteCount else { throw .invalidLength(bytes.count) }
        encoded = Bytes32(bytes)
        guard let point = RistrettoPoint(encoded: encoded) else { throw .invalidEncoding }
        guard !point.isIdentity else { throw .identity }
        self.point = point
    }

    /// The 32 bytes of the one encoding.
    public var bytes: [UInt8] { encoded.bytes }

    /// Two keys are equal when their encodings are.
    public static func == (a: VRFPublicKey, b: VRFPublicKey) -> Bool { a.encoded == b.encoded }

    /// Hashes the encoding.
    public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}
