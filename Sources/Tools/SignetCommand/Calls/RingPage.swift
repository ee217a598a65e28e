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
    /// For a terminal, on which the person types the answer; nil where there is nothing to say.
    var sentence: String? {
        guard case .ringing(let call) = self, let saying else { return saying?.painted }
        let text = saying.text.replacing(
            "\(call.caller)", with: Paint.output.strong("\(call.caller)"), maxReplacements: 1)
        return call.hasChanged
            ? "\(text) Type 'accept' or 'decline': you will be asked before you join."
            : "\(text) Type 'accept' or 'decline'."
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

extension RingOutcome {
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
