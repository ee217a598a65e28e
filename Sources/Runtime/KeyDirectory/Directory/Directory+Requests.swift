import Foundation
import GRDB
public import SignetAPI
import TransparencyLog

extension Directory {
    /// Encapsulates a secret to each agreement key of a device that is to be added.
    ///
    /// - Throws: `badRequest`: a key that nothing can be encapsulated to.
    public func challenge(_ request: PossessionRequest) async throws(DirectoryError) -> PossessionChallenge {
        do { return try PossessionChallenge(for: request, sealingKey: sealingKey, at: clock()) } catch {
            throw .refused(.badRequest)
        }
    }

    /// Finds out who makes a request, and takes its nonce.
    ///
    /// - Throws: ``DirectoryError``; `wrongTime`; `notSigned`: the key did not sign this request to this directory;
    ///   `notYourAccount`: the key is no active device of a published state; `replayed`; `unavailable`: more signed
    ///   requests in ten minutes than nonces can be remembered.
    public func authenticate(
        _ signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Caller {
        let now = clock()
        try check(signature, content, at: now)
        guard let caller = try await caller(signature, content) else { throw .refused(.notYourAccount) }
        try takeNonce(of: signature, at: now)
        return caller
    }

    /// Whether this key signed this request, to this directory, just now.
    func check(
        _ signature: RequestSignature, _ content: RequestSignature.Content, at now: UInt64
    ) throws(DirectoryError) {
        guard content.origin == origin else { throw .refused(.notSigned) }
        do { try signature.verify(content, at: now) } catch {
            throw .refused(error == .wrongTime ? .wrongTime : .notSigned)
        }
    }

    /// Taken last, so that nobody but an account's own devices fills the window.
    func takeNonce(of signature: RequestSignature, at now: UInt64) throws(DirectoryError) {
        switch nonces.take(signature, at: now) {
        case .new: return
        case .replayed: throw .refused(.replayed)
        case .full: throw .refused(.unavailable)
        }
    }

    private func caller(
        _ signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Caller? {
        let places = LeafPlaces(log: log, size: log.published.head.size)
        return try await database.read { database in
            for id in try DeviceRow.accounts(withKey: signature.deviceKey, in: database) {
                let row = try AccountRow.find(id: id, in: database)
                guard let account = try PublishedAccount.find(row, in: database, at: places),
                    account.devices.contains(where: { $0.signingKey == signature.deviceKey })
                else { continue }
                return Caller(handle: account.account.handle, accountID: id, signature: signature, content: content)
            }
            return nil
        }
    }
}
