// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import VRF
public import VerifiableMap

/// The position of an account in the directory's index: SHA-256("kt-index/v1" || VRF hash), 32 bytes.
///
/// State records carry it in place of the 64-byte VRF hash; it tells nothing about the handle.
public struct LabelIndex: Hashable, Sendable {
    /// 32.
    public static let byteCount = MapKey.byteCount

    /// The same 32 bytes as the key that the index is asked for.
    public let key: MapKey

    /// The label that the index has under this key.
    init(_ key: MapKey) { self.key = key }

    /// The 32 bytes.
    public var bytes: [UInt8] { key.bytes }

    /// The index of the account with this VRF hash.
    public init(_ label: VRFHash) {
        var hash = SHA256()
        hash.update(data: Array("kt-index/v1".utf8))
        hash.update(data: label.bytes)
        key = MapKey(hash.finalize())
    }

    /// The place of something that belongs to no account: SHA-256 of a name of its own.
    init(of name: StaticString) {
        key = MapKey(SHA256.hash(data: name.withUTF8Buffer { Array($0) }))
    }

    /// Takes 32 stored or received bytes; nil for any other count.
    public init?(_ bytes: [UInt8]) {
        guard let key = MapKey(bytes) else { return nil }
        self.key = key
    }
}
