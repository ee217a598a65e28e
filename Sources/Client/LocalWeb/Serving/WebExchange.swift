// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import NIOCore

/// Reads a request, lets the gate judge it and the pages answer it, and writes the answer.
struct WebExchange: Sendable {
    let gate: RequestGate
    let app: WebApp
    let now: @Sendable () -> UInt64

    func run(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let (answer, isRead) = await answer(request)
        var fields = HTTPFields()
        for field in answer.allFields {
            if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
        }
        if !isRead { fields[.connection] = "close" }
        try await writer.write(
            response: HTTPResponse(status: .init(code: answer.status), headerFields: fields),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
        if !isRead { throw RefusedConnectionEnd() }  // what the client still sends is not read
    }

    /// - Returns: the answer, and whether all of the request was read.
    private func answer(_ request: Request) async -> (WebAnswer, Bool) {
        let fields = request.head.headerFields.map { (name: $0.name.canonicalName, value: $0.value) }
        guard
            let head = WebHead(
                method: request.method.rawValue, host: request.head.authority, path: request.head.path ?? "",
                fields: fields)
        else { return (.plain(405, "There is no such page, or not for this method."), false) }
        do throws(GateRefusal) {
            switch try gate.admit(head, at: now()) {
            case .asset(let parts): return (WebAssets.answer(parts), !head.isPost)
            case .link(let token): return (open(token, head), !head.isPost)
            case .page(let session):
                // The script of the page says so.
                let isWatching = head.value("x-signet-watch") == "1"
                let answer = await WebAccount.$isWatching.withValue(isWatching) { await app.answer(head, nil, session) }
                return (answer, true)
            case .form(let session):
                guard let form = await Self.form(of: request, head) else {
                    return (.plain(413, "The form is too long, or cannot be read."), false)
                }
                try gate.check(form, of: session)
                return (await app.answer(head, form, session), true)
            }
        } catch { return (refusal(error), false) }
    }

    /// Opens a session. A page that sends the browser on, not a redirect: a browser sends the new cookie along with what this page asks for,
    /// wherever the link itself was opened from.
    private func open(_ token: String, _ head: WebHead) -> WebAnswer {
        guard !head.isPost else { return .plain(405, "A link is opened, not sent.") }
        do throws(LinkRefusal) {
            let (_, cookie) = try gate.ledger.open(with: token, at: now())
            var answer = WebAnswer.page(EntryPages.opened(WebPath(.home, below: gate.ledger.mount)))
            answer.set(cookie: cookie, named: gate.cookieName, below: gate.ledger.mount)
            return answer
        } catch { return .page(EntryPages.refused(error), status: 403) }
    }

    private func refusal(_ refusal: GateRefusal) -> WebAnswer {
        switch refusal {
        case .host: .plain(421, "This address is not served under that name.")
        case .anotherSite, .anotherOrigin: .page(EntryPages.fromElsewhere, status: 403)
        case .session: .page(EntryPages.noSession, status: 403)
        case .formToken: .page(EntryPages.staleForm, status: 403)
        }
    }

    private static func form(of request: Request, _ head: WebHead) async -> FormBody? {
        let mediaType = head.value("content-type")
        let isAttaching = if case .attach = WebRoute(Array(head.parts.dropFirst())) { true } else { false }
        let most = isAttaching ? FormBody.maximumFileByteCount : FormBody.maximumByteCount
        var body: [UInt8] = []
        do {
            for try await part in request.body {
                guard body.count + part.readableBytes <= most else { return nil }
                body += part.readableBytesView
            }
        } catch { return nil }
        return FormBody(body, as: mediaType)
    }
}

private struct RefusedConnectionEnd: Error {}
