// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency

@testable import SignetAPI
@testable import SocialRecovery

/// What an owner, guardians and a new device send each other and put into the log.
@Sendable func recoveryParsers() -> [Parser] {
    [
        .canonical("objection", GuardianObjection.init(decoding:), \.encoded),
        .settled("duty", GuardianDuty.init(decoding:), \.encoded),
        .canonical("release", ShareRelease.init(decoding:), \.encoded),
        .canonical("number", GuardianNumber.init(decoding:), \.encoded),
        .canonical("reveals", SpokenReveal.list(decoding:), { $0.flatMap(\.encoded) }),
        .canonical("answer", GuardianAnswer.init(decoding:), \.encoded),
        .canonical("journal", RecoveryJournal.init(decoding:), \.encoded),
        .settled("key on paper", { AskKey(paper: $0) }, \.paper),
    ]
}

/// What a guardian, an owner or a new device reads behind a seal.
@Sendable func recoverySealedParsers() -> [Parser] {
    let owner = needed { try Party(1).identityKey }
    return [
        .settled("letter, behind its seal", GuardianLetter.init(plaintext:), \.plaintext),
        .canonical(
            "entries of a journal, behind their seal", JournalEntry.list(plaintext:),
            { $0.isEmpty ? bytes(0, JournalEntry.byteCount) : $0.flatMap(\.plaintext) }),
        .settled("list of guardians, behind its seal", GuardianDirectory.Contents.init(decoding:), \.encoded),
        Parser("packet, behind its seal") { (try? GuardianPacket.read($0, identityKey: owner)) != nil },
    ]
}

/// What stands behind a signed request, or holds one.
@Sendable func recoveryCaseParsers() -> [Parser] {
    [
        .canonical("request", RecoveryRequest.init(decoding:), \.encoded),
        .canonical("case", GuardianCase.init(decoding:), \.encoded),
        .canonical("attempt", RecoveryAttempt.init(decoding:), \.encoded),
    ]
}

/// What an owner keeps, and has the server keep.
@Sendable func recoveryFileParsers() -> [Parser] {
    let recoveryKey = Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation)
    let askKey = Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation)
    return [
        .canonical("contents", RecoveryContents.init(decoding:), \.encoded),
        .canonical(
            "bundle",
            { bytes in
                let commitment = try RecoveryCommitment(
                    epoch: 1, delay: 1000, recoveryKey: recoveryKey, bundle: bytes, askKey: askKey)
                return try RecoveryBundle(decoding: bytes, commitment: commitment)
            }, \.encoded),
        .settled("setup", RecoverySetup.init(decoding:), \.encoded),
        Parser("file, as the server reads it") { RecoveryFileParts($0) != nil },
        Parser("first form of a setup") { (try? FirstSetup(decoding: $0)) != nil },
    ]
}

/// What the server keeps and carries for recoveries.
@Sendable func recoveryBodyParsers() -> [Parser] {
    [
        .canonical("file", RecoveryFile.init(decoding:), \.encoded),
        .canonical("letter", RecoveryLetter.Draft.init(decoding:), \.encoded),
        .canonical("letters", RecoveryLetterList.init(decoding:), \.encoded),
        .canonical("drop", RecoveryDrop.init(decoding:), \.encoded),
        .canonical("fetch", RecoveryFetch.init(decoding:), \.encoded),
        .canonical("asking", RecoveryAsking.init(decoding:), \.encoded),
        .canonical("answer", RecoveryAnswer.init(decoding:), \.encoded),
        .canonical("collection", RecoveryCollection.init(decoding:), \.encoded),
        .canonical("request number", RequestNumber.init(decoding:), \.encoded),
        .canonical("query", RecoveryQuery.init(decoding:), \.encoded),
        .canonical("asked", RecoveryAsked.init(decoding:), \.encoded),
        .canonical("reveals", RecoveryReveal.list(decoding:), RecoveryReveal.encoded),
        .canonical("promise", RecoveryPromise.init(decoding:), \.encoded),
        .canonical("question for a promise", RecoveryPromise.Query.init(decoding:), \.encoded),
        Parser("request number, typed") { RequestNumber(typed: $0) != nil },
    ]
}
