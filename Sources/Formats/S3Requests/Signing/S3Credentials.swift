// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// The name and the secret under which a store knows this server. Nothing that describes or prints one shows the secret.
package struct S3Credentials: Sendable {
    /// The access key: the name, which goes with each request.
    package let accessKey: String
    /// What proves temporary credentials to be what they are, and goes with each request; nil for permanent ones.
    package let sessionToken: String?
    /// The secret with `AWS4` in front, the first key of the derivation.
    let firstKey: SymmetricKey

    /// - Parameters:
    ///   - accessKey: 1 to 128 letters, digits, `-`, `_`, `.`.
    ///   - secret: 1 to 256 printable ASCII characters without spaces.
    ///   - sessionToken: 1 to 4096 of those.
    /// - Returns: nil for anything else.
    package init?(accessKey: String, secret: String, sessionToken: String? = nil) {
        guard (1...128).contains(accessKey.utf8.count), accessKey.utf8.allSatisfy(Self.isNameByte) else { return nil }
        for (text, limit) in [(secret, 256), (sessionToken ?? "-", 4096)] {
            guard (1...limit).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                return nil
            }
        }
        (self.accessKey, self.sessionToken) = (accessKey, sessionToken)
        firstKey = SymmetricKey(data: Array("AWS4\(secret)".utf8))
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "S3Credentials" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
