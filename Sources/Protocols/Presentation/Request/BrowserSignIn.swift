// SPDX-License-Identifier: Apache-2.0

public import StrictJSON

/// What a request of a browser's session asks for beside cards: that the wallet signs in, in the same answer. A wallet on another device
/// than the browser also repeats two digits, which only the page of that session shows.
///
/// A profile of our own: two members of the request object, `signet_sign_in` (the site's challenge, base64url) and `signet_digits` (whether
/// digits are asked for), and two of the same names in the answer (the key by which the site knows the person and its
/// signature, base64url, and the digits).
public struct BrowserSignIn: Hashable, Sendable {
    /// The site's, 32 bytes.
    public let challenge: [UInt8]
    /// Whether the answer needs the digits.
    public let needsDigits: Bool

    static let signInName: JSONText = "signet_sign_in"
    static let digitsName: JSONText = "signet_digits"
    static let challengeByteCount = 32

    /// Two digits, as a page shows them: `00` to `99`.
    public static func isDigits(_ text: JSONText) -> Bool {
        text.utf8.count == 2 && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
