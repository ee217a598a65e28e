import DeviceIdentity

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
