// SPDX-License-Identifier: Apache-2.0

/// How S3 has names in addresses: every byte but RFC 3986's unreserved characters as `%` and two capital digits.
///
/// Spec: Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header", `UriEncode()`.
enum PercentEncoding {
    /// A name or value of a query.
    static func component(_ text: String) -> String { encode(text, keeping: nil) }

    /// A path: `/` stays.
    static func path(_ text: String) -> String { encode(text, keeping: UInt8(ascii: "/")) }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func encode(_ text: String, keeping kept: UInt8?) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) || byte == kept {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
