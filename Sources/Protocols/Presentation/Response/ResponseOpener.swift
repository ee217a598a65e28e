// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import JOSE
public import StrictJSON

/// What a site remembers of a request until it is answered.
public struct OpenRequest: Sendable {
    /// The name of the key that answers are encrypted to.
    public let keyID: JSONText
    /// The encryptions that were offered.
    public let offered: [ContentEncryption]
    /// What the answer repeats.
    public let state: JSONText
    /// What the query calls the credentials.
    public let credentials: Set<JSONText>

    /// A request that waits for its answer.
    public init(keyID: JSONText, offered: [ContentEncryption], state: JSONText, credentials: Set<JSONText>) {
        self.keyID = keyID
        self.offered = offered
        self.state = state
        self.credentials = credentials
    }
}

/// An answer that was opened. Nothing in it is verified yet.
public struct OpenedResponse: Hashable, Sendable {
    /// The presentations, by the query's names for them.
    public let presentations: [JSONText: JSONText]
    /// For a browser's session: what the wallet says is a key and its signature; nil without one.
    public let signIn: [UInt8]?
    /// The digits that the person entered; nil without.
    public let digits: JSONText?
}

/// Opens answers that were posted. This page is the whole decision.
///
/// Spec: OpenID for Verifiable Presentations 1.0, sections 8.1 to 8.3; RFC 7516, section 5.2.
public enum ResponseOpener {
    /// More bytes are refused unread.
    public static let maximumByteCount = 262_144

    /// Opens an answer.
    ///
    /// - Parameters:
    ///   - text: the value of `response`.
    ///   - request: what it must be the answer to.
    ///   - key: the private half of the request's key, which is for this request alone.
    /// - Throws: ``ResponseFault``, the first check that fails. A retry cannot help.
    ///
    /// Security: anyone who saw the request can answer. The presentations decide who presents.
    public static func open(
        _ text: [UInt8], to request: OpenRequest, with key: P256.KeyAgreement.PrivateKey
    ) throws(ResponseFault) -> OpenedResponse {
        let token = try token(text, request)  // section 8.3
        let payload = try payload(try contents(of: token, key))  // section 8.3; RFC 7516, section 5.2
        try checkState(payload, request)  // section 8.2; RFC 6749, section 4.1.2
        return OpenedResponse(
            presentations: try presentations(payload, request),  // section 8.1
            signIn: try signIn(payload), digits: try digits(payload))  // our own profile
    }

    private static let limits = JSONLimits(byteCount: maximumByteCount, depth: 16)

    private static func token(_ text: [UInt8], _ request: OpenRequest) throws(ResponseFault) -> EncryptedToken {
        do {
            return try EncryptedToken(
                decoding: text, keyID: request.keyID, offered: request.offered, limits: limits)
        } catch { throw ResponseFault(error) }
    }

    private static func contents(
        of token: EncryptedToken, _ key: P256.KeyAgreement.PrivateKey
    ) throws(ResponseFault) -> [UInt8] {
        do { return try token.open(with: key) } catch { throw ResponseFault(error) }
    }

    private static func payload(_ contents: [UInt8]) throws(ResponseFault) -> JSONObject {
        do { return try JSONObject(decoding: contents, limits: limits) } catch { throw ResponseFault(error) }
    }

    private static func checkState(_ payload: JSONObject, _ request: OpenRequest) throws(ResponseFault) {
        guard payload["state"] == .string(request.state) else { throw .state }
    }

    private static func signIn(_ payload: JSONObject) throws(ResponseFault) -> [UInt8]? {
        guard let value = payload[BrowserSignIn.signInName] else { return nil }
        guard let bytes = value.string.flatMap({ try? Base64URL.decode($0.utf8) }) else { throw .signIn }
        return bytes
    }

    private static func digits(_ payload: JSONObject) throws(ResponseFault) -> JSONText? {
        guard let value = payload[BrowserSignIn.digitsName] else { return nil }
        guard let digits = value.string, BrowserSignIn.isDigits(digits) else { throw .digits }
        return digits
    }

    private static func presentations(
        _ payload: JSONObject, _ request: OpenRequest
    ) throws(ResponseFault) -> [JSONText: JSONText] {
        guard let members = payload["vp_token"]?.object?.members, Set(members.keys) == request.credentials else {
            throw .presentations
        }
        var presentations: [JSONText: JSONText] = [:]
        for (name, value) in members {
            guard let texts = value.strings, texts.count == 1 else { throw .presentations }
            presentations[name] = texts[0]
        }
        return presentations
    }
}
