// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet

/// The page for programs.
extension LookupPage {
    func json(isExplained: Bool) -> PrintedValue {
        let checks = marks.map { check, mark -> PrintedValue in
            var members: [String: PrintedValue] = ["check": .string(check.name)]
            switch mark {
            case .passed: members["result"] = "passed"
            case .failed(let sentence):
                members["result"] = "failed"
                members["reason"] = .string(sentence.what)
            case .notReached: members["result"] = "not reached"
            }
            if isExplained {
                members["values"] = .object(
                    Dictionary(facts(check).map { ($0.0, .string($0.1)) }) { first, _ in first })
            }
            return .object(members)
        }
        var page: [String: PrintedValue] = [
            "checks": .array(checks), "handle": .string(handle.description),
            "outcome": .string(answer?.name ?? "refused"), "usable": .bool(verdict?.keys != nil),
        ]
        if let epoch = answer?.epoch {
            page["age"] = .number(epoch.age)
            page["epoch"] = .number(epoch.record.number)
            page["outsideWitnesses"] = .array(outsideWitnesses.map { .string($0) })
        }
        if case .closed(let closure, _) = answer { page["version"] = .number(closure.version) }
        if let verdict {
            page.merge(Self.json(verdict)) { first, _ in first }
            if !verdict.isOwn { page.merge(comparison.json) { first, _ in first } }
            if case .changed(let change) = verdict.outcome, change.identityKeyChanged, comparison.comparison != nil {
                page["comparedIdentityChanged"] = true
            }
        }
        if isExplained { page["unproven"] = .array(unproven.map { .string($0) }) }
        return .object(page)
    }

    private static func json(_ verdict: LookupVerdict) -> [String: PrintedValue] {
        var members: [String: PrintedValue] = [
            "firstContact": .bool(verdict.isFirstContact), "stateHash": .base64(verdict.stateHash),
            "version": .number(verdict.version),
        ]
        if let keys = verdict.keys {
            members["devices"] = .array(
                keys.devices.map { ["key": .base64($0.keys.signing), "number": .number(UInt64($0.number))] })
        }
        if case .changed(let change) = verdict.outcome {
            members["change"] = .string(change.words)
            if change.identityKeyChanged {
                members["identity"] = .string(
                    change.isRecovery ? "recovered" : change.identity == .rushed ? "rushed" : "unexplained")
            }
        }
        return members
    }

    /// The values that a check compared: of a verified lookup, or as received of a refused one.
    func facts(_ check: LookupCheck) -> [(String, String)] {
        if let answer { return LookupFacts.proven(answer, check, session.profile.trust) }
        return refusal.map { LookupFacts.received($0, check) } ?? []
    }
}
