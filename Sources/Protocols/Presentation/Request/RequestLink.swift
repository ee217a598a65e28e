// SPDX-License-Identifier: Apache-2.0

public import StrictJSON

/// A link or QR code that asks for a presentation.
///
/// Spec: OpenID for Verifiable Presentations 1.0, sections 5.1 and 5.10; RFC 6749, appendix B.
///
/// Security: a link is not authenticated. What a person sees of the requester comes from ``AcceptedRequest``.
public struct RequestLink: Sendable {
    /// More bytes are refused unread.
    public static let maximumByteCount = 16_384

    /// How a request object is fetched.
    public enum Method: Hashable, Sendable {
        /// As any address.
        case get
        /// With a nonce of the wallet's, so that what is fetched is fresh.
        case post
    }

    /// The claimed requester, including the prefix.
    public let clientID: JSONText
    /// Where the request object is, https; nil if the link is the whole request.
    public let requestAddress: JSONText?
    /// How it is fetched.
    public let method: Method
    let parameters: [JSONText: JSONText]

    /// Reads a link.
    ///
    /// - Throws: ``RequestFault/link``, ``RequestFault/linkDuplicate``, ``RequestFault/requestMethod`` or
    ///   ``RequestFault/limits``.
    public init(decoding text: [UInt8]) throws(RequestFault) {
        guard text.count <= Self.maximumByteCount else { throw .limits }
        let start = Array("openid4vp://?".utf8)
        guard text.starts(with: start) else { throw .link }
        parameters = try Self.parameters(text.dropFirst(start.count))
        guard let clientID = parameters["client_id"], parameters["request"] == nil else { throw .link }
        self.clientID = clientID
        requestAddress = parameters["request_uri"]
        guard requestAddress.map({ HTTPSAddress($0) != nil }) ?? true else { throw .link }
        switch parameters["request_uri_method"] {
        case nil, "get": method = .get
        case "post": method = .post
        default: throw .requestMethod
        }
    }

    static func parameters(_ query: ArraySlice<UInt8>) throws(RequestFault) -> [JSONText: JSONText] {
        var found: [JSONText: JSONText] = [:]
        for pair in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let mark = pair.firstIndex(of: UInt8(ascii: "=")), let name = unescaped(pair[..<mark]),
                let value = unescaped(pair[(mark + 1)...])
            else { throw .link }
            guard found.updateValue(value, forKey: name) == nil else { throw .linkDuplicate }
        }
        return found
    }

    /// Percent escapes resolved, and a plus as the space that it stands for; nil if the text is of other characters.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> JSONText? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "="), UInt8(ascii: "#"): return nil
            case 0x21...0x7E: bytes.append(byte)
            default: return nil
            }
        }
        return JSONText(utf8: bytes)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

/// An https address of visible ASCII, without user information and fragment.
package struct HTTPSAddress: Hashable {
    /// As it stands there, without the port.
    let host: JSONText
    /// The host, with the port if there is one.
    package let authority: JSONText
    /// From the first slash on, query included.
    package let path: JSONText

    package init?(_ text: JSONText) {
        let scheme = Array("https://".utf8)
        guard text.utf8.starts(with: scheme), text.utf8.count <= 2048,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") })
        else { return nil }
        let ends = [UInt8(ascii: "/"), UInt8(ascii: "?")]
        let authority = text.utf8.dropFirst(scheme.count).prefix { !ends.contains($0) }
        let parts = authority.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty, name.allSatisfy(Self.isOfAHost), parts.count <= 2,
            parts.count == 1 || Self.isPort(parts[1]), let host = JSONText(utf8: Array(name)),
            let whole = JSONText(utf8: Array(authority)),
            let path = JSONText(utf8: Array(text.utf8.dropFirst(scheme.count + authority.count)))
        else { return nil }
        self.host = host
        self.authority = whole
        self.path = path
    }

    private static func isOfAHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        (1...5).contains(text.count) && text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
