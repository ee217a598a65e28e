// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
public import KeyTransparency
public import RecoveryClient
import SignetClient
public import SocialRecovery

/// What the user keeps for others as their guardian, and who asks the user for help.
extension Account {
    /// Accepts the parts that people ask the user to keep, and shows who asks to recover their identity.
    ///
    /// - Throws: ``SignetError``.
    public func guarding() async throws(SignetError) -> Guarding {
        try await helping { side throws(RecoveryClientError) in
            var notices: [GuardianNotice] = []
            let requests = try await side.advance { notices.append($0) }
            return Guarding(duties: try side.duties(), requests: requests, notices: notices)
        }
    }

    /// Sends the user's number for the code, after the user was read the number of the request. The new device then shows a
    /// code.
    ///
    /// - Throws: ``SignetError``.
    public func look(at number: RequestNumber, for owner: Handle) async throws(SignetError) -> GuardianRequest {
        try await helping { side throws(RecoveryClientError) in try await side.look(at: number, for: owner) }
    }

    /// Helps a person who read the user the right code. There is only one try: a wrong code ends the request for this guardian.
    ///
    /// - Parameters:
    ///   - number: the number of the request, if no guardian has helped the person yet.
    ///   - code: three words and two digits, as they were read to the user.
    ///   - approval: of `.confirmRecovery(of:)` with the same handle.
    /// - Throws: ``SignetError``.
    public func confirmRecovery(
        of owner: Handle, number: RequestNumber? = nil, code: String, _ approval: consuming Approval
    ) async throws(SignetError) -> GuardianRequest {
        try check(approval, is: .confirmRecovery(of: owner))
        let turn = try await home.turn()
        defer { withExtendedLifetime(turn) {} }
        let side = GuardianSide(home.client, secrets, RecoveryFiles(in: home.folder))
        do {
            return try await side.confirm(owner, number: number, code: Array(code.utf8), approval.takeGrant())
        } catch { throw .recovery(error) }
    }

    /// Refuses to help with a request.
    ///
    /// - Parameter isReporting: whether to report that the request comes from an impostor.
    /// - Throws: ``SignetError``.
    public func declineRecovery(of owner: Handle, isReporting: Bool = false) async throws(SignetError) {
        try await helping { side throws(RecoveryClientError) in
            try await side.decline(owner, reporting: isReporting)
        }
    }

    /// Takes an objection ("this was not me") that was given to the user over another channel. It counts even if the directory
    /// does not show it.
    ///
    /// - Throws: ``SignetError``.
    public func take(_ objection: GuardianObjection) async throws(SignetError) -> ObjectionOutcome {
        try await helping { side throws(RecoveryClientError) in try await side.take(objection) }
    }

    private func helping<Value: Sendable>(
        _ step: @Sendable (GuardianSide<SQLiteStore>) async throws(RecoveryClientError) -> Value
    ) async throws(SignetError) -> Value {
        let secrets = secrets
        return try await recovering { home throws(RecoveryClientError) in
            try await step(GuardianSide(home.client, secrets, RecoveryFiles(in: home.folder)))
        }
    }
}

/// What the user keeps for others as their guardian.
public struct Guarding: Sendable {
    /// The people for whom the user keeps a part.
    public let duties: [GuardianDuty]
    /// The requests to recover an identity.
    public let requests: [GuardianRequest]
    /// Other messages that arrived, and failures.
    public let notices: [GuardianNotice]
}
