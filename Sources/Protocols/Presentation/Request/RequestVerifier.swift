// SPDX-License-Identifier: Apache-2.0

public import JOSE
import SelectiveDisclosure
public import StrictJSON

/// A request that passed every check of ``RequestVerifier``.
///
/// Security: the requester and the destination of the answer are known. Whether the person who holds the wallet is the
/// one who began at that site is not known: a request can be shown to another person.
public struct AcceptedRequest: Sendable {
    /// The requester.
    public let client: ClientIdentifier
    /// The whole client identifier, prefix included: the audience of presentations.
    public let clientID: JSONText
    /// Where the answer goes.
    public let responseAddress: JSONText
    /// What presentations are bound to.
    public let nonce: JSONText
    /// What the answer repeats.
    public let state: JSONText?
    /// What is asked for.
    public let query: CredentialsQuery
    /// To whom the answer is encrypted; nil if it is sent open.
    public let encryption: EncryptionTarget?
    /// How the wallet signs in for a browser's session; nil if it does not.
    public let signIn: BrowserSignIn?

    init(
        _ link: RequestLink, _ client: ClientIdentifier, _ asked: AskedFor, encryption: EncryptionTarget?
    ) {
        self.client = client
        clientID = link.clientID
        (responseAddress, nonce, state, query) = (asked.responseAddress, asked.nonce, asked.state, asked.query)
        self.encryption = encryption
        signIn = asked.signIn
    }
}

/// What the parameters of a request say.
struct AskedFor {
    let responseAddress: JSONText
    let nonce: JSONText
    let state: JSONText?
    let query: CredentialsQuery
    let signIn: BrowserSignIn?
}

/// Decides whether a wallet answers a request at all. This page is the whole decision.
///
/// Spec: OpenID for Verifiable Presentations 1.0, sections 5 and 8; RFC 9101, section 6. The profile is narrower: answers are
/// posted, requests are signed unless the client is an address, nothing is fetched that the request names.
public enum RequestVerifier {
    /// Judges a request.
    ///
    /// - Parameters:
    ///   - link: the link or the text of the QR code.
    ///   - object: what was fetched from ``RequestLink/requestAddress``; nil if the link is the whole request.
    ///   - certificates: who certifies those who ask.
    ///   - walletNonce: what the wallet sent when it fetched the object, if it did.
    ///   - now: seconds since 1970.
    /// - Throws: ``RequestFault``, the first check that fails. A retry cannot help.
    public static func verify(
        link: [UInt8], object: [UInt8]?, trusting certificates: any CertificateTrust, walletNonce: JSONText?,
        at now: Int64
    ) throws(RequestFault) -> AcceptedRequest {
        let link = try RequestLink(decoding: link)  // section 5.1
        let client = try ClientIdentifier(link.clientID)  // section 5.9

        let parameters: JSONObject
        if let token = try token(link, object) {  // section 5.10
            try checkHeader(token)  // section 5.4; RFC 9101, section 10.8
            parameters = try payload(of: token)  // RFC 9101, section 6.1
            try checkClient(parameters, link)  // RFC 9101, section 5; section 5.9.1
            try checkSignature(token, client, certificates, now)  // sections 5.9.3 and 14.2
            try checkAudience(parameters)  // section 5.8
            try checkExpiry(parameters, now)  // RFC 7519, section 4.1.4
            try checkWalletNonce(parameters, walletNonce)  // section 5.10.1
            try checkNotNested(parameters)  // RFC 9101, section 4
        } else {
            parameters = try unsigned(link, client)  // section 5.9.3, redirect_uri
        }

        try checkKindOfAnswer(parameters)  // sections 5.6 and 8.2
        try checkUnknown(parameters)  // sections 5.1 and 5.5
        let asked = AskedFor(
            responseAddress: try responseAddress(parameters, client),  // sections 5.9.3 and 8.2
            nonce: try nonce(parameters),  // sections 5.2 and 14.1
            state: try state(parameters),  // section 5.3
            query: try query(parameters),  // section 6
            signIn: try signIn(parameters))  // our own profile
        let encryption = try encryption(parameters)  // section 8.3
        return AcceptedRequest(link, client, asked, encryption: encryption)
    }
}
