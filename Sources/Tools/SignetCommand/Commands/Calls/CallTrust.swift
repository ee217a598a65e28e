// SPDX-License-Identifier: Apache-2.0

import CallClient
import KeyTransparency
import Signet
import SignetCalls
import SignetClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension Session {
    /// The trust check before a call. If a person's keys have changed, the user decides here, and the person is looked
    /// up again; keys that cannot be accepted block the call.
    ///
    /// Spec: eCall Key Transparency guide, "Call Initiation (Trust Overrides)".
    ///
    /// - Throws: `CommandFailure`: there is no call, and no one has been told of one.
    func peopleForCall(_ handles: [Handle], _ account: Account) async throws -> CallPeople {
        // Each may be asked about once more than there are people: the own account is looked up too.
        for _ in 0...handles.count + 1 {
            do throws(CallFailure) { return try await account.peopleForCall(handles) } catch {
                switch error {
                case .changed(let change): try await decide(about: change, account)
                case .trust(.changed): continue
                default: throw CommandFailure(error, session: self)
                }
            }
        }
        throw CommandFailure(
            .needsDecision, "Keys are changing faster than you can look at them. There is no call.", "Try again later.")
    }

    /// Shows what has changed and what it may mean, and asks. What is accepted is what was shown and nothing later.
    private func decide(about found: KeyChange, _ account: Account) async throws {
        let (handle, change) = (found.handle, found.change)
        guard isatty(STDIN_FILENO) == 1 else { throw CommandFailure(CallTrustError.changed(handle), session: self) }
        Output.error("\(Paint.error.strong("Identity keys changed.")) \(handle): \(change.words).")
        if change.identityKeyChanged, let before = try await comparison(with: handle).comparison {
            Output.error(Paint.error.bad(before.alarm))
        }
        Output.error(
            Paint.error.warning(
                "Someone may be listening: if these keys are not "
                    + "\(handle == account.handle ? "yours" : "theirs"), the person who has them hears this call."
            ))
        Output.error("Type 'end' to end the call, or 'accept' to accept and continue:")
        var answers = TypedLines.standard.lines().makeAsyncIterator()
        guard await answers.next() == "accept" else {
            throw CommandFailure(
                .needsDecision, "The call was ended; no one was told of it, and nothing was accepted.",
                "Ask \(handle) over another channel whether this was them.")
        }
        do { _ = try await account.accept(found) } catch { throw CommandFailure(error, session: self) }
    }
}
