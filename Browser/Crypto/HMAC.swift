// SPDX-License-Identifier: Apache-2.0

/// The key of an ``HMAC``, which here is public: the opening of a commitment that was sent along.
public struct SymmetricKey: Sendable {
    let bytes: [UInt8]

    /// A key of these bytes.
    public init(data: [UInt8]) { bytes = data }
}

/// HMAC over SHA-256 with the spelling of swift-crypto, for public bytes.
///
/// Spec: RFC 2104, section 2.
public enum HMAC<Hash> {
    private static var blockByteCount: Int { 64 }
}

extension HMAC where Hash == SHA256 {
    /// The code of a message.
    public static func authenticationCode(for message: [UInt8], using key: SymmetricKey) -> SHA256Digest {
        var block = key.bytes.count > blockByteCount ? Array(SHA256.hash(data: key.bytes)) : key.bytes
        block += [UInt8](repeating: 0, count: blockByteCount - block.count)
        let inner = SHA256.hash(data: block.map { $0 ^ 0x36 } + message)
        return SHA256.hash(data: block.map { $0 ^ 0x5C } + inner.bytes)
    }
}
