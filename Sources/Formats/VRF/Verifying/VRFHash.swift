// SPDX-License-Identifier: Apache-2.0

/// The output (`beta`) of the VRF: 64 bytes that look random to everyone who has no proof.
///
/// Security: a value made from bytes proves nothing; only one that ``VRFPublicKey/verify(_:for:)`` returned does.
///
/// Spec: c2sp.org/vrf-r255; RFC 9381, section 5.2.
public struct VRFHash: Hashable, Sendable {
    /// 64 bytes.
    public static let byteCount = 64

    private let digest: Digest512

    init(_ digest: Digest512) { self.digest = digest }

    /// An output read back from where it was kept; nil unless exactly 64 bytes.
    public init?(_ bytes: [UInt8]) { self.init(bytes.span) }

    /// An output read back from where it was kept; nil unless exactly 64 bytes.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        digest = Digest512(bytes)
    }

    /// The 64 bytes.
    public var bytes: [UInt8] { digest.bytes }
}
