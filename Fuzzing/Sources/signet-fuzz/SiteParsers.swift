// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetAPI

@testable import DeviceIdentity
@testable import RelyingParty

@Sendable func siteParsers() -> [Parser] {
    [
        .canonical("member", SiteMember.init(decoding:), \.encoded),
        .canonical("signed challenge", { SignedChallenge(decoding: $0) }, \.encoded),
        .canonical("request for a recovery", { SiteRecoveryRequest(decoding: $0) }, \.encoded),
        .canonical("answer", SiteAnswer.init(decoding:), \.encoded),
        .canonical("identities", SiteIdentities.init(decoding:), \.encoded),
        .canonical("gate", { try PresenceGate(decoding: $0) }, \.encoded),
        Parser("challenges") { SiteChallenges(decoding: $0) != nil },
    ]
}

/// What a device signs for a site.
@Sendable func siteSignedParsers() -> [Parser] {
    let (host, challenge, key) = needed { (try fuzzedHost(), bytes(1, 32), try Party(3).identityKey) }
    return [
        .canonical("host, kept", { try VerifiedHost(stored: $0) }, \.text),
        .canonical(
            "registration", { try SiteRegistration(decoding: $0, at: host, challenge: challenge) }, \.encoded),
        .canonical(
            "recovery", { try SiteRecovery(decoding: $0, at: host, challenge: challenge, oldRecoveryKey: key) },
            \.encoded),
    ]
}

/// The bodies of the directory's routes that are JSON: Foundation reads them, and no paths of its own lead here.
@Sendable func jsonParsers() -> [Parser] {
    [
        json(ECallRequest.self), json([ECallEntry].self), json(FriendRequest.self), json(FriendAnswer.self),
        json(FriendList.self), json(ErrorBody.self),
    ]
}

private func json<Body: Codable>(_: Body.Type) -> Parser {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return .settled(
        "\(Body.self)", { try JSONDecoder().decode(Body.self, from: Data($0)) }, { Array(try encoder.encode($0)) })
}
