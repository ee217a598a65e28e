// SPDX-License-Identifier: Apache-2.0

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
    /// - Returns: the presentations, by the query's names for them, of which nothing is verified yet.
    /// - Throws: ``ResponseFault``, the first check that fails. A retry cannot help.
    ///
    /// Security: anyone who saw the request can answer. The presentations decide who presents.
    public static func open(
        _ text: [UInt8], to request: OpenRequest, with key: P256.KeyAgreement.PrivateKey
    ) throws(ResponseFault) -> [JSONText: JSONText] {
        let token = try token(text, request)  // section 8.3
        let payload = try payload(try contents(of: token, key))  // section 8.3; RFC 7516, section 5.2
        try checkState(payload, request)  // section 8.2; RFC 6749, section 4.1.2
        return try presentations(payload, request)  // section 8.1
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
