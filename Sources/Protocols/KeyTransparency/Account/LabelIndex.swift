import CanonicalCoding
import Crypto
public import VRF

/// Where an account stands in the directory's index: SHA-256("kt-index/v1" || VRF hash), 32 bytes.
///
/// State records carry it in place of the 64-byte VRF hash; it tells nothing about the handle.
public struct LabelIndex: Hashable, Sendable {
    /// 32.
    public static let byteCount = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The index of the account with this VRF hash.
    public init(_ label: VRFHash) {
        bytes = Array(SHA256.hash(data: Array("kt-index/v1".utf8) + label.bytes))
    }

    /// Takes 32 stored or received bytes; nil for any other count.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
