// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
package import KeyDirectory
import KeyTransparency
package import Logging
import Platform
import SignetAPI
import Synchronization

/// What an operator can do with accounts while the server runs, as HTTP on a socket of the data directory.
///
/// | Request | Answer |
/// |---|---|
/// | `GET /accounts`, `GET /accounts?after=HANDLE` | ``AccountPage`` |
/// | `GET /accounts/HANDLE` | ``AccountRecord`` |
/// | `GET /accounts/HANDLE/events` | ``AccountEvents`` |
/// | `POST /accounts/HANDLE/invite` | ``InvitationRecord`` |
/// | `POST /accounts/HANDLE/suspend`, `/resume` | ``AccountRecord`` |
/// | `POST /accounts/HANDLE/quota?bytes=N`, or `default` for N | ``AccountRecord`` |
/// | `POST /accounts/HANDLE/release` | ``InvitationRecord`` |
/// | `POST /accounts/HANDLE/erase` | `{}` |
///
/// Every call that changes something is in the audit trail of its account with the user of the process that made it, and with what that
/// process says of itself in the field `Signet-Claim`.
///
/// Security: whoever can open the socket is the operator; it lies in a folder of mode 0700. Keys and sealed texts are not to be had here.
package struct Administration: Sendable {
    private let directory: Directory
    private let parts: [any PartAnswering]
    private let emptying = EmptyingHandles()
    private let logger: Logger

    /// Administration of a directory and of the parts beside it, which keep something of its accounts.
    package init(_ directory: Directory, _ parts: [any PartAnswering], logger: Logger) {
        self.directory = directory
        self.parts = parts
        self.logger = logger
    }

    /// The answer to a request.
    ///
    /// - Parameter user: the user of the process that sent it; nil if the system does not say, and then it is refused: no act is without an
    ///   actor.
    func answer(_ request: HTTPRequest, from user: UInt32?) async -> Answer {
        guard let user else { return .refusal(.unavailable) }
        let administrator = Administrator(
            userID: user, userName: UserName.of(user),
            claim: HTTPField.Name(AdministrationCall.claimField).flatMap { request.headerFields[$0] })
        guard let call = AdministrationCall(method: request.method, path: request.path ?? "") else {
            return .refusal(.badRequest)
        }
        do { return try await answer(call, by: administrator) } catch {
            switch error {
            case let error as DirectoryError: return Refusal(error).answer
            case let error as Refusal: return error.answer
            default: return .refusal(.unavailable)
            }
        }
    }

    private func answer(_ call: AdministrationCall, by administrator: Administrator) async throws -> Answer {
        switch call {
        case .accounts(let handle): return .json(try JSONBody.encode(try await page(after: handle)))
        case .account(let handle, .show): return .json(try JSONBody.encode(try await record(of: handle)))
        case .account(let handle, .events):
            return .json(try JSONBody.encode(AccountEvents(try await directory.events(of: handle))))
        case .account(let handle, .invite):
            return .json(try JSONBody.encode(try await invite(handle, by: administrator)))
        case .account(let handle, .suspend):
            try await requireHolder(of: handle)
            try await directory.suspend(handle, by: administrator)
            note("an account was suspended", administrator)
            return .json(try JSONBody.encode(try await record(of: handle)))
        case .account(let handle, .resume):
            try await requireHolder(of: handle)
            try await directory.resume(handle, by: administrator)
            note("an account was resumed", administrator)
            return .json(try JSONBody.encode(try await record(of: handle)))
        case .quota(let handle, let byteCount):
            try await requireHolder(of: handle)
            // Before it is done: the trail rather has a change that failed than lacks one.
            try await directory.recordQuota(
                from: try await quota(of: handle), to: byteCount, of: handle, by: administrator)
            for part in parts { try await part.setQuota(byteCount, of: handle) }
            note("the quota of an account was set", administrator)
            return .json(try JSONBody.encode(try await record(of: handle)))
        case .account(let handle, .release):
            return .json(try JSONBody.encode(try await release(handle, by: administrator)))
        case .account(let handle, .erase):
            try await erase(handle, by: administrator)
            note("an account was erased", administrator)
            return .json(Array("{}".utf8))
        }
    }

    private func page(after handle: Handle?) async throws -> AccountPage {
        let listing = try await directory.accounts(after: handle, count: AccountPage.maximumCount)
        var records: [AccountRecord] = []
        for account in listing.accounts { records.append(try await record(of: account)) }
        return AccountPage(accounts: records, damaged: listing.damaged, next: listing.next?.description)
    }

    private func record(of handle: Handle) async throws -> AccountRecord {
        try await record(of: try await directory.account(handle))
    }

    private func record(of account: AccountSummary) async throws -> AccountRecord {
        var byteCount: UInt64 = 0
        for part in parts { byteCount += try await part.usedByteCount(of: account.handle) }
        return AccountRecord(account, storing: byteCount, of: try await quota(of: account.handle))
    }

    /// The quota that was set for an account alone; nil for that of all.
    private func quota(of handle: Handle) async throws -> UInt64? {
        var quota: UInt64?
        for part in parts { quota = try await part.quota(of: handle) ?? quota }
        return quota
    }

    /// Says in the log lines what was done, and by whom; never to whom.
    private func note(_ act: Logger.Message, _ administrator: Administrator) {
        var fields: Logger.Metadata = ["uid": "\(administrator.userID)"]
        fields["user"] = administrator.userName.map { "\($0)" }
        fields["claim"] = administrator.claim.map { "\($0)" }
        logger.notice(act, metadata: fields)
    }

    private func invite(_ handle: Handle, by administrator: Administrator) async throws -> InvitationRecord {
        let invitation = try Self.makeInvitation()
        let end = try await directory.invite(handle, with: invitation, by: administrator)
        note("an invitation was made", administrator)
        return InvitationRecord(handle: handle.description, code: invitation.text, until: end)
    }

    private static func makeInvitation() throws -> Invitation {
        var random = SystemRandomNumberGenerator()
        let code = (0..<Invitation.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        guard let invitation = Invitation(code: code) else { throw Refusal(.unavailable) }
        return invitation
    }

    /// What is done to an account is not done to a handle that waits for another person: the account that had it is gone.
    private func requireHolder(of handle: Handle) async throws {
        guard try await directory.account(handle).releasedAt == nil else { throw Refusal(.released) }
    }

    /// As an erasure, but the directory keeps the last state until another person has the handle.
    private func release(_ handle: Handle, by administrator: Administrator) async throws -> InvitationRecord {
        let invitation = try Self.makeInvitation()
        try begin(handle)
        defer { emptying.end(handle) }
        try await directory.prepareRelease(of: handle, by: administrator)
        try await emptyParts(of: handle)
        let end = try await directory.release(handle, to: invitation, by: administrator)
        note("a handle was released", administrator)
        return InvitationRecord(handle: handle.description, code: invitation.text, until: end)
    }

    /// The account is taken from the directory last, so that a call that failed can be made again.
    private func erase(_ handle: Handle, by administrator: Administrator) async throws {
        try begin(handle)
        defer { emptying.end(handle) }
        try await directory.suspend(handle, by: administrator)
        try await emptyParts(of: handle)
        try await directory.erase(handle, by: administrator)
    }

    /// Of two calls that empty the parts of one handle at the same time, the slower one would erase what the next holder has stored, who has
    /// the code of the quicker one. Other processes are not looked at.
    private func begin(_ handle: Handle) throws {
        guard emptying.begin(handle) else {
            logger.warning("a handle is being released or erased already")
            throw Refusal(.unavailable)
        }
    }

    /// The account is suspended before, so that its devices write nothing while its parts go.
    private func emptyParts(of handle: Handle) async throws {
        for part in parts { try await part.erase(handle) }
    }
}

/// The handles that are being released or erased.
private final class EmptyingHandles: Sendable {
    private let handles = Mutex<Set<Handle>>([])

    /// - Returns: whether nobody else has begun with it.
    func begin(_ handle: Handle) -> Bool { handles.withLock { $0.insert(handle).inserted } }

    func end(_ handle: Handle) { handles.withLock { _ = $0.remove(handle) } }
}
