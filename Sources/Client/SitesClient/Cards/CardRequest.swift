// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import DeviceIdentity
public import JOSE
import PinnedHTTP
import Presentation
public import StrictJSON

/// A site's request for a card, fetched from the site over a connection that proved its name, and verified.
///
/// Security: the site is known, and the answer goes to the site alone. Whether the person who answers is the one who began at the site
/// is decided when they finish: with the key by which this site knows them.
public struct CardRequest: Sendable {
    /// The site.
    public let site: SiteConnection
    let accepted: AcceptedRequest
    let answerPath: String

    /// The site that a link leads to, as `host` or `host:port`. Nothing is proved about it.
    ///
    /// - Throws: ``SitesError/card(_:)``.
    public static func authority(of link: [UInt8]) throws(SitesError) -> String {
        try address(of: link).authority.description
    }

    /// Fetches the request that a link names. This function is the whole decision whether a site is answered at all.
    ///
    /// - Parameters:
    ///   - site: a connection to ``authority(of:)``.
    ///   - certificates: who certifies sites.
    ///   - now: seconds since 1970.
    /// - Throws: ``SitesError``. The link is used up.
    public static func fetch(
        _ link: [UInt8], from site: SiteConnection, trusting certificates: any CertificateTrust, at now: Int64
    ) async throws(SitesError) -> CardRequest {
        let address = try address(of: link)
        let nonce = SymmetricKey(size: .bits192).withUnsafeBytes { Base64URL.encode(Array($0)) }
        let object = try await site.requestObject(at: address.path.description, walletNonce: nonce)
        let accepted: AcceptedRequest
        do throws(RequestFault) {
            accepted = try RequestVerifier.verify(
                link: link, object: object, trusting: certificates,
                walletNonce: JSONText(String(decoding: nonce, as: UTF8.self)), at: now)
        } catch { throw .card(.request(error)) }
        // The certificate of the request names the host of the connection: no one passes on another site's request.
        guard case .host(let name) = accepted.client, site.host.isNamed(name.utf8),
            let answer = HTTPSAddress(accepted.responseAddress), answer.authority == address.authority
        else { throw .card(.anotherHost) }
        guard accepted.encryption != nil else { throw .card(.unencrypted) }
        return CardRequest(site: site, accepted: accepted, answerPath: answer.path.description)
    }

    private static func address(of link: [UInt8]) throws(SitesError) -> HTTPSAddress {
        do throws(RequestFault) {
            let link = try RequestLink(decoding: link)
            guard link.method == .post, let address = link.requestAddress.flatMap({ HTTPSAddress($0) }) else {
                throw .link
            }
            return address
        } catch { throw .card(.request(error)) }
    }
}

extension VerifiedHost {
    /// Whether this is the host, at whatever port: certificates name no ports.
    func isNamed(_ name: [UInt8]) -> Bool {
        text.elementsEqual(name) || text.starts(with: name + [UInt8(ascii: ":")])
    }
}

/// What a person is asked before a site sees a card, as a value.
public struct CardConsent: Sendable {
    /// One card of which something would be shown.
    public struct Part: Hashable, Sendable {
        /// The card.
        public let card: IssuedCard
        /// What the site would see, by name.
        public let shown: JSONObject
        /// Whether the site has not seen the card before, so that a copy is used up.
        public let usesCopy: Bool
    }

    /// Who asks, as the connection and the certificate of the request prove.
    public let site: VerifiedHost
    /// Why, in the site's own words, which nothing proves; nil if it does not say.
    public let purpose: JSONText?
    /// What would be shown.
    public let parts: [Part]
    let request: CardRequest

    /// Whether the person is signed in at the site by it, in the browser in which they were asked.
    public var signsIn: Bool { request.accepted.signIn != nil }
    /// Whether that browser is on another device, whose page shows two digits that the answer repeats.
    public var needsDigits: Bool { request.accepted.signIn?.needsDigits == true }

    /// The names of all that would be shown.
    public var names: Set<JSONText> { Set(parts.flatMap(\.shown.names)) }
}

/// How it goes on after a card was shown.
public enum AfterShowing: Hashable, Sendable {
    /// The site knows that the member has shown it.
    case finished
    /// The browser in which the person was asked opens this address, which has a code that is worth something to it alone.
    case browser(address: String)
    /// The browser on the other device goes on by itself.
    case otherDevice
}
