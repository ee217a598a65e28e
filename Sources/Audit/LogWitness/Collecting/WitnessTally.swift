// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// What has come in of a round so far.
struct WitnessTally {
    typealias Answer = (name: Policy.Name, outcome: WitnessOutcome, line: NoteSignature?)

    private let policy: Policy
    private var outcomes: [Policy.Name: WitnessOutcome] = [:]
    private var lines: [Policy.Name: NoteSignature] = [:]
    private var cosigned: Set<Policy.Name> = []

    /// Begins with the cosignatures that are on the note already.
    init(_ policy: Policy, _ note: SignedNote) {
        self.policy = policy
        for witness in policy.witnesses {
            guard let line = note.signatures.first(where: { $0.isClaimed(by: witness.key) }),
                let time = try? witness.key.verifyCosignature(line, of: note.text)
            else { continue }
            outcomes[witness.name] = .present(time: time)
            cosigned.insert(witness.name)
        }
    }

    /// The witnesses that have not answered, in the policy's order.
    var missing: [Policy.Name] { policy.witnesses.map(\.name).filter { outcomes[$0] == nil } }

    /// Whether no further witness has to be waited for: enough have cosigned, or all have answered.
    var isDecided: Bool { policy.isQuorumMet(by: cosigned) || missing.isEmpty }

    mutating func take(_ answer: Answer) {
        outcomes[answer.name] = answer.outcome
        lines[answer.name] = answer.line
        if answer.line != nil { cosigned.insert(answer.name) }
    }

    var round: WitnessRoundReport {
        let names = policy.witnesses.map(\.name)
        return WitnessRoundReport(
            reports: names.map { .init(name: $0, outcome: outcomes[$0] ?? .late) },
            cosignatures: names.compactMap { lines[$0] }, isQuorumMet: policy.isQuorumMet(by: cosigned))
    }
}
