// SPDX-License-Identifier: Apache-2.0

public import StrictJSON

/// The paths of a site that asks for cards, all of them POST.
///
/// | route | body | answer |
/// |---|---|---|
/// | ask | a signed challenge, as for signing in | the link of a request; nothing if no card is asked for |
/// | request/ID | form: `wallet_nonce` | the request object, once |
/// | response/ID | form: `response` | JSON: `redirect_uri`, whose fragment has the response code; or `error` |
/// | finish | a signed challenge, then the response code | as for signing in |
public enum CardRoute: String, CaseIterable, Hashable, Sendable {
    /// A member signs in, and is asked for a card.
    case ask
    /// The wallet fetches the request.
    case request
    /// The wallet answers it.
    case response
    /// The member whose session began the request ends it.
    case finish

    /// The length of a response code, in characters.
    public static let codeByteCount = 22

    /// The path; those of one request have its identifier behind it, after a slash.
    public var path: String { "/.well-known/signet/cards/\(rawValue)" }

    /// The longest body, in bytes.
    public var maximumByteCount: Int {
        switch self {
        case .ask, .finish: 512
        case .request: 1024
        case .response: ResponseOpener.maximumByteCount
        }
    }

    func address(at authority: JSONText, _ identifier: JSONText) -> JSONText {
        JSONText("https://\(authority)\(path)/\(identifier)")
    }

    /// The address whose fragment brings the response code back to the session.
    func finishAddress(at authority: JSONText, _ code: JSONText) -> JSONText {
        JSONText("https://\(authority)\(CardRoute.finish.path)#response_code=\(code)")
    }
}

/// Text as forms and links write it.
///
/// Spec: RFC 6749, appendix B; RFC 3986, section 2.3.
package enum FormText {
    /// A text of which every byte that is not unreserved is escaped.
    package static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            guard !RequestVerifier.isUnescaped(byte) else { return [byte] }
            return [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
        }
    }

    /// The fields of a form; nil for a field twice, and for what no form has.
    package static func fields(_ text: [UInt8]) -> [JSONText: JSONText]? { try? parameters(text[...]) }

    /// The parameters of a link, from behind its question mark.
    ///
    /// - Throws: ``RequestFault/link``, ``RequestFault/linkDuplicate``.
    package static func parameters(_ query: ArraySlice<UInt8>) throws(RequestFault) -> [JSONText: JSONText] {
        try RequestLink.parameters(query)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
