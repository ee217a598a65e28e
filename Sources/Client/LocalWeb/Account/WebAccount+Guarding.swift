// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// What the user does as a guardian and with guardians.
extension WebAccount {
    /// For how long pages that are not about guardians use what was seen before, in seconds.
    static let guardingSeconds: UInt64 = 60

    /// Takes the parts that people ask the user to keep, sends what is due, and looks for requests.
    ///
    /// - Parameter age: for how long what was seen before is used instead, in seconds.
    func guarding(olderThan age: UInt64 = 0) async throws(SignetError) -> Guarding {
        let account = try await needed()
        if let seen = guardingSeen, surroundings.now() < seen.time + age { return seen.found }
        do throws(SignetError) {
            let found = try await account.guarding()
            guardingSeen = (found, surroundings.now())
            await reached(account)
            return found
        } catch {
            missed(error)
            throw error
        }
    }

    /// The requests that wait for the user, as they were last seen.
    var requests: [GuardianRequest] { guardingSeen?.found.requests.filter(\.waitsForUser) ?? [] }

    /// Looks at most once a minute whether someone asks guardians for the user's own identity.
    func lookForRecovery() async {
        guard surroundings.now() >= (recoverySeen?.time ?? 0) + Self.guardingSeconds else { return }
        _ = try? await ownAccount()
    }

    /// The guardians whom this device chose, and the account as the log has it.
    func guardians() async throws(SignetError) -> (chosen: ChosenGuardians, own: OwnAccount) {
        let account = try await needed()
        let own = try await ownAccount()
        do throws(SignetError) { return (try await account.chosenGuardians(), own) } catch {
            missed(error)
            throw error
        }
    }

    /// Does what the user approves with the passphrase, for this act alone.
    func approved<Value: Sendable>(
        _ action: PresenceAction, with passphrase: SecretBytes,
        _ act: @Sendable (Account, consuming Approval) async throws(SignetError) -> Value
    ) async throws(SignetError) -> Value {
        let account = try await needed()
        (guardingSeen, recoverySeen) = (nil, nil)
        do throws(SignetError) {
            let approval = try await account.approval(of: action) { _ in passphrase }
            let value = try await act(account, approval)
            await reached(account)
            return value
        } catch {
            missed(error)
            throw error
        }
    }

    /// Does not help with a request.
    func decline(_ owner: Handle, isReporting: Bool) async throws(SignetError) {
        let account = try await needed()
        guardingSeen = nil
        try await account.declineRecovery(of: owner, isReporting: isReporting)
    }

    /// Looks at the request that a person named by its number.
    func look(at number: RequestNumber, for owner: Handle) async throws(SignetError) {
        let account = try await needed()
        guardingSeen = nil
        _ = try await account.look(at: number, for: owner)
    }
}

extension GuardianRequest {
    /// Whether the user has yet to decide.
    var waitsForUser: Bool {
        switch guardianCase.stage {
        case .asked, .numbered, .matched: true
        case .confirmed, .released, .declined, .reported, .stopped: false
        }
    }
}
