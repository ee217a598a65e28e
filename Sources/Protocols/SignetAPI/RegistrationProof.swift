// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency

/// What a person shows a directory so that it registers their handle, where it asks for something.
///
/// Security: none of it gives a right over an account, and none of it is signed: the connection, whose keys are pinned, keeps it from others.
/// A token and a code are of use for one handle and one device key only.
public enum RegistrationProof: Hashable, Sendable {
    /// A code that the operator made for the handle.
    case invitation(Invitation)
    /// A token of the operator's login system.
    case token(RegistrationToken)
    /// The code that the directory had sent to the handle, which is a mail address.
    case code(MailCode)

    /// Reads what a person pasted: an invitation, a token or a code; nil if it is none of them.
    public init?(typed text: String) {
        if let code = MailCode(typed: text) {
            self = .code(code)
        } else if let invitation = Invitation(typed: text) {
            self = .invitation(invitation)
        } else if let token = RegistrationToken(typed: text) {
            self = .token(token)
        } else {
            return nil
        }
    }

    /// The name of the header of the registration that has it.
    public var headerName: String {
        switch self {
        case .invitation: Invitation.headerName
        case .token: RegistrationToken.headerName
        case .code: MailCode.headerName
        }
    }

    /// The value of that header.
    public var headerValue: String {
        switch self {
        case .invitation(let invitation): invitation.headerValue
        case .token(let token): token.headerValue
        case .code(let code): code.headerValue
        }
    }
}

/// A token of the operator's login system, as its text: a JSON Web Token in compact form.
///
/// Spec: RFC 7519, section 3.1; RFC 7515, section 7.1.
public struct RegistrationToken: Hashable, Sendable {
    /// ASCII: three parts of base64url with full stops between them.
    public let bytes: [UInt8]

    /// The longest token, in bytes.
    public static let maximumByteCount = 8192
    /// The header of the registration that has the token.
    public static let headerName = "Signet-Token"

    /// A token of these bytes; nil unless they are three parts of base64url, none of them empty, and at most ``maximumByteCount``.
    public init?(bytes: [UInt8]) {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard bytes.count <= Self.maximumByteCount, parts.count == 3,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isPart) })
        else { return nil }
        self.bytes = bytes
    }

    /// Reads a token as a person copies it, with white space around it.
    public init?(typed text: String) {
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let start = Array(text.utf8.drop(while: isSpace))
        self.init(bytes: Array(start.reversed().drop(while: isSpace).reversed()))
    }

    /// The value of the header.
    public var headerValue: String { String(decoding: bytes, as: UTF8.self) }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The nonce that binds an ID token of OpenID Connect to a registration: base64url of SHA-256 over `signet-registration/v1`, LF, the
    /// log's origin, LF, the handle, LF, the device key; 43 characters.
    ///
    /// Spec: OpenID Connect Core 1.0, section 3.1.2.1 (`nonce`).
    ///
    /// - Parameter deviceKey: the Ed25519 key of the first device, 32 bytes.
    public static func nonce(origin: [UInt8], handle: Handle, deviceKey: [UInt8]) -> [UInt8] {
        let text = Array("signet-registration/v1\n".utf8) + origin + [0x0A] + handle.bytes + [0x0A] + deviceKey
        return Base64URL.encode(Array(SHA256.hash(data: text)))
    }
}

/// The code of six digits that a directory has sent to a mail address, to find out whether whoever registers it reads its mail.
public struct MailCode: Hashable, Sendable {
    /// Six decimal digits, ASCII.
    public let digits: [UInt8]

    /// How many digits a code has.
    public static let digitCount = 6
    /// The header of the registration that has the code.
    public static let headerName = "Signet-Code"

    /// A code of these digits; nil unless they are six of 0 to 9.
    public init?(digits: [UInt8]) {
        guard digits.count == Self.digitCount, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.digits = digits
    }

    /// Reads a code as a person types it, with spaces and dashes anywhere.
    public init?(typed text: String) {
        self.init(digits: text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") })
    }

    /// A number below a million, with zeros in front.
    public init(number: UInt32) {
        digits = Array(String(number % 1_000_000 + 1_000_000).utf8.dropFirst())
    }

    /// The value of the header.
    public var headerValue: String { String(decoding: digits, as: UTF8.self) }
}
