// SPDX-License-Identifier: Apache-2.0

import Crypto
public import DeviceIdentity
import Presentation
import RelyingParty
import SecretMemory
import SecretSharing
public import SignetClient
public import SocialRecovery

/// A person's sites: a self for each, with keys of its own.
///
/// Keys are durable before a site hears of them, and the list is written when the site has answered: an interruption in
/// between loses nothing, the same call goes on with the same keys.
///
/// Security: keys are found by the host that the connection proved, and there is no other way to one. The account's own
/// keys are not within reach of this type.
public actor SiteBook {
    private let keystore: any PrivateKeyStore
    private let list: LedgerFile<SiteLedger>
    private let clock: @Sendable () -> UInt64

    /// A book over a keystore and a file.
    public init(
        keys keystore: any PrivateKeyStore, list file: DurableFile,
        clock: @escaping @Sendable () -> UInt64 = Surroundings.system.now
    ) {
        self.keystore = keystore
        list = LedgerFile(keys: keystore, sealedUnder: .siteList, file: file)
        self.clock = clock
    }

    /// One line of the list.
    public struct Listing: Hashable, Sendable {
        /// The site.
        public let host: VerifiedHost
        /// When the person became known there, in seconds since 1970; nil when only a recovery key came back.
        public let since: UInt64?
        /// Whether the site has to get new keys.
        public let needsNewKeys: Bool
    }

    /// Every site, in order of host.
    ///
    /// - Throws: ``SitesError``.
    public func sites(_ grant: consuming PresenceGrant) async throws(SitesError) -> [Listing] {
        let (ledger, _) = try await list.open(grant)
        return ledger.generations.keys.sorted { $0.text.lexicographicallyPrecedes($1.text) }.map { host in
            Listing(
                host: host, since: (try? ledger.identities.identity(for: host))?.createdAt,
                needsNewKeys: ledger.awaiting.contains(host))
        }
    }

    /// The self at each site that knows the person, in order of host.
    ///
    /// - Throws: ``SitesError``.
    public func identities(_ grant: consuming PresenceGrant) async throws(SitesError) -> [SiteIdentity] {
        try await list.open(grant).0.identities.all
    }

    /// Becomes known to a site.
    ///
    /// - Throws: ``SitesError``.
    public func register(
        at site: SiteConnection, _ grant: consuming PresenceGrant
    ) async throws(SitesError) {
        let (ledger, seal) = try await list.open(grant.again())
        guard !ledger.awaiting.contains(site.host) else { throw .needsNewKeys }
        guard (try? ledger.identities.identity(for: site.host)) == nil else { throw .identity(.knownSite) }
        let keys = try await self.keys(site.host, ledger.generations[site.host] ?? 0, grant.again())
        let message = SiteRegistration.message(site.host, site.challenge, keys.publicKey, keys.recoveryPublicKey)
        let signature = try await sign(message, with: keys.name, grant)
        let statement: SiteRegistration
        do {
            statement = try SiteRegistration(
                site.challenge, keys.publicKey, keys.recoveryPublicKey, signature, at: site.host)
        } catch { throw .statement(error) }
        let answer = try await site.send(.register, statement.encoded)
        guard case .registered = answer else {
            // Those of an interrupted try stay: the site may have taken them, and its answer been lost.
            if keys.areNew { try await eraseKeys(of: site.host, keys.generation) }
            throw .refused(answer)
        }
        try list.change(under: seal) { ledger throws(SitesError) in
            try enter(keys, site.host, into: &ledger)
        }
    }

    /// Signs in.
    ///
    /// - Returns: when new keys that were asked for in the person's name will count there; nil when none wait.
    /// - Throws: ``SitesError``; ``SitesError/identity(_:)`` with `unknownSite`: no other identity stands in.
    public func signIn(
        at site: SiteConnection, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> UInt64? {
        let (ledger, _) = try await list.open(grant.again())
        let identity = try self.identity(site.host, ledger)
        let message = SiteSignIn.message(site.host, site.challenge, identity.publicKey)
        let answer = try await send(.signIn, message, identity, ledger, to: site, grant)
        guard case .signedIn(_, let due) = answer else { throw .refused(answer) }
        return due
    }

    /// Says no to new keys that wait at a site.
    ///
    /// - Throws: ``SitesError``.
    public func object(at site: SiteConnection, _ grant: consuming PresenceGrant) async throws(SitesError) {
        let (ledger, _) = try await list.open(grant.again())
        let identity = try self.identity(site.host, ledger)
        let message = SiteObjection.message(site.host, site.challenge, identity.publicKey)
        let answer = try await send(.object, message, identity, ledger, to: site, grant)
        guard answer == .objected else { throw .refused(answer) }
    }

    /// Gives a site new keys, in the name of the recovery key that it has on file. Interrupted, or told to wait, it is
    /// called again.
    ///
    /// - Returns: when the new keys will count; nil when they do.
    /// - Throws: ``SitesError``.
    public func giveNewKeys(
        to site: SiteConnection, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> UInt64? {
        let (ledger, seal) = try await list.open(grant.again())
        guard let old = ledger.generations[site.host], old < .max else { throw .identity(.unknownSite) }
        guard let recovery = try await recoveryScalar(site.host, old, grant.again()) else { throw .noRecoveryKey }
        let keys = try await self.keys(site.host, old + 1, grant.again())
        let statement = try await statement(site, recovery, keys, grant)
        let answer = try await site.send(.recover, statement.encoded)
        switch answer {
        case .recovered:
            try list.change(under: seal) { ledger throws(SitesError) in
                try enter(keys, site.host, into: &ledger)
            }
            try await eraseKeys(of: site.host, old)
            return nil
        case .recoveryWaits(let until): return until
        default: throw .refused(answer)
        }
    }

    /// Forgets a site, and erases its keys. The site is not asked.
    ///
    /// - Throws: ``SitesError``.
    public func forget(_ host: VerifiedHost, _ grant: consuming PresenceGrant) async throws(SitesError) {
        let (_, seal) = try await list.open(grant)
        let generation = try list.change(under: seal) { ledger throws(SitesError) in
            guard let generation = ledger.generations.removeValue(forKey: host) else { throw .identity(.unknownSite) }
            ledger.identities.forget(host)
            ledger.awaiting.remove(host)
            return generation
        }
        for number in [generation, generation == .max ? generation : generation + 1] {
            try await eraseKeys(of: host, number)
        }
    }

    // MARK: Recovery of the account

    /// What the recovery journal has to hold, so that every site can be given new keys after a recovery.
    ///
    /// - Throws: ``SitesError``.
    public func recoveryEntries(
        _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [JournalEntry] {
        let (ledger, _) = try await list.open(grant.again())
        var entries: [JournalEntry] = []
        // Those too that still await new keys after a recovery: the key that came back is the only one to them.
        for (host, generation) in ledger.generations.sorted(by: { $0.key.text.lexicographicallyPrecedes($1.key.text) })
        {
            guard let secret = try await recoveryScalar(host, generation, grant.again()) else { throw .noRecoveryKey }
            entries.append(.siteRecovery(host, secret))
        }
        return entries
    }

    /// Applies what a recovery restored. Each site then awaits ``giveNewKeys(to:_:)``.
    ///
    /// - Throws: ``SitesError``.
    public func adopt(
        _ entries: [JournalEntry], _ grant: consuming PresenceGrant
    ) async throws(SitesError) {
        let (ledger, seal) = try await list.open(grant.again())
        var adopted: [VerifiedHost: UInt32] = [:]
        // The last entry of a host counts: the journal is in order of time.
        for case .siteRecovery(let host, let secret) in entries where ledger.identities.lacks(host) {
            let generation = ledger.generations[host] ?? 0
            try await erase(.siteRecovery(host, generation: generation))
            try await keep(secret, .siteRecovery(host, generation: generation))
            adopted[host] = generation
        }
        try list.change(under: seal) { ledger throws(SitesError) in
            for (host, generation) in adopted where ledger.identities.lacks(host) {
                ledger.generations[host] = generation
                ledger.awaiting.insert(host)
            }
        }
    }
}

extension SiteBook {
    // MARK: Keys

    /// The keys of one generation at one site.
    private struct Keys {
        let generation: UInt32
        let name: PrivateKeyName
        let publicKey: [UInt8]
        let recoveryPublicKey: [UInt8]
        /// Whether no site can have seen them before.
        let areNew: Bool
    }

    /// Those that are there, from an interrupted try, or new ones.
    private func keys(
        _ host: VerifiedHost, _ generation: UInt32, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> Keys {
        let name = PrivateKeyName.site(host, generation: generation)
        let recovery: SecretScalar
        let kept = try await recoveryScalar(host, generation, grant)
        if let kept {
            recovery = kept
        } else {
            recovery = .random()
            try await keep(recovery, .siteRecovery(host, generation: generation))
        }
        do throws(PrivateKeyStoreError) {
            let stored = try await keystore.key(named: name)
            let publicKey =
                if let stored { stored.publicKey } else { try await keystore.makeKey(.p256Signing, named: name) }
            guard let point = recovery.compressedPoint else { throw .damaged }
            return Keys(
                generation: generation, name: name, publicKey: publicKey, recoveryPublicKey: point,
                areNew: stored == nil && kept == nil)
        } catch { throw .keystore(error) }
    }

    private func recoveryScalar(
        _ host: VerifiedHost, _ generation: UInt32, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> SecretScalar? {
        let secret: SymmetricKey
        do {
            secret = try await keystore.secret(named: .siteRecovery(host, generation: generation), grant)
        } catch {
            guard error == .noSuchKey else { throw .keystore(error) }
            return nil
        }
        var bytes = secret.withUnsafeBytes { Array($0) }
        defer { bytes.wipe() }
        do { return try SecretScalar(bytes) } catch { throw .keystore(.damaged) }
    }

    private func keep(_ scalar: SecretScalar, _ name: PrivateKeyName) async throws(SitesError) {
        let secret = scalar.withBytes { span in
            var bytes = (0..<span.count).map { span[$0] }
            defer { bytes.wipe() }
            return SymmetricKey(data: bytes)
        }
        do { try await keystore.keep(secret, named: name) } catch { throw .keystore(error) }
    }

    private func eraseKeys(of host: VerifiedHost, _ generation: UInt32) async throws(SitesError) {
        try await erase(.site(host, generation: generation))
        try await erase(.siteRecovery(host, generation: generation))
    }

    private func erase(_ name: PrivateKeyName) async throws(SitesError) {
        do { try await keystore.erase(name) } catch { throw .keystore(error) }
    }

    // MARK: Statements

    private func identity(_ host: VerifiedHost, _ ledger: SiteLedger) throws(SitesError) -> SiteIdentity {
        guard !ledger.awaiting.contains(host) else { throw .needsNewKeys }
        do { return try ledger.identities.identity(for: host) } catch { throw .identity(error) }
    }

    private func sign(
        _ message: [UInt8], with name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [UInt8] {
        do { return try await keystore.sign(message, with: name, grant) } catch { throw .keystore(error) }
    }

    private func send(
        _ route: SiteRoute, _ message: [UInt8], _ identity: SiteIdentity, _ ledger: SiteLedger,
        to site: SiteConnection, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> SiteAnswer {
        try await site.send(route, try await signed(message, identity, ledger, for: site, grant))
    }

    private func signed(
        _ message: [UInt8], _ identity: SiteIdentity, _ ledger: SiteLedger, for site: SiteConnection,
        _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [UInt8] {
        let name = PrivateKeyName.site(site.host, generation: ledger.generations[site.host] ?? 0)
        let signature = try await sign(message, with: name, grant)
        return SignedChallenge(
            publicKey: identity.publicKey, challenge: site.challenge, signature: signature
        ).encoded
    }

    /// A sign-in, for the routes of cards.
    func signedChallenge(
        of site: SiteConnection, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [UInt8] {
        let (ledger, _) = try await list.open(grant.again())
        let identity = try self.identity(site.host, ledger)
        let message = SiteSignIn.message(site.host, site.challenge, identity.publicKey)
        return try await signed(message, identity, ledger, for: site, grant)
    }

    /// A sign-in for a browser's session, which the site has asked with a challenge of its own.
    func answer(
        to signIn: BrowserSignIn, of site: SiteConnection, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [UInt8] {
        let bytes = try await signedChallenge(of: site.asking(signIn.challenge), grant)
        guard let signed = SignedChallenge(decoding: bytes) else { throw .malformedAnswer }
        return signed.answer
    }

    /// Demands that the site knows the person.
    func checkKnown(at host: VerifiedHost, _ grant: consuming PresenceGrant) async throws(SitesError) {
        _ = try identity(host, await list.open(grant).0)
    }

    private func statement(
        _ site: SiteConnection, _ recovery: SecretScalar, _ keys: Keys, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> SiteRecoveryRequest {
        guard let old = recovery.compressedPoint, let signer = try? recovery.signingKey() else {
            throw .keystore(.damaged)
        }
        let message = SiteRecovery.message(site.host, site.challenge, [old, keys.publicKey, keys.recoveryPublicKey])
        let second = try await sign(message, with: keys.name, grant)
        guard let first = try? signer.signature(for: message).rawRepresentation else { throw .keystore(.damaged) }
        let bytes = site.challenge + keys.publicKey + keys.recoveryPublicKey + first + second
        do throws(SiteStatementError) {
            let statement = try SiteRecovery(
                decoding: bytes, at: site.host, challenge: site.challenge, oldRecoveryKey: old)
            return SiteRecoveryRequest(recoveryKey: old, statement: statement.encoded)
        } catch { throw .statement(error) }
    }

    // MARK: The list

    private func enter(
        _ keys: Keys, _ host: VerifiedHost, into ledger: inout SiteLedger
    ) throws(SitesError) {
        do throws(SiteIdentityError) {
            let identity = try SiteIdentity(
                host: host, publicKey: keys.publicKey, recoveryKey: keys.recoveryPublicKey, createdAt: clock())
            if ledger.identities.lacks(host) {
                try ledger.identities.add(identity)
            } else {
                try ledger.identities.replace(with: identity)
            }
        } catch { throw .identity(error) }
        ledger.generations[host] = keys.generation
        ledger.awaiting.remove(host)
    }
}

extension SiteIdentities {
    fileprivate func lacks(_ host: VerifiedHost) -> Bool { (try? identity(for: host)) == nil }
}

extension SecretScalar {
    /// The public key, 33 bytes.
    fileprivate var compressedPoint: [UInt8]? {
        (try? signingKey()).map { Array($0.publicKey.compressedRepresentation) }
    }
}
