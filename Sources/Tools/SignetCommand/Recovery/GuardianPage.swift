// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import SocialRecovery

extension GuardianNotice {
    var json: PrintedValue {
        switch self {
        case .failed(let owner, _): ["handle": .string(owner.description), "notice": "failed"]
        case .changed(let owner): ["handle": .string(owner.description), "notice": "changed"]
        case .replaced(let owner, let since, let until):
            [
                "handle": .string(owner.description), "notice": "replaced", "since": .number(since),
                "until": .number(until),
            ]
        }
    }

    func words(_ session: Session) -> String {
        let mark = Paint.output.warning("!")
        switch self {
        case .failed(let owner, let error):
            return "\(mark) \(owner): \(CommandFailure(error, session: session).sentence.what)"
        case .changed(let owner):
            return """
                \(mark) \(owner) sent you something, but has changed since you accepted them: it is waiting.
                  Look at the change: signet people trust \(owner). Then run 'signet guardian' again.
                """
        case .replaced(let owner, let since, let until):
            return """
                \(mark) \(owner) has had other guardians since \(Moment.date(since)); your part still helps until \
                \(Moment.date(until)).
                  If they did not tell you, call them: someone may have their device. 'signet recover start --before' \
                asks you.
                """
        }
    }
}

/// A request, and how the guardian and the person who asks know each other.
struct GuardianScreen {
    let request: GuardianRequest
    let known: KnownMeeting

    init(_ request: GuardianRequest, _ account: Account) async throws(SignetError) {
        self.request = request
        known = try await account.knownMeeting(request)
    }

    var json: PrintedValue { request.json.adding(known.json) }
    var text: String { request.screen(known) }
}

extension KnownMeeting {
    fileprivate var json: [String: PrintedValue] {
        switch self {
        case .checkedHere(let day): ["knownBy": "meeting-checked-here", "metOn": .string(Moment.day(day))]
        case .comparedHere(let evidence): ["knownBy": "compared-here", "metOn": evidence.day]
        case .statedByThem(let evidence): ["knownBy": "stated-by-them", "metOn": evidence.day]
        case .none: ["knownBy": .null, "metOn": .null]
        }
    }

    /// What the guardian's screen says of how sure the keys are, and who says so.
    fileprivate func words(_ owner: Handle) -> String {
        switch self {
        case .checkedHere(let day): "You met in person on \(Moment.day(day)), checked by this device."
        case .comparedHere(let evidence): "\(evidence.words(owner)) You recorded it on this device."
        case .statedByThem(let evidence):
            "\(evidence.words(owner)) "
                + Paint.output.warning("Stated by them, not proven: this device has no record of it.")
        case .none: Paint.output.warning(MeetingEvidence(kind: .none, date: 0).words(owner))
        }
    }
}

extension MeetingEvidence {
    fileprivate var day: PrintedValue { kind == .person ? .string(Moment.day(of: date)) : .null }
}

extension GuardianRequest {
    fileprivate var json: PrintedValue {
        [
            "claimedName": .string(PrintedValue.printable(guardianCase.request.claimedName)),
            "codeIsReady": .bool(isRevealed), "deviceAdded": .number(newestDevice),
            "handle": .string(guardianCase.owner.description),
            "notBefore": guardianCase.notBefore.map { .number($0) } ?? .null,
            "stage": .string(guardianCase.stage.name),
        ]
    }

    /// The guardian's screen.
    fileprivate func screen(_ known: KnownMeeting) -> String {
        let (owner, paint) = (guardianCase.owner, Paint.output)
        let name = PrintedValue.printable(guardianCase.request.claimedName)
        return """
            \(paint.strong("Recovery request"))
              \(owner) is asking you to help recover their identity.
              \(known.words(owner))
              Asked \(Moment.date(guardianCase.request.created)), from a device that calls itself "\(name)" (claimed, not proven).
              \(activity)
            \(guidance.map { "  " + $0 }.joined(separator: "\n"))
            """
    }

    private var activity: String {
        let owner = guardianCase.owner
        guard followsActivity else { return "If \(owner) still has a working device, call them there first." }
        return Paint.output.warning("They added a device on \(Moment.date(newestDevice)).")
            + " If one of their devices still works, call \(owner) there first."
    }

    private var guidance: [String] {
        let owner = guardianCase.owner
        switch guardianCase.stage {
        case .asked, .numbered, .matched:
            guard isRevealed else {
                return [
                    "Ask \(owner) to run 'signet recover' on the new device; it then shows a code.",
                    "Call them yourself: do not use a number that came with this request.",
                ]
            }
            return [
                "Ask \(owner) to read you the code: three words and two digits.",
                "Right?       signet guardian confirm \(owner) --code \"word word word 42\"",
                "Not them?    signet guardian decline \(owner) --report",
            ]
        case .confirmed:
            guard let notBefore = guardianCase.notBefore else {
                return [
                    "Confirmed. Ask \(owner) to run 'signet recover'; then run 'signet guardian' here:",
                    "the wait of \(Moment.span(UInt64(guardianCase.commitment.delay))) begins when this device "
                        + "sees the request in the log.",
                ]
            }
            return [
                "Confirmed. Your part is sent once the log is past \(Moment.date(notBefore)): run 'signet guardian' a few minutes later."
            ]
        case .released: return ["\(Paint.output.good("✓")) Your part is on its way, sealed to the new device."]
        case .declined: return ["You are not helping with this request."]
        case .stopped: return [Paint.output.bad("One of their devices says that it was not them. You are not helping.")]
        case .reported: return ["You reported that someone is pretending to be \(owner)."]
        }
    }
}

extension GuardianCase.Stage {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .asked: "asked"
        case .numbered: "code-expected"
        case .matched: "code-right"
        case .confirmed: "confirmed"
        case .released: "sent"
        case .declined: "declined"
        case .reported: "reported"
        case .stopped: "stopped"
        }
    }
}
