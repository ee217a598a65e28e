// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
public import SignetAPI
import TransparencyLog

extension Directory {
    /// Encapsulates a secret to each agreement key of a device that is to be added.
    ///
    /// - Throws: `badRequest`: a key that nothing can be encapsulated to.
    public func challenge(_ request: PossessionRequest) async throws(DirectoryError) -> PossessionChallenge {
        do { return try PossessionChallenge(for: request, sealingKey: sealing.current, at: clock()) } catch {
            throw .refused(.badRequest)
        }
    }

    /// Judges what can be judged of a signed request before its body is there.
    ///
    /// Security: says nothing about who sends it: device keys are in the log, where anyone can copy them.
    /// - Throws: ``DirectoryError``; `wrongTime`; `notYourAccount`: the key is not an active device of a published state.
    public func expect(_ signature: RequestSignature) async throws(DirectoryError) {
        do { try signature.checkTime(at: clock()) } catch { throw .refused(.wrongTime) }
        _ = try await judged { () throws(DirectoryError) in try await requiredOwner(ofKey: signature.deviceKey) }
    }

    /// Whether a key is an active device of a published state, and the account is not suspended.
    ///
    /// - Throws: ``DirectoryError``.
    public func isDevice(_ key: [UInt8]) async throws(DirectoryError) -> Bool {
        guard let owner = try await owner(ofKey: key) else { return false }
        return owner.suspendedAt == nil
    }

    /// Finds out who signed a request. It takes no nonce: the account's rate is checked first, so that refused requests
    /// cannot fill the window.
    ///
    /// - Throws: ``DirectoryError``; `wrongTime`; `notSigned`: the key did not sign this request to this directory;
    ///   `notYourAccount`: the key is not an active device of a published state.
    public func signer(
        of signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Signer {
        try check(signature, content, at: clock())
        let owner = try await judged { () throws(DirectoryError) in try await requiredOwner(ofKey: signature.deviceKey)
        }
        return Signer(
            caller: Caller(handle: owner.handle, accountID: owner.id, signature: signature, content: content),
            isSuspended: owner.suspendedAt != nil)
    }

    /// Takes the nonce of a signed request.
    ///
    /// - Parameter protectsAccount: whether it changes or recovers the account itself, which a suspended account may do, too.
    /// - Throws: ``DirectoryError``; `suspended`; `replayed`; `tooManyRequests`: the account has had its share of the nonces of
    ///   ten minutes; `unavailable`: more signed requests in ten minutes than nonces can be remembered.
    public func admit(_ signer: Signer, protectsAccount: Bool = false) throws(DirectoryError) -> Caller {
        guard protectsAccount || !signer.isSuspended else { throw .refused(.suspended) }
        try takeNonce(of: signer, at: clock())
        return signer.caller
    }

    /// Finds out who makes a request, and takes its nonce.
    ///
    /// - Throws: ``DirectoryError``; as ``signer(of:_:)`` and ``admit(_:)``.
    public func authenticate(
        _ signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Caller {
        try admit(try await signer(of: signature, content))
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

    /// Whether this key signed this request, to this directory, just now; false: it did so earlier.
    ///
    /// - Throws: `wrongTime`: later than this clock says; `notSigned`.
    func isOfNow(
        _ signature: RequestSignature, _ content: RequestSignature.Content, at now: UInt64
    ) throws(DirectoryError) -> Bool {
        do throws(DirectoryError) { try check(signature, content, at: now) } catch {
            guard error == .refused(.wrongTime), signature.time < now else { throw error }
            do { try signature.verify(content) } catch { throw .refused(.notSigned) }
            return false
        }
        return true
    }

    /// Taken last, so that only an account's own devices can fill the window.
    private func takeNonce(of signer: Signer, at now: UInt64) throws(DirectoryError) {
        switch nonces.take(signer.caller.signature, for: signer.accountID, at: now) {
        case .new: return
        case .replayed: throw .refused(.replayed)
        case .overShare: throw .refused(.tooManyRequests)
        case .full: throw .refused(.unavailable)
        }
    }

    private func requiredOwner(ofKey key: [UInt8]) async throws(DirectoryError) -> AccountRow {
        guard let owner = try await owner(ofKey: key) else { throw .refused(.notYourAccount) }
        return owner
    }

    /// The account of which the key is an active device.
    private func owner(ofKey key: [UInt8]) async throws(DirectoryError) -> AccountRow? {
        let places = LeafPlaces(log: log, size: log.published.head.size)
        let owner = try await database.read { database -> PublishedAccount? in
            for id in try DeviceRow.accounts(withKey: key, in: database) {
                let row = try AccountRow.find(id: id, in: database)
                guard let account = try PublishedAccount.find(row, in: database, at: places),
                    account.devices.contains(where: { $0.signingKey == key })
                else { continue }
                return account
            }
            return nil
        }
        guard let owner else { return nil }
        // A device that the lost state has revoked is not to act any more.
        try requireNewest(owner, size: places.size)
        return owner.account
    }
}
