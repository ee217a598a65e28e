// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling
import KeyTransparency
import Signet
import SignetCalls

/// A sentence about a call, and how loud it is.
struct CallSaying {
    enum Tone { case plain, warning, bad }

    let text: String
    let tone: Tone

    init(_ text: String, _ tone: Tone = .plain) { (self.text, self.tone) = (text, tone) }

    /// For a terminal.
    var painted: String {
        switch tone {
        case .plain: "  \(text)"
        case .warning: Paint.output.warning("  \(text)")
        case .bad: Paint.output.bad("  \(text)")
        }
    }

    /// Five digits at a time.
    static func grouped(_ code: [UInt8]) -> String {
        stride(from: 0, to: code.count, by: 5)
            .map { String(decoding: code[$0..<min($0 + 5, code.count)], as: UTF8.self) }.joined(separator: " ")
    }
}

extension CallNotice {
    /// What a person should know at once; nil where there is nothing to say.
    ///
    /// - Parameter name: names a device of the call; nil for one of no one in it.
    func saying(naming name: (CallDevice) -> String?) -> CallSaying? {
        func named(_ device: CallDevice) -> String { name(device) ?? "someone" }
        switch self {
        case .members(_, let strangers) where !strangers.isEmpty:
            return CallSaying("someone unverified is in the call: nothing is sent while they are", .bad)
        case .members(let members, _):
            return CallSaying("in the call: you" + members.compactMap(name).map { ", \($0)" }.joined())
        case .code(let code):
            return CallSaying("code \(CallSaying.grouped(code))  read it to each other: everyone sees the same code")
        case .failed(let reason, let device):
            return CallSaying("\(device.map(named) ?? "someone"): a frame could not be opened, \(reason.words)")
        case .forged(let device, let forger):
            return CallSaying(
                "\(named(forger)) sends frames in the name of \(device.map(named) ?? "someone"): they are not opened",
                .bad)
        case .denied(let count, let device, let holders):
            return CallSaying(
                "ALARM: forged in the name of \(named(device)): \(Self.frames(count)). "
                    + Self.forgers(of: named(device), holders?.map(named)), .bad)
        case .unconfirmed(let count, let device):
            return CallSaying(
                "not confirmed: \(Self.frames(count)) of \(named(device)); its signatures for them do not arrive",
                .warning
            )
        case .replayed(let count, let device):
            return CallSaying(
                "repeated: \(Self.frames(count)) of \(named(device)) not opened; the network repeats them, or one was forged",
                .warning)
        case .contradicted(let device):
            return CallSaying(
                "\(named(device)) signs two frames with the same number: its signatures for its own frames prove nothing",
                .bad)
        case .recovered(let milliseconds): return CallSaying("a missing key arrived after \(milliseconds) ms")
        case .stranger: return CallSaying("someone whom you did not name asked to join, and was kept out")
        case .revoked(let devices):
            return CallSaying("no longer trusted, and out: \(devices.map(named).joined(separator: ", "))", .warning)
        case .rung(let handle, let outcome): return CallSaying(outcome.sentence(handle))
        case .rang(let event): return event.saying
        case .outside(.removed): return CallSaying("the host has removed this device")
        case .cutOff:
            return CallSaying(
                "the directory no longer serves this device in this call: it says that the device was removed")
        case .outside(.rejoining): return CallSaying("lost touch with the host; joining again")
        case .met(.fork(_), let device):
            return CallSaying(
                "ALARM: the directory showed \(named(device)) a different log from yours; nothing is sent any more",
                .bad)
        case .met(.noProof, let device):
            return CallSaying("the directory does not prove that \(named(device)) and you see the same log", .warning)
        case .met(.oneHistory, _), .met(.otherLog, _), .met(.notCompared, _), .refused, .outside(.left): return nil
        }
    }

    private static func frames(_ count: Int) -> String { count == 1 ? "1 frame" : "\(count) frames" }

    /// What a signature proves: who did not send it. The rest is who else could.
    private static func forgers(of name: String, _ holders: [String]?) -> String {
        let otherwise = "\(name) denies what it sent"
        if let holders, holders.isEmpty { return "No one else here has the key: \(otherwise), or a key leaked" }
        let names = holders ?? ["someone with the key"]
        let forgers = names.count == 1 ? names[0] : "one of \(names.joined(separator: ", "))"
        return "By \(forgers) and the relay, or \(otherwise)"
    }
}

extension FrameDropReason {
    fileprivate var words: String {
        switch self {
        case .notAuthentic: "it does not match its key"
        case .expired: "its key was wiped, as it must be"
        case .keyMissing: "its key did not arrive in time"
        case .noRoom: "too many frames are waiting for keys"
        case .anotherSender: "someone else in the call sent it in this name"
        case .replayed: "a frame with the same number arrived before"
        case .malformed, .outside, .own, .notEntitled: "it was not meant for this device"
        }
    }
}

extension RingEvent {
    /// For a person; nil where there is nothing to say: of strangers, and of what was heard before.
    var saying: CallSaying? {
        switch self {
        case .ringing(let call):
            CallSaying(
                "\(call.caller) is calling\(call.company)."
                    + (call.hasChanged
                        ? " Their keys have changed since you accepted them: it may be someone else." : ""),
                call.hasChanged ? .warning : .plain)
        case .stopped(let call, .over): CallSaying("you missed a call from \(call.caller)")
        case .stopped(let call, .acceptedElsewhere):
            CallSaying("the call from \(call.caller) was answered on another device")
        case .stopped(let call, .declinedElsewhere):
            CallSaying("the call from \(call.caller) was declined on another device")
        case .missed(let caller): CallSaying("you missed a call from \(caller)")
        case .busy(let caller, _): CallSaying("\(caller) called, and was told that you are in a call")
        case .refused(.tooOften, let caller?):
            CallSaying("\(caller) rings too often, and is ignored for some minutes")
        case .refused: nil
        case .unproven(let caller, _):
            CallSaying("someone is ringing as \(caller), but the directory does not prove that it is them", .warning)
        case .contradicted(let caller):
            CallSaying(
                "ALARM: someone is ringing as \(caller), about whom the directory contradicts what it proved before",
                .bad)
        case .forkMet(let caller):
            CallSaying(
                "ALARM: \(caller) is calling, but the directory showed them a different log from yours: it does not ring. "
                    + "'signet evidence list' shows the proof", .bad)
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
    fileprivate func sentence(_ handle: Handle) -> String {
        switch self {
        case .accepted: "\(handle) answered"
        case .declined: "\(handle) declined"
        case .busy: "\(handle) is in another call"
        case .missed: "\(handle) did not answer"
        }
    }
}
