// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NotesAPI
import SignetAPI
import TransparencyLog

@Sendable func lookupParsers() -> [Parser] {
    [
        .canonical("lookup, asked", LookupRequest.init(decoding:), \.encoded),
        .canonical("lookup, answered", LookupResponse.init(decoding:), \.encoded),
        .canonical("history, asked", HistoryRequest.init(decoding:), \.encoded),
        .settled("history, answered", HistoryResponse.init(decoding:), \.encoded),
        .canonical("milestones, asked", MilestonesRequest.init(decoding:), \.encoded),
        .canonical("milestones, answered", MilestonesResponse.init(decoding:), \.encoded),
        .canonical("former log, asked", FormerRequest.init(decoding:), \.encoded),
        .canonical("former log, answered", FormerResponse.init(decoding:), \.encoded),
    ]
}

@Sendable func entryParsers() -> [Parser] {
    [
        .canonical("entry", LogEntry.init(decoding:), \.entry),
        .canonical("epoch", EpochRecord.init(decoding:), \.entry),
        .canonical("state in the log", StateRecord.init(decoding:), \.entry),
        .canonical("device in the log", DeviceLeaf.init(decoding:), \.entry),
        .canonical("succession", SuccessionRecord.init(decoding:), \.entry),
        .canonical("predecessor", PredecessorRecord.init(decoding:), \.entry),
        .canonical("chain of logs", SuccessionChain.init(decoding:), \.encoded),
        .canonical("evidence", Evidence.init(decoding:), \.encoded),
    ]
}

@Sendable func accountParsers() -> [Parser] {
    [
        .canonical("state", AccountState.init(decoding:), \.encoded),
        .settled("state with keys", AccountState.init(decodingWithKeys:), \.encoded),
        .canonical("handle", { try Handle(canonical: $0) }, \.bytes),
        .settled("handle, typed", { try Handle(typed: $0) }, \.bytes),
        .canonical("commitment", RecoveryCommitment.init(decoding:), \.encoded),
        .canonical("older commitment", RecoveryCommitment.init(decodingOlder:), \.encoded),
        .canonical("start of a recovery", RecoveryStart.init(decoding:), \.encoded),
        .canonical("endorsement", RecoveryEndorsement.init(decoding:), \.encoded),
        .canonical("identity code", IdentityCode.init(decoding:), \.encoded),
    ]
}

@Sendable func submissionParsers() -> [Parser] {
    let policy = needed { try fuzzedLog().policy }
    return [
        .canonical("device card", DeviceCard.init(decoding:), \.encoded),
        .canonical("submission", StateSubmission.init(decoding:), \.encoded),
        .canonical("receipt", StateReceipt.init(decoding:), \.encoded),
        .canonical("possession, asked", PossessionRequest.init(decoding:), \.encoded),
        .canonical("possession, challenge", PossessionChallenge.init(decoding:), \.encoded),
        .canonical("friend request", SignedFriendRequest.init(decoding:), \.encoded),
        .canonical("signature of a request", RequestSignature.init(headerValue:), \.headerValue),
        .canonical("admission to the relay", RelayAdmission.init(decoding:), \.encoded),
        .canonical("link card", { try LinkCard(decoding: $0, policy: policy) }, \.encoded),
        .canonical("contact card", { try ContactCard(decoding: $0, policy: policy) }, \.encoded),
        .canonical("checkpoint card", { try CheckpointCard(decoding: $0, policy: policy) }, \.encoded),
    ]
}

@Sendable func profileParsers() -> [Parser] {
    [
        .settled("profile of a directory", DirectoryProfile.init(decoding:), \.encoded),
        .canonical("pins of a directory", { try DirectoryPins(decoding: $0) }, \.text),
    ]
}

@Sendable func noteBodyParsers() -> [Parser] {
    [
        .canonical("PinsRequest", PinsRequest.init(decoding:), \.encoded),
        .canonical("PinsAnswer", PinsAnswer.init(decoding:), \.encoded),
        body(AccountHeadChange.self), body(AccountHeadOutcome.self),
        body(AccountHeadsRequest.self), body(AccountHeadsAnswer.self), body(NotesErasure.self),
        body(LoggedHeadsRequest.self), body(LoggedHeadsAnswer.self), body(ChildListRequest.self),
        body(ChildListAnswer.self), body(NotePushOutcome.self), body(NotePushOutcomes.self), body(FeedItem.self),
        body(FeedRequest.self), body(FeedPage.self), body(FeedAnswer.self), body(WaitRequest.self),
        body(WaitAnswer.self), body(RegistrationBeginning.self), body(RegistrationEvaluation.self),
        body(RegistrationEnd.self), body(LoginBeginning.self), body(LoginChallenge.self), body(LoginEnd.self),
        body(LoginAnswer.self), body(LoginGrant.self), body(NotePush.self), body(NotePushes.self),
        body(AccountKeys.self), body(AccountKeysChange.self), body(AccountKeysOutcome.self), body(OwnWrapChange.self),
        body(OwnWrapChanges.self), body(OwnWrapOutcomes.self), body(ChunkRequest.self),
        body(BlobRemoval.self),
    ]
}

/// Bodies of 64 KiB and more.
@Sendable func chunkParsers() -> [Parser] { [body(ChunkUpload.self), body(ChunkAnswer.self)] }

private func body<Body: NoteBody>(_: Body.Type) -> Parser {
    .canonical("\(Body.self)", Body.init(decoding:), \.encoded)
}
