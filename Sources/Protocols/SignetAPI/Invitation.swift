// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A code with which its holder may register one handle at a directory that registers by invitation: 16 random bytes.
///
/// Security: it gives no right over an account, and is of no more use once the handle is registered. It is not signed: the connection, whose keys
/// are pinned, keeps it from others.
public struct Invitation: Hashable, Sendable {
    /// 16 bytes.
    public let code: [UInt8]

    /// The length of a code, in bytes.
    public static let byteCount = 16
    /// The header of the registration that has the code, as 32 lower-case hexadecimal digits.
    public static let headerName = "Signet-Invitation"

    /// An invitation with this code; nil if it is not 16 bytes long.
    public init?(code: [UInt8]) {
        guard code.count == Self.byteCount else { return nil }
        self.code = code
    }

    /// Reads the value of the header: nil unless it is 32 lower-case hexadecimal digits.
    public init?(headerValue: [UInt8]) {
        guard let code = try? Hex.decode(headerValue) else { return nil }
        self.init(code: code)
    }

    /// Reads a code as a person types it: hexadecimal digits of either case, with dashes and spaces anywhere.
    public init?(typed text: String) {
        self.init(headerValue: text.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") })
    }

    /// The value of the header.
    public var headerValue: String { String(decoding: Hex.encode(code), as: UTF8.self) }

    /// The code for people: four groups of eight digits.
    public var text: String {
        let digits = Array(headerValue)
        return stride(from: 0, to: digits.count, by: 8).map { String(digits[$0..<$0 + 8]) }.joined(separator: "-")
    }
}
