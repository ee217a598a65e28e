public import DeviceIdentity
public import Foundation
public import KeyPinning
public import PinnedChains
import SignetClient
public import SitesClient

/// The sites that know the user: a separate self for each. Every site gets keys of its own, by the name that its certificate proves, and
/// none sees the account.
extension Account {
    /// Connects to a site, and has it prove its name; see ``OpenHome/site(_:trusting:pins:)``.
    ///
    /// - Throws: ``SignetError``.
    public func site(
        _ address: ServerAddress, trusting anchors: TrustAnchors? = nil, pins: PinPolicy? = nil
    ) async throws(SignetError) -> SiteConnection {
        try await home.site(address, trusting: anchors, pins: pins)
    }

    /// Becomes known to a site, as somebody whom no other site knows, and has guardians guard the key by which it can be given others.
    /// Interrupted, it is called again, and goes on with the same keys.
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
    /// - Returns: when new keys count there that somebody asked for in the user's name: if that was not the user, ``object(at:_:)``. Nil if
    ///   nobody did.
    /// - Throws: ``SignetError``: `.sites(.identity(.unknownSite))`: no other self of the user's stands in.
    public func signIn(at site: SiteConnection, _ approval: consuming Approval) async throws(SignetError) -> Date? {
        try check(approval, is: .signIn(site.host))
        let due = try await sites(approval) { book, grant throws(SitesError) in try await book.signIn(at: site, grant) }
        return due.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    /// Says no to new keys that wait at a site.
    ///
    /// - Parameter approval: of `.objectAt(_:)` with the site's host.
    /// - Throws: ``SignetError``.
    public func object(at site: SiteConnection, _ approval: consuming Approval) async throws(SignetError) {
        try check(approval, is: .objectAt(site.host))
        try await sites(approval) { book, grant throws(SitesError) in try await book.object(at: site, grant) }
    }

    /// Gives a site new keys, in the name of the recovery key that it alone has: after a recovery, or when somebody may have copied this
    /// device. Sites are given theirs at different times, or they learn that one person has them all.
    ///
    /// - Parameter approval: of `.reRegister(_:)` with the site's host.
    /// - Returns: when they count, and then it is called again; nil when they do.
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

    /// Every site that knows the user, in order of host.
    ///
    /// - Parameter approval: of `.showSites`.
    /// - Throws: ``SignetError``.
    public func sites(_ approval: consuming Approval) async throws(SignetError) -> [SiteBook.Listing] {
        try check(approval, is: .showSites)
        return try await sites(approval) { book, grant throws(SitesError) in try await book.sites(grant) }
    }

    /// The self at each site that knows the user, in order of host: whoever sees two of these in one place knows that they belong together.
    ///
    /// - Parameter approval: of `.showSites`.
    /// - Throws: ``SignetError``.
    public func siteIdentities(_ approval: consuming Approval) async throws(SignetError) -> [SiteIdentity] {
        try check(approval, is: .showSites)
        return try await sites(approval) { book, grant throws(SitesError) in try await book.identities(grant) }
    }

    /// Forgets a site, and erases the only keys to what the user has there. The site is not asked.
    ///
    /// - Parameter approval: of `.forgetSite(_:)` with the host.
    /// - Throws: ``SignetError``.
    public func forget(_ host: VerifiedHost, _ approval: consuming Approval) async throws(SignetError) {
        try check(approval, is: .forgetSite(host))
        try await sites(approval) { book, grant throws(SitesError) in try await book.forget(host, grant) }
    }
}

extension OpenHome {
    /// Connects to a site, and has it prove its name. Its certificate is judged at a time that is never earlier than what the directory's
    /// log has shown here: a clock that is set back makes no expired one good again.
    ///
    /// - Parameters:
    ///   - anchors: the roots that are trusted; nil for the system's.
    ///   - pins: keys that are demanded as well.
    /// - Throws: ``SignetError/sites(_:)``.
    public func site(
        _ address: ServerAddress, trusting anchors: TrustAnchors? = nil, pins: PinPolicy? = nil
    ) async throws(SignetError) -> SiteConnection {
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
        do { return try await SiteConnection.open(address, through: connector) } catch { throw .sites(error) }
    }
}
