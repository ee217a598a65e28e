// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// The one place where the verifying half needs swift-crypto: everything else here, but snapshots, builds without it.
extension MapHash {
    static func sha256(_ input: UnsafeRawBufferPointer) -> MapHash {
        var hasher = SHA256()
        hasher.update(bufferPointer: input)
        return hasher.finalize().withUnsafeBytes { MapHash(words: Words32(loading: $0, at: 0)) }
    }
}

extension MapKey {
    /// The key that is this digest.
    public init(_ digest: SHA256Digest) {
        self.init(words: digest.withUnsafeBytes { Words32(loading: $0, at: 0) })
    }
}

extension MapValue {
    /// The value that is this digest.
    public init(_ digest: SHA256Digest) {
        self.init(words: digest.withUnsafeBytes { Words32(loading: $0, at: 0) })
    }
}
