// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import KeyTransparency
import SignetAPI
import Synchronization

/// The codes that were sent to mail addresses, each for one handle and one device key, in bounded memory.
///
/// Security: a code has a million values. A guesser has ``tries`` for each code, and a handle gets ``rate``: in a year 2,193 codes, with
/// which a guess at a handle that nobody registers succeeds with a probability of 0.7 %. Whoever has codes sent for a handle that is not theirs
/// keeps its owner from getting one for some hours; an invitation helps them. All is forgotten when the process ends.
final class MailCodes: Sendable {
    /// For whom a code is.
    struct Subject: Hashable, Sendable {
        let handle: Handle
        let deviceKey: [UInt8]
    }

    private struct Pending: Sendable {
        let code: MailCode
        let end: UInt64
        var tries = MailCodes.tries
    }

    /// How long a code is good, in nanoseconds.
    static let lifetime: UInt64 = 900 * 1_000_000_000
    /// How many wrong codes end one.
    static let tries = 3
    /// How many codes a handle gets.
    static let rate = LoginLimits.Rate(burst: 3, secondsPerAttempt: 14_400)

    private let pending: Mutex<RecencyTable<Subject, Pending?>>
    private let mails: AttemptLimiter<Handle>
    private let random: @Sendable () -> MailCode

    /// - Parameters:
    ///   - capacity: so many are remembered; the oldest is forgotten first.
    ///   - random: makes a code.
    init(
        remembering capacity: Int = 65_536,
        random: @escaping @Sendable () -> MailCode = { MailCode(number: .random(in: 0..<1_000_000)) }
    ) {
        pending = Mutex(RecencyTable(capacity: capacity))
        mails = AttemptLimiter(Self.rate, remembering: capacity)
        self.random = random
    }

    /// A new code, in the place of an earlier one; nil if the handle has had its codes.
    ///
    /// - Parameter now: nanoseconds of a clock that does not go back.
    func make(for subject: Subject, at now: UInt64) -> MailCode? {
        guard mails.take(of: subject.handle, at: now) else { return nil }
        let code = random()
        pending.withLock { table in
            table.withValue(of: subject, initial: nil) { $0 = Pending(code: code, end: now + Self.lifetime) }
        }
        return code
    }

    /// Whether a code is the one that was sent. A wrong one uses up a try; a right one stays good, for an answer that is lost.
    func isRight(_ code: MailCode, for subject: Subject, at now: UInt64) -> Bool {
        pending.withLock { table in
            guard table.value(of: subject) != nil else { return false }
            return table.withValue(of: subject, initial: nil) { known in
                guard var pending = known, pending.end > now, pending.tries > 0 else {
                    known = nil
                    return false
                }
                guard pending.code != code else { return true }
                pending.tries -= 1
                known = pending
                return false
            }
        }
    }

    /// Forgets the code, which has done its work or was not sent.
    func drop(_ subject: Subject) {
        pending.withLock { table in
            guard table.value(of: subject) != nil else { return }
            table.withValue(of: subject, initial: nil) { $0 = nil }
        }
    }
}
