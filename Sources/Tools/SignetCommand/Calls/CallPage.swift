// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling
import KeyTransparency
import Signet
import SignetCalls
import Synchronization

/// What a person, or a program, sees of a running call: a line for each member every second, and what goes wrong by name.
struct CallPage: Sendable {
    let people: CallPeople
    /// What the user compared with those they named.
    let compared: [Handle: ComparisonState]
    private let call: GroupCall
    private let output: OutputOptions
    private let block = LiveBlock()
    /// The thirty digits, for the block: on a screen that scrolls they are read where they were said.
    private let code = CallCodeShown()

    init(
        _ call: GroupCall, _ people: CallPeople, _ compared: [Handle: ComparisonState], _ output: OutputOptions
    ) {
        self.call = call
        self.people = people
        self.compared = compared
        self.output = output
    }

    /// Says with whom keys were compared, and with whom not.
    func showPeople() {
        guard !output.json else { return }
        for (handle, state) in compared.sorted(by: { $0.key.description < $1.key.description }) {
            Output.line("  \(state.words(handle))")
        }
    }

    func showName() {
        let name = CallName.text(call.callID)
        output.emit(["call": .string(name)], "call \(name)\n  others join with: signet call join \(name) --with HANDLE")
    }

    func show(isOver: Bool = false) async {
        let tally = await call.tally
        let epoch = await call.epoch.map { Self.text($0.generation, $0.step) }
        let isHost = await call.isHost
        let members = tally.members.sorted { $0.key < $1.key }
        if output.json {
            Output.json(json(tally, members, epoch, isHost: isHost, isOver: isOver))
        } else {
            block.draw(lines(tally, members, epoch, isHost: isHost, isOver: isOver))
            if isOver { block.finish() }
        }
    }

    /// Says what a person should do with what they typed.
    func typed(_ complaint: String? = nil) {
        block.noteTyped()
        if let complaint { block.say(complaint) }
    }

    func showRinging(_ handles: [Handle]) {
        guard !output.json else { return }
        block.say("  ringing \(handles.map(\.description).joined(separator: ", "))")
    }

    /// Says what a person should know at once; programs find it in the counts.
    func tell(_ notice: CallNotice) {
        if output.json, case .rung(let handle, let outcome) = notice {
            Output.json(["outcome": .string(outcome.name), "rung": .string("\(handle)")])
        }
        if output.json, case .denied(let count, let device, let holders) = notice {
            Output.json([
                "deniedBy": .string(name(device)), "frames": .number(UInt64(count)),
                "keyHolders": holders.map { .array($0.map { .string(name($0)) }) } ?? .null,
            ])
        }
        guard !output.json, let saying = notice.saying(naming: known) else { return }
        if case .code(let digits) = notice { code.set(CallSaying.grouped(digits)) }
        block.say(saying.painted)
    }

    private func lines(
        _ tally: CallTally, _ members: [(key: CallDevice, value: MemberTally)], _ epoch: String?, isHost: Bool,
        isOver: Bool
    ) -> [String] {
        let own =
            "  you\(isHost ? ", the host" : "")  epoch \(epoch ?? "-")  sent \(tally.sent)  withheld \(tally.withheld)"
            + "  recovered \(tally.recoveries.count)"
        let lines = members.map { device, member in
            "  \(name(device))  epoch \(member.epoch.map { Self.text($0.generation, $0.step) } ?? "-")"
                + "  frames \(member.frames)  lost \(member.lost)  held \(member.held)"
                + "  not opened \(member.undecryptable)"
                + (member.denied > 0 ? "  forged \(member.denied)" : "")
                + (member.unconfirmed > 0 ? "  unconfirmed \(member.unconfirmed)" : "")
                + (member.replayed > 0 ? "  repeated \(member.replayed)" : "")
        }
        let end =
            isOver
            ? ["  \(tally.undecryptable) of \(tally.frames + tally.undecryptable) frames could not be opened"] : []
        let digits = block.isLive ? code.text.map { ["  code \($0)"] } ?? [] : []
        return digits + [own] + lines + end
    }

    private func json(
        _ tally: CallTally, _ members: [(key: CallDevice, value: MemberTally)], _ epoch: String?, isHost: Bool,
        isOver: Bool
    ) -> PrintedValue {
        [
            "epoch": epoch.map { PrintedValue.string($0) } ?? .null, "forkMet": .bool(tally.isForked),
            "frames": .number(UInt64(tally.frames)),
            "generations": .number(UInt64(tally.generations.count)), "isHost": .bool(isHost), "isOver": .bool(isOver),
            "participants": .array(members.map { json($0.key, $0.value) }),
            "recovered": .number(UInt64(tally.recoveries.count)),
            "recoveryMs": .number(tally.recoveries.sorted().dropFirst(tally.recoveries.count / 2).first ?? 0),
            "refusals": .number(UInt64(tally.refusals)), "sent": .number(UInt64(tally.sent)),
            "undecryptable": .number(UInt64(tally.undecryptable)), "withheld": .number(UInt64(tally.withheld)),
        ]
    }

    private func json(_ device: CallDevice, _ member: MemberTally) -> PrintedValue {
        [
            "compared": .bool(people[device].flatMap { compared[$0.handle]?.comparison } != nil),
            "denied": .number(UInt64(member.denied)),
            "epoch": member.epoch.map { PrintedValue.string(Self.text($0.generation, $0.step)) } ?? .null,
            "frames": .number(UInt64(member.frames)), "held": .number(UInt64(member.held)),
            "forged": .number(UInt64(member.forged)), "lost": .number(UInt64(member.lost)),
            "notEntitled": .number(UInt64(member.notEntitled)),
            "participant": .string(name(device)), "replayed": .number(UInt64(member.replayed)),
            "unconfirmed": .number(UInt64(member.unconfirmed)),
            "undecryptable": .number(UInt64(member.undecryptable)),
        ]
    }

    private func name(_ device: CallDevice) -> String { known(device) ?? "someone" }

    /// Nil for this device, and for one of no one in the call.
    private func known(_ device: CallDevice) -> String? {
        people[device].map { "\($0.handle)/\($0.deviceNumber)" }
    }

    private static func text(_ generation: UInt32, _ step: UInt8) -> String { "\(generation).\(step)" }
}

/// The thirty digits that were said last.
final class CallCodeShown: Sendable {
    private let digits = Mutex<String?>(nil)

    var text: String? { digits.withLock { $0 } }

    func set(_ text: String) { digits.withLock { $0 = text } }
}
