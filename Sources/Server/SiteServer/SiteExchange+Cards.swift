// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
import HummingbirdCore
import Presentation
import RelyingParty
import StrictJSON

/// What an exchange is answered with.
package struct SiteReply: Sendable {
    package var status = HTTPResponse.Status.ok
    package var mediaType = SiteRoute.mediaType
    /// Further header fields.
    package var fields: [(name: HTTPField.Name, value: String)] = []
    package var body: [UInt8]

    /// The failed check by its name, as wallets expect it.
    init(refused fault: PresentationDeskFault) {
        (status, mediaType) = (.badRequest, "application/json")
        body = (["error": .string(JSONText(fault.name))] as JSONObject).encoded
    }

    package init(status: HTTPResponse.Status = .ok, mediaType: String = SiteRoute.mediaType, _ body: [UInt8]) {
        (self.status, self.mediaType, self.body) = (status, mediaType, body)
    }

    /// A refusal of HTTP's, which says nothing more.
    package init(status: HTTPResponse.Status) { self.init(status: status, mediaType: "text/plain; charset=utf-8", []) }
}

/// The routes on which a site asks for cards.
extension SiteExchange {
    /// The route of a path, and the identifier behind it.
    static func cardRoute(_ path: String) -> (route: CardRoute, identifier: JSONText)? {
        for route in CardRoute.allCases {
            guard path.utf8.starts(with: route.path.utf8) else { continue }
            let rest = path.utf8.dropFirst(route.path.utf8.count)
            switch route {
            case .ask, .finish: if rest.isEmpty { return (route, "") }
            case .request, .response:
                guard rest.first == UInt8(ascii: "/"), let name = JSONText(utf8: Array(rest.dropFirst())) else {
                    continue
                }
                return (route, name)
            }
        }
        return nil
    }

    func answer(
        _ route: CardRoute, _ identifier: JSONText, _ body: [UInt8], from desk: SiteDesk
    ) async throws -> SiteReply {
        let now = clock()
        do {
            switch route {
            case .ask: return try await ask(body, desk, now)
            case .request:
                guard let fields = body.isEmpty ? [:] : FormText.fields(body) else {
                    return SiteReply(status: .badRequest)
                }
                let object = try await desk.object(identifier, walletNonce: fields["wallet_nonce"], at: now)
                return SiteReply(mediaType: "application/oauth-authz-req+jwt", object)
            case .response:
                guard let text = FormText.fields(body)?["response"] else { return SiteReply(status: .badRequest) }
                let received = try await desk.receive(text.utf8, for: identifier, at: now, record: record)
                if let signIn = received.signIn { try await self.signIn(signIn, received, desk, now) }
                var answer = JSONObject()
                answer["redirect_uri"] = received.address.map(JSONValue.string)
                return SiteReply(mediaType: "application/json", answer.encoded)
            case .finish: return try await finish(body, desk, now)
            }
        } catch let fault as PresentationDeskFault {
            return route == .ask || route == .finish
                ? SiteReply((fault == .busy ? SiteAnswer.busy : .nothingWaits).encoded) : SiteReply(refused: fault)
        }
    }

    /// Signs the member in whose wallet answers for a browser's session: with a signature of the challenge that the session was asked with.
    private func signIn(
        _ signIn: ReceivedSignIn, _ received: ReceivedCard, _ desk: SiteDesk, _ now: UInt64
    ) async throws {
        guard let signed = SignedChallenge(answer: signIn.answer, to: signIn.challenge),
            case .signedIn(let account, _) = try await site.answer(
                .signIn, signed.encoded, at: now, random: Self.random(16))
        else {
            await desk.refuse(received)
            throw PresentationDeskFault.signIn
        }
        try await desk.answered(received, by: account, at: now)
    }

    private func ask(_ body: [UInt8], _ desk: SiteDesk, _ now: UInt64) async throws -> SiteReply {
        let answer = try await site.answer(.signIn, body, at: now, random: Self.random(16))
        guard case .signedIn(let account, _) = answer else { return SiteReply(answer.encoded) }
        return SiteReply(try await desk.ask(account, random: Self.random(80), at: now))
    }

    private func finish(_ body: [UInt8], _ desk: SiteDesk, _ now: UInt64) async throws -> SiteReply {
        guard body.count == SignedChallenge.byteCount + CardRoute.codeByteCount,
            let code = JSONText(utf8: Array(body.suffix(CardRoute.codeByteCount)))
        else { return SiteReply(SiteAnswer.refused.encoded) }
        let signedIn = Array(body.prefix(SignedChallenge.byteCount))
        let answer = try await site.answer(.signIn, signedIn, at: now, random: Self.random(16))
        if case .signedIn(let account, _) = answer { try await desk.finish(code, by: account, at: now) }
        return SiteReply(answer.encoded)
    }
}
