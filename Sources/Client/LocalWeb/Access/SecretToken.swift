// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// A random text that is known only to this process and to the browser that was given it.
struct SecretToken: Sendable {
    /// Hexadecimal digits.
    let text: String

    /// - Parameter byteCount: 32 for what is a secret by itself.
    init(byteCount: Int = 32) {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        text = String(decoding: Hex.encode(bytes), as: UTF8.self)
    }

    /// What the process keeps of the token: how long a search for a digest takes reveals nothing about the token.
    var digest: TokenDigest { TokenDigest(of: text) }
}

/// SHA-256 of a token.
struct TokenDigest: Hashable, Sendable {
    private let bytes: [UInt8]

    init(of text: String) { bytes = Array(SHA256.hash(data: Array(text.utf8))) }
}
