// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import KeyTransparency
import Signet
import SignetCalls

/// What a person, or a program, sees of calls that ring.
struct RingPage: Sendable {
    private let output: OutputOptions
    private let hook: RingHook?

    init(_ output: OutputOptions, _ hook: RingHook?) {
        self.output = output
        self.hook = hook
    }

    func waiting() { output.emit(["waiting": true], "Waiting for calls.") }

    func explain() {
        Output.error("  type 'accept' or 'decline', with the caller's handle if several ring")
    }

    func show(_ event: RingEvent) {
        run(event)
        if output.json {
            if let json = event.json { Output.json(json) }
        } else if let line = event.sentence {
            Output.line(line)
        }
    }

    func answered(_ call: IncomingCall, _ answer: RingAnswer.Answer) {
        hook?.run("stopped", call)
        guard !output.json, answer == .decline else { return }
        Output.line("  you declined the call from \(call.caller)")
    }

    private func run(_ event: RingEvent) {
        switch event {
        case .ringing(let call): hook?.run("ringing", call)
        case .stopped(let call, .over): hook?.run("missed", call)
        case .stopped(let call, _): hook?.run("stopped", call)
        case .missed(let caller): hook?.missed("\(caller)")
        case .busy, .refused, .unproven, .contradicted, .forkMet: break
        }
    }
}

extension RingEvent {
    /// For a person; nil where there is nothing to say: of strangers, and of what was heard before.
    var sentence: String? {
        switch self {
        case .ringing(let call):
            "\(Paint.output.strong("\(call.caller)")) is calling\(call.company). Type 'accept' or 'decline'."
                + (call.hasChanged
                    ? "\n  "
                        + Paint.output.warning(
                            "Their keys have changed since you accepted them: it may be someone else. You will "
                                + "be asked before you join."
                        )
                    : "")
        case .stopped(let call, .over): "  you missed a call from \(call.caller)"
        case .stopped(let call, .acceptedElsewhere): "  the call from \(call.caller) was answered on another device"
        case .stopped(let call, .declinedElsewhere): "  the call from \(call.caller) was declined on another device"
        case .missed(let caller): "  you missed a call from \(caller)"
        case .busy(let caller, _): "  \(caller) called, and was told that you are in a call"
        case .refused(.tooOften, let caller?): "  \(caller) rings too often, and is ignored for some minutes"
        case .refused: nil
        case .unproven(let caller, _):
            "  someone is ringing as \(caller), but the directory does not prove that it is them"
        case .contradicted(let caller):
            Paint.output.bad(
                "  ALARM: someone is ringing as \(caller), about whom the directory contradicts what it proved before")
        case .forkMet(let caller):
            Paint.output.bad(
                "  ALARM: \(caller) is calling, but the directory showed them a different log from yours: it "
                    + "does not ring. "
                    + "'signet evidence list' shows the proof")
        }
    }

    /// For a program; nil where there is nothing to say.
    var json: PrintedValue? {
        switch self {
        case .ringing(let call):
            [
                "call": .string(CallName.text(call.ring.callID)), "caller": .string("\(call.caller)"),
                "hasChanged": .bool(call.hasChanged), "ring": "ringing",
            ]
        case .stopped(let call, let reason):
            ["caller": .string("\(call.caller)"), "ring": .string(reason == .over ? "missed" : "answeredElsewhere")]
        case .missed(let caller): ["caller": .string("\(caller)"), "ring": "missed"]
        case .busy(let caller, _): ["caller": .string("\(caller)"), "ring": "busy"]
        case .unproven(let caller, _): ["caller": .string("\(caller)"), "ring": "unproven"]
        case .contradicted(let caller): ["caller": .string("\(caller)"), "ring": "contradicted"]
        case .forkMet(let caller): ["caller": .string("\(caller)"), "ring": "forkMet"]
        case .refused(.tooOften, let caller?): ["caller": .string("\(caller)"), "ring": "tooOften"]
        case .refused: nil
        }
    }
}

extension IncomingCall {
    /// Who else may be in it.
    fileprivate var company: String {
        let others = people.filter { $0 != caller }
        return others.isEmpty ? "" : ", with " + others.map(\.description).joined(separator: ", ")
    }
}

extension RingOutcome {
    func sentence(_ handle: Handle) -> String {
        switch self {
        case .accepted: "  \(handle) answered"
        case .declined: "  \(handle) declined"
        case .busy: "  \(handle) is in another call"
        case .missed: "  \(handle) did not answer"
        }
    }

    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .accepted: "accepted"
        case .declined: "declined"
        case .busy: "busy"
        case .missed: "missed"
        }
    }
}
