// SPDX-License-Identifier: Apache-2.0

import Signet

/// Answers admitted requests with the pages of the account, or with those that lead to one.
struct WebApp: Sendable {
    let home: WebHome
    let wording: any WebWording
    let mount: String
    let now: @Sendable () -> UInt64

    /// - Parameter form: of a form that the gate has admitted.
    func answer(_ head: WebHead, _ form: FormBody?, _ session: WebSession) async -> WebAnswer {
        let first = FirstPages(home: home, wording: wording, mount: mount, session: session, now: now)
        do throws(SignetError) {
            switch try await home.look() {
            case .account(let account):
                return await WebPages(account: account, wording: wording, mount: mount, now: now)
                    .answer(head, form, session)
            case .beginning(let stage, let home):
                return await first.answer(WebRoute(Array(head.parts.dropFirst())), form, stage, home)
            }
        } catch { return first.broken(error) }
    }
}
