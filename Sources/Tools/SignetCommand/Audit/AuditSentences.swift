// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import LogAuditor
import Signet
import TransparencyLog

extension CommandFailure {
    init(_ error: AuditorError) {
        switch error {
        case .folder(let fault): self.init(fault, path: "the auditor's folder")
        case .source(.file(let fault)): self.init(fault, path: "the log's folder")
        case .evidenceNotKept(_, let fault):
            let kept = fault.sentence("the auditor's folder")
            self.init(
                .environment, "The log broke its rules, and the proof could not be kept. " + kept.what, kept.remedy)
        case .evidenceDamaged, .folderOfAnotherLog: self.init(.badFile, error.sentence)
        default: self.init(error.family.status, error.sentence)
        }
    }

    init(_ error: AuditorKeyError) {
        let again = "Make a new key with 'signet audit key', and have the log's policy name it."
        switch error {
        case .file(let fault, let path): self.init(fault, path: path)
        case .keyDamaged: self.init(.badFile, "The key file is not valid.", again)
        case .memoryDamaged:
            self.init(
                .badFile, "The key's record does not match what the key cosigned: it was changed or replaced.", again)
        case .memoryOfAnotherLog:
            self.init(.badFile, "The key has cosigned another log. One key audits one log.", again)
        }
    }
}

extension AuditorError {
    var sentence: Sentence {
        let again = "Try again. If that does not help, ask the log's operator."
        return switch self {
        case .guilty(let guilt) where guilt.isInherited:
            Sentence(
                "The log continues one that broke its rules, or is that log under another key.",
                "The proof is in \(guilt.path). If it is a different log with that name, move the folder with the "
                    + "proof away."
            )
        case .guilty(let guilt):
            Sentence(
                "The log \(guilt.deed?.sentence ?? "broke a rule: " + guilt.evidence.claim).",
                "The proof is in \(guilt.path). Check it with 'signet evidence verify', and show it to others.")
        case .evidenceDamaged(let name):
            Sentence("The evidence \(name) in the auditor's folder is damaged.", "Put back a copy, or move it away.")
        case .folderInUse:
            Sentence("Another auditor is working in this folder.", "Wait for it, or choose another --state.")
        case .folderOfAnotherLog:
            Sentence("The folder belongs to an audit of another log.", "Choose another --state.")
        case .checkpointMissing: Sentence("There is no log there: it has no checkpoint.", "Check the address.")
        case .note: Sentence("What the log publishes as its checkpoint is not a signed note.", again)
        case .checkpoint(let error): error.sentence
        case .otherLog: Sentence("The checkpoint belongs to another log.", "Check the address and the policy.")
        case .missing: Sentence("The log lacks files that its checkpoint implies.", again)
        case .malformed: Sentence("One of the log's files is malformed.", again)
        case .older(let size, let audited):
            Sentence("The log shows \(size) entries, but had \(audited) before.", again)
        case .entriesDoNotMatch:
            Sentence("The log's entries do not match what it signed. That proves nothing yet.", again)
        case .noConsistencyProof:
            Sentence("The log does not prove that it has only grown. That proves nothing yet.", again)
        case .epochTime(let error):
            Sentence(
                error.sentence(again).what,
                "Check this machine's clock. If it is right, the log hides recent changes, or its clock is wrong: no new "
                    + "checkpoint is cosigned while that is so. Ask its operator.")
        case .firstEpoch:
            Sentence(
                "The log continues another one, but dates its first epoch before that log's last one.",
                "It is not cosigned: what appears to have waited in it may not have waited. Ask its operator.")
        case .formerEnd(let audited, let named):
            Sentence(
                "The log continues another one, which it says ended with \(Moment.entries(named)); of that log, "
                    + "\(Moment.entries(audited)) were audited here, and that is not its end.",
                "Audit the other log to its end first, from another auditor's folder if it is no longer served; then "
                    + "start this again. Until then it is not cosigned: what appears to have waited in it may not have "
                    + "waited."
            )
        case .tooLarge(let size): Sentence("A log of \(size) entries does not fit into memory.", "")
        case .paused(let read, let size):
            Sentence("\(read) of \(size) entries have been read; the audit goes on.", "Wait for it.")
        case .source(.transport(let error)): error.sentence("the log")
        case .source(.unexpectedStatus(let status)):
            Sentence("The log's server answered with HTTP status \(status).", again)
        case .source(.file(let fault)): fault.sentence("the log's folder")
        case .folder(let fault), .evidenceNotKept(_, let fault): fault.sentence("the auditor's folder")
        }
    }
}

