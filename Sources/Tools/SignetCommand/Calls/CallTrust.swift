// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Platform
import Signet
import SignetCalls

extension Session {
    /// The trust check before a call. If a person's keys have changed, the user decides here, and the person is looked
    /// up again; keys that cannot be accepted block the call.
    ///
    /// Spec: eCall Key Transparency guide, "Call Initiation (Trust Overrides)".
    ///
    /// - Throws: `CommandFailure`: there is no call, and no one has been told of one.
    func peopleForCall(_ handles: [Handle], _ account: Account) async throws -> CallPeople {
        do {
            return try await account.peopleForCall(handles) { try await decide(about: $0, account.handle) }
        } catch CallFailure.changed, CallFailure.trust(.changed) {
            throw CommandFailure(
                .needsDecision, "Keys are changing faster than you can look at them. There is no call.",
                "Try again later.")
        } catch let error as CallFailure {
            throw CommandFailure(error, session: self)
        }
    }

    /// Shows what has changed and what it may mean, and asks. What is accepted is what was shown and nothing later.
    private func decide(about found: KeyChange, _ own: Handle) async throws -> Bool {
        let (handle, change) = (found.handle, found.change)
        guard isatty(STDIN_FILENO) == 1 else { throw CommandFailure(CallTrustError.changed(handle), session: self) }
        Output.error("\(Paint.error.strong("Identity keys changed.")) \(handle): \(change.words).")
        if change.identityKeyChanged, let before = try await comparison(with: handle).comparison {
            Output.error(Paint.error.bad(before.alarm))
        }
        Output.error(
            Paint.error.warning(
                "Someone may be listening: if these keys are not "
                    + "\(handle == own ? "yours" : "theirs"), the person who has them hears this call."
            ))
        Output.error("Type 'end' to end the call, or 'accept' to accept and continue:")
        var answers = TypedLines.standard.lines().makeAsyncIterator()
        guard await answers.next() == "accept" else {
            throw CommandFailure(
                .needsDecision, "The call was ended; no one was told of it, and nothing was accepted.",
                "Ask \(handle) over another channel whether this was them.")
        }
        return true
    }
}
