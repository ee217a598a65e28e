// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import RelyingParty

/// Members in memory.
actor MemoryMembers: SiteStore {
    private var members: [[UInt8]: SiteMember] = [:]

    func member(withKey key: [UInt8]) throws(SiteStoreError) -> SiteMember? {
        members.values.first { $0.keys.contains(key) }
    }

    func put(_ member: SiteMember, replacing expected: SiteMember?) throws(SiteStoreError) -> Bool {
        let others = members.values.filter { $0.account != member.account }
        guard members[member.account] == expected,
            !others.contains(where: { !Set($0.keys).isDisjoint(with: member.keys) })
        else { return false }
        members[member.account] = member
        return true
    }
}

/// A person at one site.
struct Person {
    let key: P256.Signing.PrivateKey
    let recovery: P256.Signing.PrivateKey

    init(key: P256.Signing.PrivateKey = .init(), recovery: P256.Signing.PrivateKey = .init()) throws {
        self.key = key
        self.recovery = recovery
    }

    var publicKey: [UInt8] { key.publicBytes }

    func registration(_ host: VerifiedHost, _ challenge: [UInt8]) throws -> [UInt8] {
        try SiteRegistration(
            at: host, challenge: challenge, publicKey: publicKey, recoveryKey: recovery.publicBytes,
            signing: key.rawSignature
        ).encoded
    }

    func recovery(to new: Person, _ host: VerifiedHost, _ challenge: [UInt8]) throws -> [UInt8] {
        let statement = try SiteRecovery(
            at: host, challenge: challenge, oldRecoveryKey: recovery.publicBytes, publicKey: new.publicKey,
            recoveryKey: new.recovery.publicBytes, recovering: recovery.rawSignature, signing: new.key.rawSignature)
        return SiteRecoveryRequest(recoveryKey: recovery.publicBytes, statement: statement.encoded).encoded
    }
}

/// A site, and the requests that people send to it.
struct SiteTown {
    static let now: UInt64 = 1_700_000_000
    let members: MemoryMembers
    let site: Site<MemoryMembers>

    init(host name: String = "shop.example", recoveryDelay: UInt64 = 86_400) throws {
        let host = try VerifiedHost(Array(name.utf8), evidence: .ownName)
        members = MemoryMembers()
        site = Site(
            at: host, members: members, challengeKey: SymmetricKey(size: .bits256), recoveryDelay: recoveryDelay)
    }

    /// A site with little memory of used challenges.
    init(maximumUsedCount: Int) throws {
        let host = try VerifiedHost(Array("shop.example".utf8), evidence: .ownName)
        members = MemoryMembers()
        site = Site(
            at: host, members: members, challengeKey: SymmetricKey(size: .bits256), maximumUsedCount: maximumUsedCount)
    }

    /// A site over the same members, with the memory of another one that has stopped.
    init(after stopped: SiteTown, memory: [UInt8]?) {
        members = stopped.members
        site = Site(
            at: stopped.site.host, members: members, challengeKey: SymmetricKey(size: .bits256), remembering: memory)
    }

    func ask(_ route: SiteRoute, _ body: [UInt8], after seconds: Int64 = 0) async throws -> SiteAnswer {
        try await site.answer(route, body, at: Self.now.advanced(by: Int(seconds)), random: bytes(16))
    }

    func challenge(after seconds: Int64) async -> [UInt8] {
        await site.challenge(at: Self.now.advanced(by: Int(seconds)), random: bytes(12))
    }

    func register(_ person: Person, after seconds: Int64 = 0) async throws -> SiteAnswer {
        try await ask(.register, person.registration(site.host, challenge(after: seconds)), after: seconds)
    }

    func signInBody(_ key: P256.Signing.PrivateKey) async throws -> [UInt8] {
        try signInBody(key, await challenge(after: 0))
    }

    func signInBody(_ key: P256.Signing.PrivateKey, _ challenge: [UInt8]) throws -> [UInt8] {
        let signature = try SiteSignIn(
            at: site.host, challenge: challenge, publicKey: key.publicBytes, signing: key.rawSignature
        ).signature
        return SignedChallenge(publicKey: key.publicBytes, challenge: challenge, signature: signature).encoded
    }

    func signIn(_ key: P256.Signing.PrivateKey, after seconds: Int64 = 0) async throws -> SiteAnswer {
        try await ask(.signIn, signInBody(key, challenge(after: seconds)), after: seconds)
    }

    func recover(_ old: Person, _ new: Person, after seconds: Int64 = 0) async throws -> SiteAnswer {
        let body = try old.recovery(to: new, site.host, await challenge(after: seconds))
        return try await ask(.recover, body, after: seconds)
    }

    func object(_ key: P256.Signing.PrivateKey) async throws -> SiteAnswer {
        let challenge = await challenge(after: 0)
        let signature = try key.rawSignature(SiteObjection.message(site.host, challenge, key.publicBytes))
        let body = SignedChallenge(publicKey: key.publicBytes, challenge: challenge, signature: signature)
        return try await ask(.object, body.encoded)
    }
}

/// As many random bytes.
func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }

extension SiteAnswer {
    /// The account of an answer that names one.
    var account: [UInt8]? {
        switch self {
        case .registered(let account), .signedIn(let account, _), .recovered(let account): account
        default: nil
        }
    }
}

extension P256.Signing.PrivateKey {
    var publicBytes: [UInt8] { Array(publicKey.compressedRepresentation) }
    func rawSignature(_ message: [UInt8]) throws -> [UInt8] { Array(try signature(for: message).rawRepresentation) }
}
