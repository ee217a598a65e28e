import CanonicalCoding
import KeyTransparency
import SignetClient
import TransparencyLog
import VRF

/// The values that each check compared, for `--explain`.
enum LookupFacts {
    typealias Fact = (String, String)

    /// Of a lookup that was verified.
    static func proven(_ verdict: LookupVerdict, _ check: LookupCheck, _ trust: DirectoryTrust) -> [Fact] {
        let lookup = verdict.lookup
        let head = lookup.checkpoint.checkpoint.head
        return switch check {
        case .envelope: [("form", "signet-lookup/v1")]
        case .vrf:
            [("label", base64(lookup.label.bytes)), ("VRF key", base64(trust.vrfKey.bytes))]
        case .accountState:
            [
                ("version", "\(lookup.state.version)"), ("state hash", base64(lookup.state.hash)),
                ("identity key", base64(lookup.state.identityKey)),
            ]
        case .leaves: [("entries to prove", "\(lookup.leaves.count)")]
        case .checkpointText: [("size", "\(head.size)"), ("root", base64(head.root.bytes))]
        case .origin: [("origin", JSONValue.printable(lookup.checkpoint.checkpoint.origin.bytes))]
        case .logSignature: [("signer", JSONValue.printable(lookup.checkpoint.log.encoded))]
        case .cosignatures:
            lookup.checkpoint.cosignatures.map {
                ("witness \(JSONValue.printable($0.name.bytes))", "at \(Moment.date($0.time))")
            }
        case .inclusion:
            zip(lookup.leaves, names(lookup)).map { leaf, name in
                ("\(name) at index \(leaf.inclusion.index)", base64(TreeHash.leaf(leaf.entry).bytes))
            }
        case .freshness:
            [("age", "\(lookup.age) s"), ("allowed", "\(trust.freshness.maximumAge) s")]
        case .consistency:
            [
                ("known before", verdict.known.map(describe) ?? "nothing: this was the first visit"),
                ("known now", describe(lookup.view)),
            ]
        }
    }

    /// Of an answer that was refused: what it claims. Nothing of it is to be believed.
    static func received(_ refusal: LookupRefusal, _ check: LookupCheck) -> [Fact] {
        let claimed = try? LookupResponse(decoding: refusal.response)
        switch (check, claimed) {
        case (.envelope, _): return [("bytes received", "\(refusal.response.count)")]
        case (.consistency, _):
            guard case .consistency(let contradiction) = refusal.error else { return [] }
            return [("known", describe(contradiction.known)), ("received", describe(contradiction.received))]
        case (.checkpointText, let claimed?), (.origin, let claimed?), (.logSignature, let claimed?):
            guard let note = try? SignedNote(decoding: claimed.note) else { return [] }
            return [("claimed", JSONValue.printable(note.text.map { $0 == 10 ? UInt8(ascii: "|") : $0 }))]
        case (.inclusion, let claimed?):
            return [("claimed index of the account", "\(claimed.stateInclusion.index)")]
        case (.freshness, _): return [("this device's clock", Moment.date(refusal.time))]
        default: return []
        }
    }

    static func describe(_ view: LogView) -> String {
        "size \(view.head.size), root \(base64(view.head.root.bytes))"
    }

    private static func names(_ lookup: VerifiedLookup) -> [String] {
        ["account"] + lookup.state.devices.map { "device \($0.number)" }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes), as: UTF8.self)
    }
}
