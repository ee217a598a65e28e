// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LocalWeb
import PinnedHTTP
import Signet
import SignetCalls
import TransparencyLog

/// The command line's sentences for the pages of `signet ui`.
struct CommandWording: WebWording {
    let options: any HomeChoice

    func advice(_ error: SignetError, in home: OpenHome?) -> Advice {
        advice(home.map { CommandFailure(error, session: Session(options, $0)) } ?? CommandFailure(error), error)
    }

    func advice(_ error: SignetError, registering handle: Handle, in home: OpenHome?) -> Advice {
        guard let home else { return advice(error, in: nil) }
        return advice(
            CommandFailure(error, session: Session(options, home), registering: handle.description), error)
    }

    private func advice(_ failure: CommandFailure, _ error: SignetError) -> Advice {
        Advice(failure.sentence.what, means: error.family.meaning, failure.sentence.remedy)
    }

    var differingPassphrases: Advice { Advice(Passphrase.differing("passphrases")) }

    func advice(_ finding: WatchFinding, in home: OpenHome) -> Advice {
        switch finding {
        case .ownAccount(let alarm): Advice(alarm.sentence)
        case .shownKeys(let alarm): Advice(alarm.sentence)
        case .broughtAgain(let versions):
            Advice(MonitorReport.sentence(broughtAgain: versions), "There is nothing to do.")
        case .refused(let subject, let error):
            Advice(error.sentence(home.profile.url), means: "\(subject.words.capitalised) cannot be checked.")
        case .overdue(let subject, let since, let error):
            Advice(
                error.sentence(home.profile.url),
                means:
                    "\(subject.words.capitalised) has not been checked since \(Moment.date(since)): the directory may be hiding "
                    + "what it logged.")
        }
    }

    func advice(_ change: KeyChange, _ comparison: ComparisonState, in home: OpenHome) -> Advice {
        Advice(LookupPage.sentence(of: change.change, handle: change.handle, comparison))
    }

    func advice(_ lock: NoteLock) -> Advice { Advice(lock.sentence, means: "What you have of it is kept.") }
    func advice(_ problem: PushProblem) -> Advice { Advice(problem.sentence, means: "It is kept on this device.") }

    func words(_ comparison: Comparison) -> String { comparison.words }
    func words(_ change: PeerKeyChange) -> String { change.words }
    func words(_ meeting: MeetingEvidence, with owner: Handle) -> String { meeting.words(owner) }
    func words(ofWait seconds: UInt64) -> String { Moment.span(seconds) }
    func words(_ keystore: Keystore) -> String { keystore.words }
    func words(_ progress: RecoveryProgress) -> RecoveryWords { progress.words }
    func words(_ standing: GuardianStanding) -> String { standing.verdict }
    func shortfall(_ things: RecoveredThings) -> [String] { things.shortfall }

    func words(_ action: ControlAction) -> String { action.words }
    func advice(_ failure: CallFailure, in home: OpenHome) -> Advice {
        let said = CommandFailure(failure, session: Session(options, home)).sentence
        return Advice(said.what, means: "No one was rung, and nothing was sent.", said.remedy)
    }
    func remark(_ notice: CallNotice, naming name: (CallDevice) -> String?) -> CallRemark? {
        notice.saying(naming: name)?.remark
    }
    func remark(_ event: RingEvent) -> CallRemark? { event.saying?.remark }

    func advice(_ error: SignetError, at place: String, in home: OpenHome) -> Advice {
        let said = CommandFailure(error, session: Session(options, home), at: place).sentence
        // A site that says no has not lied.
        let means = if case .sites(.refused) = error { "Nothing was changed." } else { error.family.meaning }
        return Advice(said.what, means: means, said.remedy)
    }
    func words(_ refusal: MeetingRefusal) -> String { "\(refusal.sentence.what) \(refusal.sentence.remedy)" }
    func words(onMissingReceiptOf kept: KeptInPerson, isWanted: Bool) -> String? {
        kept.missingReceipt(isWanted: isWanted)
    }
    func words(_ card: IssuedCard) -> CardWords { CarriedCardPage.words(card) }
    func words(_ offer: CardOffer, copies: Int) -> [String] {
        CarriedCardPage.question(offer, copies: copies).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
    func words(_ consent: CardConsent) -> [String] {
        CarriedCardPage.question(consent).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    func words(_ notes: RevokedNotes, in home: OpenHome) -> String? {
        notes.shortfall(Session(options, home), isKeepingKeys: false).map { "\($0.what) \($0.reason) \($0.remedy)" }
    }

    func advice(_ error: PolicyFileError, named name: String) -> Advice { Advice(error.sentence(name)) }
    func advice(_ error: TlogProofError) -> Advice { Self.unproven(error.sentence) }
    func advice(_ error: TlogProofVerificationError) -> Advice { Self.unproven(error.sentence) }
    private static func unproven(_ sentence: Sentence) -> Advice {
        Advice(sentence.what, means: sentence.remedy, "")
    }
    func words(_ proof: LookupProof, _ checkpoint: VerifiedCheckpoint) -> [String] { proof.words(checkpoint) }

    func checks(_ answer: LookupAnswer, _ comparison: ComparisonState, in home: OpenHome) -> CheckedLookup {
        LookupPage(answer: answer, comparison, session: Session(options, home)).checked
    }

    func checks(_ refusal: LookupRefusal, in home: OpenHome) -> CheckedLookup {
        LookupPage(refusal: refusal, session: Session(options, home)).checked
    }
}

extension Advice {
    fileprivate init(_ sentence: Sentence, means: String? = nil) {
        self.init(sentence.what, means: means, sentence.remedy)
    }
}

extension CallSaying {
    fileprivate var remark: CallRemark {
        let tone: CallRemark.Tone =
            switch tone {
            case .plain: .plain
            case .warning: .warning
            case .bad: .alarm
            }
        // A page shows an alarm as one.
        let words = text.hasPrefix("ALARM: ") ? String(text.dropFirst("ALARM: ".count)) : text
        return CallRemark(words.capitalised, tone)
    }
}

extension ErrorFamily {
    /// What it means for the person that something was not done.
    fileprivate var meaning: String {
        switch self {
        case .environment: "Nothing was lost. What you typed is still there."
        case .peer: "Nothing of the answer is believed, and nothing was changed here."
        case .caller: "Nothing was changed."
        case .bug: "Nothing was changed, as far as this program knows."
        }
    }
}

extension LookupPage {
    /// The page as the app shows it.
    fileprivate var checked: CheckedLookup {
        let lines = marks.map { check, mark -> CheckedLookup.Line in
            let facts = facts(check).map { (name: $0.0, value: $0.1) }
            return switch mark {
            case .passed: CheckedLookup.Line(.passed, check.statement, facts: facts)
            case .failed(let sentence): CheckedLookup.Line(.failed, sentence.what, facts: facts)
            case .notReached: CheckedLookup.Line(.notReached, check.statement, facts: [])
            }
        }
        return CheckedLookup(
            lines: lines,
            summary: answer == nil ? [] : [(decision.words + decision.remark).capitalised, vouching.words.capitalised],
            unproven: unproven,
            advice: failure.map { Advice($0.sentence) })
    }
}

extension String {
    fileprivate var capitalised: String { prefix(1).uppercased() + dropFirst() }
}
