// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
public import SignetAPI
public import SignetClient
import TransparencyLog

extension OpenHome {
    /// What the directory's log says of the pages that its server sends to browsers.
    ///
    /// - Throws: ``SignetError``, among others ``SignetError/webPage(_:)``.
    public func loggedPages() async throws(SignetError) -> LoggedPages {
        for delay in [0, 100, 400, 1600] {
            if delay > 0 { await surroundings.wait(.milliseconds(delay)) }
            let epoch = try await epoch()
            switch StatementAnswer(decoding: try await pagesAnswer(StatementRequest(size: epoch.size).encoded)) {
            case .statement(let answer):
                do { return try LoggedPages(answer, of: profile.trust.policy.logs, in: epoch) } catch {
                    throw .webPage(error)
                }
            case .anotherEpoch: continue
            case .some(.none): throw .webPage(.none)
            case nil: throw .webPage(.statement)
            }
        }
        throw .webPage(.none)
    }

    /// A page, as the server sends it to this client. It is not checked.
    ///
    /// - Throws: ``SignetError``.
    public func fetch(_ page: WebPage) async throws(SignetError) -> [UInt8] {
        do { return try await client.page(page) } catch {
            if case .refused(.notFound, _) = error { throw .webPage(.none) }
            throw .client(error)
        }
    }

    /// One that a lookup shows to be recent: of the own account, or of a handle that nobody can have.
    private func epoch() async throws(SignetError) -> VerifiedEpoch {
        let nobody = try? Handle(canonical: Array("nobody@example.invalid".utf8))
        guard let handle = keystore?.handle ?? nobody else { throw .webPage(.none) }
        do { return try await client.verifiedAnswer(handle).answer.epoch } catch { throw .client(error) }
    }

    private func pagesAnswer(_ body: [UInt8]) async throws(SignetError) -> [UInt8] {
        do { return try await client.call(PagesRoute.pages, body, signedBy: nil, mayRepeat: true) } catch {
            if case .refused(.notFound, _) = error { throw .webPage(.none) }
            throw .client(error)
        }
    }
}

extension LoggedPagesFault {
    /// Whose fault it is.
    public var family: ErrorFamily { .peer }

    /// What it means for a person, and what to do.
    public var explanation: Explanation {
        switch self {
        case .none:
            Explanation(
                "The directory's server sends no pages to browsers, or its log does not say which.",
                "If it has just begun to, try again in a minute.")
        case .statement, .otherOrigin, .notLogged, .otherVersion:
            Explanation(
                "What the server says of its pages is not what the directory's log says.",
                "Do not use the pages, and tell the directory's operator.")
        case .anotherPage(let page):
            Explanation(
                "This \(page.path) is not the page that the directory's log names now.",
                "If you saved it some time ago, save it again. Otherwise do not use it: it may pass on what you show to it, or accept "
                    + "what is wrong. Tell the directory's operator.")
        }
    }
}
