// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import RecoveryClient
public import SignetAPI
import SignetClient

/// How far the account of a home folder has come.
public enum HomeStage: Hashable, Sendable {
    /// There are no keys.
    case empty
    /// Keys of a first device were made, but no account is registered or asked for with them.
    case keysMade
    /// Keys of a further device were made. It waits to be added, and for the user to confirm the account here.
    case joining
    /// Guardians are asked for the identity, which is not this device's yet.
    case recovering
    /// The account is in use on this device.
    case account
}

extension OpenHome {
    /// How far the account of this folder has come. The directory is not asked.
    ///
    /// - Throws: ``SignetError``: the store cannot be read, or nothing is known of a recovery that may be under way.
    public func stage() async throws(SignetError) -> HomeStage {
        guard let keystore else { return .empty }
        let isPinned: Bool
        do { isPinned = try await client.store.pinnedPeer(keystore.handle) != nil } catch {
            throw .store(error, path: storePath)
        }
        do throws(RecoveryClientError) {
            if try RecoveryFiles(in: folder).isRecovering { return .recovering }
        } catch {
            guard isPinned else { throw .recovery(error) }
        }
        if isPinned { return .account }
        return keystore.identityKey == nil ? .joining : .keysMade
    }

    /// On a new device that waits to be added: the card that it made last, again; nil if it made none.
    ///
    /// - Throws: ``SignetError``.
    public func pendingCard() async throws(SignetError) -> MadeCard? {
        let bytes: [UInt8]?
        do { bytes = try await client.store.pendingLink() } catch { throw .store(error, path: storePath) }
        guard let bytes else { return nil }
        guard let card = try? LinkCard(decoding: bytes, policy: profile.trust.policy) else {
            throw .store(.damaged, path: storePath)
        }
        return try MadeCard(card, in: self)
    }
}
