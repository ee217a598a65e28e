// SPDX-License-Identifier: Apache-2.0

import Crypto

extension ObjectTag {
    /// The tag that engines of ours give: 64 hexadecimal digits.
    package static func sha256(of bytes: [UInt8]) -> ObjectTag {
        ObjectTag(SHA256.hash(data: bytes).map { byte in hexadecimal(byte) }.joined())
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
}
