// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
package import Logging
import SignetAPI

/// Decides by the operator's policy who may register which handle.
///
/// Security: it decides before anything is logged, because a log keeps everything for good. What it is shown is bound to the handle and to the
/// device key that signed the registration, and the directory demands that this key is in the account.
package final class RegistrationDesk: Sendable {
    private let policy: RegistrationPolicy
    private let tokens: TokenRules?
    private let codes: MailCodes
    private let program: MailProgram?
    private let logger: Logger

    /// A desk of a directory.
    ///
    /// - Parameters:
    ///   - keys: those of the token issuer, where the policy names one.
    ///   - origin: the log's, for which tokens are made.
    package convenience init(_ policy: RegistrationPolicy, keys: TokenKeys?, origin: [UInt8], logger: Logger) {
        self.init(policy, keys: keys, origin: origin, codes: MailCodes(), logger: logger)
    }

    init(_ policy: RegistrationPolicy, keys: TokenKeys?, origin: [UInt8], codes: MailCodes, logger: Logger) {
        self.policy = policy
        self.codes = codes
        self.logger = logger
        tokens =
            if let keys, let tokens = policy.tokens {
                TokenRules(keys: keys, issuer: tokens.issuer, client: tokens.client, origin: origin)
            } else { nil }
        program = policy.mailProgram.map { MailProgram(path: $0) }
    }

    /// What a registration is judged by, beside the clock.
    struct Applicant: Sendable {
        let handle: Handle
        /// The key that signed the registration.
        let deviceKey: [UInt8]
        /// What it shows; nil for nothing.
        let proof: RegistrationProof?

        fileprivate var subject: MailCodes.Subject { MailCodes.Subject(handle: handle, deviceKey: deviceKey) }
    }

    /// Whether the handle may be registered. An invitation of the operator's is enough for every handle.
    func right(of applicant: Applicant, at clock: ServerClock) -> RegistrationRight {
        if case .invitation(let invitation) = applicant.proof { return .holder(of: invitation) }
        switch policy.proof(for: applicant.handle) {
        case .open: return .anyone
        case .invitation: return .holder(of: nil)
        case .token: return byToken(applicant, at: clock.time())
        case .mail: return byCode(applicant, at: clock.uptime())
        case .nobody: return .nobody(.domainClosed)
        }
    }

    private func byToken(_ applicant: Applicant, at now: UInt64) -> RegistrationRight {
        guard let tokens, case .token(let token) = applicant.proof else { return .nobody(.tokenNeeded) }
        do { try tokens.check(token, for: applicant.handle, applicant.deviceKey, at: now) } catch {
            logger.debug("a token was refused", metadata: ["why": "\(error)"])
            return .nobody(.tokenRefused)
        }
        return .anyone
    }

    private func byCode(_ applicant: Applicant, at now: UInt64) -> RegistrationRight {
        guard case .code(let code) = applicant.proof else { return .nobody(.codeSent) }
        return codes.isRight(code, for: applicant.subject, at: now) ? .anyone : .nobody(.codeRefused)
    }

    /// Sends a code to a handle that the directory would register with one.
    ///
    /// - Returns: what the client is told: `codeSent`, or why none was sent.
    func sendCode(to applicant: Applicant, at now: UInt64) async -> ErrorCode {
        guard let program else { return .unavailable }
        guard let code = codes.make(for: applicant.subject, at: now) else { return .tooManyRequests }
        guard await program.send(code, to: applicant.handle) else {
            logger.error("the mail program took no code; see what it says when it is started by hand")
            codes.drop(applicant.subject)
            return .unavailable
        }
        return .codeSent
    }

    /// The handle is registered.
    func registered(_ applicant: Applicant) { codes.drop(applicant.subject) }
}
