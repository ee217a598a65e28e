// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import DeviceIdentity

/// A site at which people are known by a key that no other site sees.
///
/// Each function is one decision: the checks in order, then the change, then the answer. Time and randomness come in.
///
/// Security: a sign-in shows that the current holder of the registered key meant this site and this challenge. It says
/// nothing about who that is, and nothing that this site holds equals anything that another site holds.
public actor Site<Store: SiteStore> {
    /// The site's own host, which every statement must name.
    public nonisolated let host: VerifiedHost
    /// How long new keys wait for an objection by the old one, in seconds.
    public nonisolated let recoveryDelay: UInt64

    private let store: Store
    private var challenges: SiteChallenges

    /// A site with its members.
    ///
    /// - Parameters:
    ///   - challengeKey: 32 random bytes, new at each start without a memory of the last.
    ///   - memory: what ``challengeMemory(at:)`` gave when the site was stopped; nil, and anything else, for none: then
    ///     challenges given out before are stale.
    ///   - recoveryDelay: in seconds. Zero lets new keys count at once.
    ///
    /// Security: a memory is good for one start. Given twice, it lets a sign-in of the last five minutes be repeated.
    public init(
        at host: VerifiedHost, members store: Store, challengeKey: SymmetricKey, remembering memory: [UInt8]? = nil,
        recoveryDelay: UInt64 = 86_400
    ) {
        self.host = host
        self.store = store
        self.recoveryDelay = recoveryDelay
        challenges = memory.flatMap { SiteChallenges(decoding: $0) } ?? SiteChallenges(key: challengeKey)
    }

    /// A site that remembers so many used challenges of members, and as many of strangers.
    package init(
        at host: VerifiedHost, members store: Store, challengeKey: SymmetricKey, maximumUsedCount: Int
    ) {
        self.host = host
        self.store = store
        recoveryDelay = 86_400
        challenges = SiteChallenges(key: challengeKey, maximumCount: maximumUsedCount)
    }

    /// What the site's next start needs for challenges given out before it to stay good, and those used to stay used.
    /// Call it when the site takes no more requests.
    public func challengeMemory(at now: UInt64) -> [UInt8] { challenges.encoded(at: now) }

    /// 32 bytes to sign, good once, for five minutes.
    ///
    /// - Parameter random: 12 unpredictable bytes.
    public func challenge(at now: UInt64, random: [UInt8]) -> [UInt8] { challenges.issue(at: now, random: random) }

    /// Decides on a request of a route that takes a statement.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - random: 16 unpredictable bytes, the account of a new member.
    /// - Throws: ``SiteStoreError``; nothing was promised.
    public func answer(
        _ route: SiteRoute, _ body: [UInt8], at now: UInt64, random: [UInt8]
    ) async throws(SiteStoreError) -> SiteAnswer {
        switch route {
        case .challenge: return .refused
        case .register: return try await register(body, at: now, account: random)
        case .signIn: return try await signIn(body, at: now)
        case .recover: return try await recover(body, at: now)
        case .object: return try await object(body, at: now)
        }
    }

    // MARK: Registering

    private func register(
        _ body: [UInt8], at now: UInt64, account: [UInt8]
    ) async throws(SiteStoreError) -> SiteAnswer {
        guard body.count == SiteRegistration.byteCount else { return .refused }
        guard challenges.hasRoom(for: .stranger, at: now) else { return .busy }
        let challenge = Array(body.prefix(32))
        guard challenges.isGood(challenge, at: now) else { return .staleChallenge }
        guard let statement = try? SiteRegistration(decoding: body, at: host, challenge: challenge) else {
            return .refused
        }
        challenges.use(challenge, by: .stranger)
        if let known = try await member(statement.publicKey, at: now) {
            let isSame = known.publicKey == statement.publicKey && known.recoveryKey == statement.recoveryKey
            return isSame ? .registered(account: known.account) : .keyInUse
        }
        let member = SiteMember(
            account: account, publicKey: statement.publicKey, recoveryKey: statement.recoveryKey)
        return try await store.put(member, replacing: nil) ? .registered(account: account) : .keyInUse
    }

    // MARK: Signing in

    private func signIn(_ body: [UInt8], at now: UInt64) async throws(SiteStoreError) -> SiteAnswer {
        guard let request = SignedChallenge(decoding: body) else { return .refused }
        guard challenges.hasRoom(for: .member, at: now) else { return .busy }
        guard challenges.isGood(request.challenge, at: now) else { return .staleChallenge }
        guard let member = try await member(request.publicKey, at: now) else { return .unknownKey }
        guard isSignIn(request), spend(request.challenge, by: .member, at: now) else { return .refused }
        if member.publicKey == request.publicKey {
            return .signedIn(account: member.account, recoveryDue: member.waiting?.due)
        }
        guard let waiting = member.waiting, waiting.publicKey == request.publicKey else { return .unknownKey }
        return .recoveryWaits(until: waiting.due)
    }

    private func isSignIn(_ request: SignedChallenge) -> Bool {
        let (signature, challenge, key) = (request.signature, request.challenge, request.publicKey)
        return (try? SiteSignIn(signature, at: host, challenge: challenge, publicKey: key)) != nil
    }

    // MARK: New keys after a recovery

    private func recover(_ body: [UInt8], at now: UInt64) async throws(SiteStoreError) -> SiteAnswer {
        guard let request = SiteRecoveryRequest(decoding: body) else { return .refused }
        let challenge = Array(request.statement.prefix(32))
        guard challenges.isGood(challenge, at: now) else { return .staleChallenge }
        let (bytes, old) = (request.statement, request.recoveryKey)
        // Anyone can make up an old key.
        let user: SiteChallenges.User = try await store.member(withKey: old) == nil ? .stranger : .member
        guard challenges.hasRoom(for: user, at: now) else { return .busy }
        guard
            let statement = try? SiteRecovery(decoding: bytes, at: host, challenge: challenge, oldRecoveryKey: old),
            spend(challenge, by: user, at: now)
        else { return .refused }
        if let done = try await member(statement.publicKey, at: now), done.publicKey == statement.publicKey,
            done.recoveryKey == statement.recoveryKey
        {
            return .recovered(account: done.account)
        }
        guard let member = try await member(old, at: now), member.recoveryKey == old else { return .unknownKey }
        return try await admit(statement, for: member, at: now)
    }

    private func admit(
        _ statement: SiteRecovery, for member: SiteMember, at now: UInt64
    ) async throws(SiteStoreError) -> SiteAnswer {
        // One at a time: a second request waits until the first one counts or is objected to.
        if let waiting = member.waiting { return .recoveryWaits(until: waiting.due) }
        let (due, overflow) = now.addingReportingOverflow(recoveryDelay)
        let keys = SiteMember.WaitingKeys(
            publicKey: statement.publicKey, recoveryKey: statement.recoveryKey, due: overflow ? .max : due)
        let next = member.with(keys).settled(at: now)
        guard try await store.put(next, replacing: member) else { return .keyInUse }
        return next.waiting == nil ? .recovered(account: member.account) : .recoveryWaits(until: keys.due)
    }

    // MARK: Objecting

    private func object(_ body: [UInt8], at now: UInt64) async throws(SiteStoreError) -> SiteAnswer {
        guard let request = SignedChallenge(decoding: body) else { return .refused }
        guard challenges.hasRoom(for: .member, at: now) else { return .busy }
        guard challenges.isGood(request.challenge, at: now) else { return .staleChallenge }
        let (signature, challenge, key) = (request.signature, request.challenge, request.publicKey)
        guard let member = try await member(key, at: now), member.publicKey == key else { return .unknownKey }
        guard (try? SiteObjection(signature, at: host, challenge: challenge, publicKey: key)) != nil,
            spend(challenge, by: .member, at: now)
        else { return .refused }
        guard member.waiting != nil else { return .nothingWaits }
        return try await store.put(member.with(nil), replacing: member) ? .objected : .busy
    }

    // MARK: What they share

    /// The member with a key, with waiting keys that are due in force.
    private func member(_ key: [UInt8], at now: UInt64) async throws(SiteStoreError) -> SiteMember? {
        guard let member = try await store.member(withKey: key) else { return nil }
        let settled = member.settled(at: now)
        if settled == member { return member }
        // The loser of this race reads what the winner wrote.
        return try await store.put(settled, replacing: member) ? settled : try await store.member(withKey: key)
    }

    /// Uses a challenge up; false when another request was quicker with it.
    private func spend(_ challenge: [UInt8], by user: SiteChallenges.User, at now: UInt64) -> Bool {
        guard challenges.isGood(challenge, at: now) else { return false }
        challenges.use(challenge, by: user)
        return true
    }
}
