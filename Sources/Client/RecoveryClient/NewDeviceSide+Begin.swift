// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI
import SignetClient
import SocialRecovery

// Into the log.
extension NewDeviceSide {
    /// Once a holder of the ask key has endorsed the request, puts it into the log, and fetches what guardians open.
    func begin(_ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        guard let endorsement = record.endorsement else { return }
        _ = try await post.asking { () throws(ClientError) in try await post.client.finishPending(post.secrets) }
        var state = try await ownLookup().state
        if record.start == nil || state.pendingRecovery != record.start?.hash {
            try checkNothingElse(state)
            guard post.now() < endorsement.time + RecoveryEndorsement.lifetime else {
                record.endorsement = nil
                return try keep(record)
            }
            let start = try start(record, endorsement)
            record.start = start
            try keep(record)
            try await checkReadable(record.commitment)
            try await log(start, after: state)
            state = try await ownLookup().state
        }
        guard let start = record.start, state.pendingRecovery == start.hash else { throw .stopped }
        try await fetch(&record, start, state)
    }

    func start(
        _ record: RecoveryRecord, _ endorsement: RecoveryEndorsement
    ) throws(RecoveryClientError) -> RecoveryStart {
        do throws(RecoveryStepFault) {
            return try RecoveryStart(
                request: record.request.hash, identityKey: record.request.identityKey, commitment: record.commitment,
                started: post.now(), expires: record.request.expires, endorsement: endorsement)
        } catch { throw .start(error) }
    }

    private func log(_ start: RecoveryStart, after state: AccountState) async throws(RecoveryClientError) {
        var superseded: RecoveryStart?
        if case .started(let start, _, _) = state.step { superseded = start }
        let asked: AccountState
        do throws(AccountStateError) {
            asked = try AccountState(starting: start, superseding: superseded, after: state) {
                try post.secrets.signAsIdentity($0) ?? []
            }
        } catch { throw .account(error) }
        _ = try await post.asking { () throws(ClientError) in
            try await post.client.submit(asked, cards: [], by: post.secrets)
        }
    }

    /// Before the log is told: the server has a file that a new device can read. The file itself comes only once the log shows
    /// the request, so that no one who may ask gets it unseen.
    private func checkReadable(_ commitment: RecoveryCommitment) async throws(RecoveryClientError) {
        guard try await post.promise(of: post.secrets.handle, commitment.hash) != nil else {
            throw .guardedThingsUnreadable
        }
    }

    private func fetch(
        _ record: inout RecoveryRecord, _ start: RecoveryStart, _ state: AccountState
    ) async throws(RecoveryClientError) {
        try await leaveRequest(&record, start)
        let fetch = RecoveryFetch(request: record.request.hash, secret: record.secret)
        guard let file = try await post.find(.askedFile, fetch.encoded) else { throw .notRecoverable }
        guard let contents = try? RecoveryContents(decoding: file) else { throw .malformedAnswer }
        do throws(RecoveryAttemptError) {
            record.attempt = try RecoveryAttempt(
                record.request, start: start, bundle: contents.bundle, state: state)
        } catch { throw .attempt(error) }
        record.contents = contents
        try keep(record)
    }
}
