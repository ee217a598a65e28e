// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import DeviceKeystores
public import SignetClient
import SitesClient

extension Account {
    /// Runs an operation with the sites at which the user is registered.
    func sites<Value: Sendable>(
        _ approval: borrowing Approval,
        _ body: (SiteBook, consuming PresenceGrant) async throws(SitesError) -> Value
    ) async throws(SignetError) -> Value {
        let keys = try await siteKeys(approval)
        let book = SiteBook(keys: keys, list: home.folder.siteList, clock: surroundings.now)
        do { return try await body(book, approval.grant.again()) } catch { throw .sites(error) }
    }

    /// Runs an operation with the cards that were issued to the user.
    func withCards<Value: Sendable>(
        _ approval: borrowing Approval,
        _ body: (CardBook, consuming PresenceGrant) async throws(SitesError) -> Value
    ) async throws(SignetError) -> Value {
        let keys = try await siteKeys(approval)
        let book = CardBook(keys: keys, list: home.folder.cardList, clock: surroundings.now)
        do { return try await body(book, approval.grant.again()) } catch { throw .sites(error) }
    }

    /// The keys for sites and for cards, in a separate file, which the passphrase opens. The file is made the first time.
    func siteKeys(_ approval: borrowing Approval) async throws(SignetError) -> SealedFileKeystore {
        let folder = home.folder
        let keys = SealedFileKeystore(in: folder.siteKeys, cost: home.keystore?.cost ?? .standard)
        do throws(SealedFileFault) {
            if keys.exists {
                try await keys.unlock(with: approval.passphrase)
            } else {
                try await keys.create(under: approval.passphrase)
            }
        } catch { throw .siteKeys(error, path: folder.siteKeys.path) }
        return keys
    }
}

extension HomeFolder {
    /// Keys for sites and for cards, sealed under the account's passphrase.
    public var siteKeys: DurableFile { DurableFile(path: path + "/site-keys") }
    /// The list of sites, sealed under a key in ``siteKeys``.
    public var siteList: DurableFile { DurableFile(path: path + "/sites") }
    /// The list of cards that were issued to the user, sealed under a key in ``siteKeys``.
    public var cardList: DurableFile { DurableFile(path: path + "/cards") }
    /// The tokens for wallet cards, sealed under a key in ``siteKeys``.
    public var cardTokens: DurableFile { DurableFile(path: path + "/card-tokens") }
}
