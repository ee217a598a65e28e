// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import Foundation
public import KeyPinning
public import PinnedChains
import SignetClient
public import SitesClient

/// The sites at which the user is registered, with a separate identity at each. Every site gets separate keys, for the name
/// that its certificate proves, and no site sees the account.
extension Account {
    /// Connects to a site, and requires it to prove its name; see ``OpenHome/site(_:trusting:pins:)``.
    ///
    /// - Throws: ``SignetError``.
    public func site(
        _ address: ServerAddress, trusting anchors: TrustAnchors? = nil, pins: PinPolicy? = nil
    ) async throws(SignetError) -> SiteConnection {
        try await home.site(address, trusting: anchors, pins: pins)
    }

    /// Registers the user at a site with an identity that no other site knows, and has guardians guard the key with which the
    /// site can be given new keys. After an interruption, call it again; it continues with the same keys.
    ///
    /// - Parameter approval: of `.register(_:)` with the site's host.
    /// - Throws: ``SignetError``.
    public func register(at site: SiteConnection, _ approval: consuming Approval) async throws(SignetError) {
        try check(approval, is: .register(site.host))
        try await sites(approval) { book, grant throws(SitesError) in try await book.register(at: site, grant) }
        await followGuardians(approval)
    }

    /// Signs in at a site.
    ///
    /// - Parameter approval: of `.signIn(_:)` with the site's host.
    /// - Returns: the time at which new keys take effect that were requested at this site in the user's name. If the user did
    ///   not request them, use ``object(at:_:)``. Nil if none were requested.
    /// - Throws: ``SignetError``: `.sites(.identity(.unknownSite))` if the user is not registered there; no other identity of
    ///   the user is used instead.
    public func signIn(at site: SiteConnection, _ approval: consuming Approval) async throws(SignetError) -> Date? {
        try check(approval, is: .signIn(site.host))
        let due = try await sites(approval) { book, grant throws(SitesError) in try await book.signIn(at: site, grant) }
        return due.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    /// Objects to new keys that are pending at a site.
    ///
    /// - Parameter approval: of `.objectAt(_:)` with the site's host.
    /// - Throws: ``SignetError``.
    public func object(at site: SiteConnection, _ approval: consuming Approval) async throws(SignetError) {
        try check(approval, is: .objectAt(site.host))
        try await sites(approval) { book, grant throws(SitesError) in try await book.object(at: site, grant) }
    }

    /// Gives a site new keys, authorised by the recovery key that is for this site alone. Use it after a recovery, or if
    /// someone may have copied this device. Give sites their new keys at different times; otherwise they learn that one person
    /// has them all.
    ///
    /// - Parameter approval: of `.reRegister(_:)` with the site's host.
    /// - Returns: the time at which the new keys take effect, after which this is called again; nil once they are in effect.
    /// - Throws: ``SignetError``.
    public func giveNewKeys(
        to site: SiteConnection, _ approval: consuming Approval
    ) async throws(SignetError) -> Date? {
        try check(approval, is: .reRegister(site.host))
        let until = try await sites(approval) { book, grant throws(SitesError) in
            try await book.giveNewKeys(to: site, grant)
        }
        await followGuardians(approval)
        return until.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    /// Every site at which the user is registered, in order of host.
    ///
    /// - Parameter approval: of `.showSites`.
    /// - Throws: ``SignetError``.
    public func sites(_ approval: consuming Approval) async throws(SignetError) -> [SiteBook.Listing] {
        try check(approval, is: .showSites)
        return try await sites(approval) { book, grant throws(SitesError) in try await book.sites(grant) }
    }

    /// The user's identity at each site, in order of host. Anyone who sees two of these in one place knows that they belong
    /// together.
    ///
    /// - Parameter approval: of `.showSites`.
    /// - Throws: ``SignetError``.
    public func siteIdentities(_ approval: consuming Approval) async throws(SignetError) -> [SiteIdentity] {
        try check(approval, is: .showSites)
        return try await sites(approval) { book, grant throws(SitesError) in try await book.identities(grant) }
    }

    /// Forgets a site, and erases the only keys to what the user has there. The site is not contacted.
    ///
    /// - Parameter approval: of `.forgetSite(_:)` with the host.
    /// - Throws: ``SignetError``.
    public func forget(_ host: VerifiedHost, _ approval: consuming Approval) async throws(SignetError) {
        try check(approval, is: .forgetSite(host))
        try await sites(approval) { book, grant throws(SitesError) in try await book.forget(host, grant) }
    }
}

extension OpenHome {
    /// Connects to a site, and requires it to prove its name. Its certificate is checked at a time that is never earlier than
    /// the time that the directory's log has shown here: setting the clock back does not make an expired certificate valid
    /// again.
    ///
    /// - Parameters:
    ///   - anchors: the trusted roots; nil for the system's.
    ///   - pins: keys that are required in addition.
    /// - Throws: ``SignetError/sites(_:)``.
    public func site(
        _ address: ServerAddress, trusting anchors: TrustAnchors? = nil, pins: PinPolicy? = nil
    ) async throws(SignetError) -> SiteConnection {
        let connector = try connector(to: address, trusting: anchors, pins: pins)
        do { return try await SiteConnection.open(address, through: connector) } catch { throw .sites(error) }
    }

    /// What requires a site or an issuer to prove its name.
    func connector(
        to address: ServerAddress, trusting anchors: TrustAnchors?, pins: PinPolicy?
    ) throws(SignetError) -> PinnedConnector {
        let connector: PinnedConnector
        do throws(TransportError) {
            guard let anchors = anchors ?? TrustAnchors.ofSystem()?.anchors else { throw .invalidRoot }
            connector =
                if let pins {
                    try PinnedConnector(
                        ChainVerifier(policy: pins, anchors: anchors), environment: pins.environment,
                        clock: client.surroundings.now)
                } else {
                    try .withoutPins(for: address, trusting: anchors, clock: client.surroundings.now)
                }
        } catch { throw .sites(.transport(error)) }
        return connector
    }
}
