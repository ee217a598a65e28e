// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import TransparencyLog

extension LookupError {
    var sentence: Sentence {
        let lie =
            "Do not use these keys. If it happens again, tell the person over another channel that their directory "
            + "misbehaves."
        return switch self {
        case .envelope: Sentence("The answer is malformed.", lie)
        case .vrf:
            Sentence(
                "The answer is about someone else, or the directory uses a different secret from the one you know.",
                lie)
        case .accountState:
            Sentence("The account in the answer is malformed, or its identity did not sign it.", lie)
        case .anotherAccount(let handle): Sentence("The account in the answer belongs to \(handle).", lie)
        case .note: Sentence("The directory's statement is not a signed note.", lie)
        case .checkpointText: Sentence("The directory's signed statement is not a checkpoint.", lie)
        case .origin: Sentence("The statement comes from a directory that you did not choose.", lie)
        case .logSignature: Sentence("The directory's signature is missing or wrong.", lie)
        case .cosignatures(.quorumNotMet): Sentence("Too few witnesses signed the statement.", lie)
        case .cosignatures: Sentence("A witness's signature is wrong.", lie)
        case .epoch(let error): error.sentence(lie)
        case .index:
            Sentence("The directory's index and its answer disagree about this handle.", lie)
        case .history(let error): error.sentence(lie)
        case .inclusion: Sentence("The account is not in the public log.", lie)
        case .freshness(let error): error.sentence
        case .consistency(let contradiction): contradiction.sentence
        case .uncalledForConsistencyProof: Sentence("The answer contains a proof that was not asked for.", lie)
        }
    }
}

extension EpochError {
    func sentence(_ lie: String) -> Sentence {
        switch self {
        case .notTheLastEntry: Sentence("The log does not end in the epoch that the answer is based on.", lie)
        case .emptyLog: Sentence("The answer is based on an empty log.", lie)
        case .start: Sentence("The epoch begins where the log has already ended.", lie)
        case .fromTheFuture(let ahead):
            Sentence(
                "The directory's last epoch ends \(Moment.span(ahead)) ahead of this device's clock.",
                "If this device's clock is wrong, set it and try again. If it is right, the directory's is or was wrong: tell its operator."
            )
        case .behind(let seconds):
            Sentence(
                "The directory's last epoch ended \(Moment.span(seconds)) before its cosigners saw it, so an old log is "
                    + "presented as the current one.",
                "Use no keys from this answer: later changes are hidden from you. Ask again later.")
        case .ahead(let seconds):
            Sentence("The directory's last epoch ends \(Moment.span(seconds)) after its cosigners saw it.", lie)
        case .runsBack(let known, let received):
            Sentence(
                "The answer is from epoch \(received.number), older than epoch \(known.number), which you have seen.",
                lie
            )
        }
    }
}

extension HistoryError {
    func sentence(_ lie: String) -> Sentence {
        switch self {
        case .empty, .uncalledForConsistencyProof:
            Sentence("What the answer says about the person's history makes no sense.", lie)
        case .notTheLastEntry: Sentence("The answer is not the latest: something came after it.", lie)
        case .shrunk(let known, let received):
            Sentence(
                "The person's history has \(Moment.entries(received)); earlier, \(known) were proven.", lie)
        case .rewritten: Sentence("The person's history differs from the one that was proven to you before.", lie)
        case .vanished:
            Sentence(
                "The directory now says that this handle is not registered, but it proved the account to you before.",
                "An honest directory never takes an account back out of the index. Do not use this directory, and "
                    + "tell the "
                    + "person over another channel.")
        }
    }
}

extension VerifiedAbsence {
    var sentence: Sentence {
        Sentence(
            "No one has registered \(handle): proved absent in epoch \(epoch.record.number).", "Check the spelling.")
    }
}

extension VerifiedClosure {
    func sentence(isOwn: Bool) -> Sentence {
        isOwn
            ? Sentence(
                "Your account \(handle) was closed: proved in epoch \(epoch.record.number).",
                "If that was not you, the directory did it without you: keep this folder, and tell your friends.")
            : Sentence(
                "The account of \(handle) was closed: proved in epoch \(epoch.record.number).",
                "Ask them over another channel how to reach them.")
    }
}

extension LookupRefusal {
    var sentence: Sentence {
        evidenceNotKept.map { error.sentence.withoutEvidence($0) } ?? error.sentence
    }
}