extension ProvenFault.Deed {
    /// What the log did; the log is the subject.
    var sentence: String {
        switch self {
        case .fork(let first, let second, let witnesses):
            "signed two histories, of \(first.size) and of \(second.size) entries"
                + (witnesses.isEmpty ? "" : ", and \(witnesses.count) of its witnesses cosigned both")
        case .unknownEntry(let place): "logged entry \(place), which is of an unknown kind"
        case .noEpochRecord(let size): "signed \(size) entries that do not end in an epoch record"
        case .secondStep(_, let first, let second):
            "logged two versions of one account in one epoch, at \(first) and \(second)"
        case .version(_, let earlier, let later, let place):
            "logged version \(later) of an account at \(place), after version \(earlier)"
        case .stepAfterClose(_, let closed, let place):
            "logged something at \(place) for an account that ended at \(closed)"
        case .succession(let earlier, let later, let place):
            "logged key change number \(later) at \(place), after number \(earlier)"
        case .afterTheEnd(let ended, let place):
            "logged something at \(place), after it had ended at \(ended)"
        case .predecessorTooLate(let place): "logged the end of another log at \(place), in its middle"
        case .epochs(let first, let second, let place):
            "logged epoch \(second.number) at \(place), which cannot follow epoch \(first.number)"
        case .replayed(let fault, let place): "\(fault.deed) (entry \(place))"
        }
    }
}

extension IndexFault {
    /// What the log did; the log is the subject.
    fileprivate var deed: String {
        switch self {
        case .unknownEntry: "logged an entry of an unknown kind"
        case .version(_, let expected, let found, _):
            "logged version \(found) of an account where \(expected) was due"
        case .secondStep: "logged two versions of one account in one epoch"
        case .stepAfterClose: "logged a version of an account that had ended"
        case .successionNumber(let expected, let found, _):
            "logged key change number \(found) where \(expected) was due"
        case .afterTheEnd: "logged something after it had ended"
        case .predecessorTooLate: "logged the end of another log in its middle"
        case .unsettled: "logged a key of an account without a version that vouches for it"
        case .noStateRecord: "logged keys without a version that vouches for them"
        case .noEpochRecord: "signed entries that do not end in an epoch record"
        case .epochFields: "logged an epoch record whose numbers do not match the log"
        case .indexRoot: "logged an epoch record over an index that does not follow from its entries"
        case .timeRunsBack: "logged an epoch that ended before the one before it"
        case .tooLarge: "has too many entries"
        }
    }
}

extension EvidenceVerificationError {
    var sentence: Sentence {
        let remedy = "Nothing is proven."
        return switch self {
        case .checkpoint(let error): error.sentence
        case .otherOrigin: Sentence("The two checkpoints belong to different logs.", remedy)
        case .sameTree: Sentence("The two checkpoints are of the same tree.", remedy)
        case .wrongOrder: Sentence("The larger checkpoint comes first.", remedy)
        case .linkMissing(let old, let size):
            Sentence(
                "The two checkpoints have \(old) and \(size) entries, and nothing shows whether one extends the other.",
                "Name a copy of the log with --log: its tiles decide.")
        case .linkNotNeeded:
            Sentence("The evidence contains a proof that two checkpoints of the same size do not need.", remedy)
        case .link: Sentence("The proof between the two checkpoints is not valid.", remedy)
        case .linkShowsOneHistory:
            Sentence("The larger checkpoint extends the smaller one: there is only one history.", remedy)
        case .inclusion(let index, _): Sentence("Entry \(index) is not where the evidence says it is.", remedy)
        case .entriesShowNoFault: Sentence("The entries are in the log and break no rule.", remedy)
        case .logNeeded(let size):
            Sentence(
                "This fault only shows when all \(size) entries are replayed.",
                "Name a copy of the log with --log, such as an auditor's folder.")
        case .otherEntries:
            Sentence("The copy of the log has entries other than those the log signed.", "Try another copy.")
        case .replayShowsOtherwise: Sentence("Replaying all entries shows no such fault at that place.", remedy)
        }
    }
}

extension EvidenceError {
    func sentence(_ path: String) -> Sentence {
        Sentence("\(path) is not a file of evidence.", "Check that you named the right file, and that it is complete.")
    }
}

extension CheckpointCardError {
    var sentence: Sentence {
        switch self {
        case .note, .malformed: Sentence("That is not a checkpoint card.", "Ask for what 'signet gossip show' prints.")
        case .checkpoint(let error): error.sentence
        }
    }
}
