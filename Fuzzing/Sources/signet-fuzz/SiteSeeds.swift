// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SignetAPI

@testable import DeviceIdentity
@testable import RelyingParty

func fuzzedHost() throws -> VerifiedHost { try VerifiedHost(bytes("shop.example"), evidence: .tlsConnection) }

/// What a device signs for the site of ``fuzzedHost()``, whose old key for recovery is the third party's.
private func signedSiteSeeds() throws -> [[UInt8]] {
    let (one, two, old, challenge) = (try Party(1), try Party(2), try Party(3), bytes(1, 32))
    let host = try fuzzedHost()
    return [
        host.text, bytes("shop.example:8443"),
        try SiteRegistration(
            at: host, challenge: challenge, publicKey: one.identityKey, recoveryKey: two.identityKey,
            signing: one.identitySignature
        ).encoded,
        try SiteRecovery(
            at: host, challenge: challenge, oldRecoveryKey: old.identityKey, publicKey: one.identityKey,
            recoveryKey: two.identityKey, recovering: old.identitySignature, signing: one.identitySignature
        ).encoded,
    ]
}

func siteSeeds() throws -> [[UInt8]] {
    let (key, other) = (try Party(1).identityKey, try Party(2).identityKey)
    let bare = SiteMember(account: bytes(1, 16), publicKey: key, recoveryKey: other)
    let waiting = SiteMember.WaitingKeys(publicKey: key, recoveryKey: other, due: 9)
    var sites = SiteIdentities()
    for (host, keys) in [("shop.example", (1, 2)), ("example.org", (3, 4))] as [(String, (UInt8, UInt8))] {
        try sites.add(
            SiteIdentity(
                host: VerifiedHost(bytes(host), evidence: .tlsConnection), publicKey: Party(keys.0).identityKey,
                recoveryKey: Party(keys.1).identityKey, createdAt: 5))
    }
    var challenges = SiteChallenges(key: SymmetricKey(data: bytes(1, 32)))
    challenges.use(challenges.issue(at: 1000, random: bytes(2, 12)), by: .member)
    return [
        bare.encoded, bare.with(waiting).encoded, sites.encoded, challenges.encoded(at: 1000), PresenceGate().encoded,
        SignedChallenge(publicKey: key, challenge: bytes(1, 32), signature: bytes(2, 64)).encoded,
        SiteRecoveryRequest(recoveryKey: key, statement: bytes(3, 226)).encoded,
        SiteAnswer.registered(account: bytes(1, 16)).encoded,
        SiteAnswer.signedIn(account: bytes(1, 16), recoveryDue: 9).encoded,
        SiteAnswer.recoveryWaits(until: 9).encoded, SiteAnswer.busy.encoded,
    ] + (try signedSiteSeeds())
}

func jsonSeeds() throws -> [[UInt8]] {
    let values: [any Encodable] = [
        ECallRequest(publicKeyHashs: ["AA=="], targets: ["a@example.org"]),
        [ECallEntry(publicKey: "AA==", proof: "AA==", vrfHash: "AA==")],
        FriendRequest(handle: "a@example.org", checkpoint: "AA=="), FriendAnswer(publicKeyHashs: ["AA=="]),
        FriendList(friends: [FriendList.Entry(handle: "a@example.org", status: .invited)]), ErrorBody(.notYet),
    ]
    return try values.map { Array(try JSONEncoder().encode($0)) }
}
