// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import Signet
import TransparencyLog
import VRF
import VerifiableMap

/// The values that each check compared, for `--explain`.
enum LookupFacts {
    typealias Fact = (String, String)

    /// Of a lookup that was verified.
    static func proven(_ answer: LookupAnswer, _ check: LookupCheck, _ trust: DirectoryTrust) -> [Fact] {
        let (epoch, checkpoint) = (answer.epoch, answer.epoch.checkpoint)
        let head = checkpoint.checkpoint.head
        return switch check {
        case .envelope: [("form", "signet-lookup/v2")]
        case .vrf: label(answer) + [("VRF key", base64(trust.vrfKey.bytes))]
        case .accountState: account(answer)
        case .checkpointText: [("size", "\(head.size)"), ("root", base64(head.root.bytes))]
        case .origin: [("origin", PrintedValue.printable(checkpoint.checkpoint.origin.bytes))]
        case .logSignature: [("signer", PrintedValue.printable(checkpoint.log.encoded))]
        case .cosignatures:
            checkpoint.cosignatures.map {
                ("witness \(PrintedValue.printable($0.name.bytes))", "at \(Moment.date($0.time))")
            }
        case .epoch: describe(epoch.record)
        case .index: [("index root", base64(epoch.record.root.bytes)), ("labels", "\(epoch.record.labelCount)")]
        case .history: history(answer)
        case .inclusion: inclusion(answer)
        case .freshness: [("age", "\(epoch.age) s"), ("allowed", "\(trust.freshness.maximumAge) s")]
        case .consistency:
            [
                ("known before", answer.known.map(describe) ?? "nothing: this was the first visit"),
                ("known now", describe(epoch.view)),
            ]
        }
    }

    private static func label(_ answer: LookupAnswer) -> [Fact] {
        switch answer {
        case .registered(let verdict): [("label", base64(verdict.lookup.label.bytes))]
        case .absent(let absence, _): [("label", base64(absence.label.bytes))]
        case .closed: []
        }
    }

    private static func account(_ answer: LookupAnswer) -> [Fact] {
        switch answer {
        case .registered(let verdict):
            [
                ("version", "\(verdict.version)"), ("state hash", base64(verdict.stateHash)),
                ("identity key", base64(verdict.lookup.state.identityKey)),
            ]
        case .closed(let closure, _): [("closed at version", "\(closure.version)")]
        case .absent: [("account", "none")]
        }
    }

    private static func history(_ answer: LookupAnswer) -> [Fact] {
        switch answer {
        case .registered(let verdict): describe(verdict.lookup.history)
        case .closed(let closure, _): describe(closure.history)
        case .absent: [("entries of this handle", "0")]
        }
    }

    private static func inclusion(_ answer: LookupAnswer) -> [Fact] {
        guard case .registered(let verdict) = answer else { return [] }
        let lookup = verdict.lookup
        return [
            ("account at index \(lookup.inclusion.index)", base64(TreeHash.leaf(lookup.record.entry).bytes))
        ]
    }

    /// Of an answer that was refused: what it claims. Nothing of it may be believed.
    static func received(_ refusal: LookupRefusal, _ check: LookupCheck) -> [Fact] {
        let claimed = try? LookupResponse(decoding: refusal.response)
        switch (check, claimed) {
        case (.envelope, _): return [("bytes received", "\(refusal.response.count)")]
        case (.consistency, _):
            guard case .consistency(let contradiction) = refusal.error else { return [] }
            return [("known", describe(contradiction.known)), ("received", describe(contradiction.received))]
        case (.checkpointText, let claimed?), (.origin, let claimed?), (.logSignature, let claimed?):
            guard let note = try? SignedNote(decoding: claimed.note) else { return [] }
            return [("claimed", PrintedValue.printable(note.text.map { $0 == 10 ? UInt8(ascii: "|") : $0 }))]
        case (.epoch, let claimed?): return describe(claimed.epoch)
        case (.index, let claimed?): return [("claimed index root", base64(claimed.epoch.root.bytes))]
        case (.history, let claimed?): return claimed.label.map { describe($0.head) } ?? []
        case (.inclusion, let claimed?):
            return claimed.label.map { [("claimed index of the account", "\($0.inclusion.index)")] } ?? []
        case (.freshness, _): return [("this device's clock", Moment.date(refusal.time))]
        default: return []
        }
    }

    static func describe(_ view: LogView) -> String {
        "size \(view.head.size), root \(base64(view.head.root.bytes))"
    }

    private static func describe(_ record: EpochRecord) -> [Fact] {
        [("epoch", "\(record.number)"), ("ended", Moment.date(record.time / 1000))]
    }

    private static func describe(_ history: LabelHead) -> [Fact] {
        [("entries of this handle", "\(history.count)"), ("their root", base64(history.root.bytes))]
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes), as: UTF8.self)
    }
}

extension LookupResponse {
    /// What it says of the label, if it says that there is one.
    fileprivate var label: LabelAnswer? {
        guard case .present(let label) = answer else { return nil }
        return label
    }
}
