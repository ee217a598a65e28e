// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog
import VRF

/// A case in the making: an honest answer about alice, in which one thing may then be changed.
struct LookupDraft {
    /// The directory and its people.
    var scene: PaperScene
    /// The handle that is asked for.
    var handle: Handle
    /// What the client has seen of the log.
    var view: LogView?
    /// What the client has seen of the label.
    var history: LabelHead?
    /// The client's clock.
    var now = PaperDirectory.now
    /// What the policy asks for.
    var quorum: Policy.Quorum?
    /// The answer.
    var answer: PaperAnswer
    /// A last change, of the encoded answer.
    var edit: (inout [UInt8]) -> Void = { _ in }

    init(_ scene: PaperScene) throws {
        self.scene = scene
        handle = scene.alice.handle
        answer = try scene.directory.answer(about: scene.alice)
    }

    /// The directory.
    var directory: PaperDirectory {
        get { scene.directory }
        set { scene.directory = newValue }
    }

    /// The case, with the verdict that must follow from how it was made.
    func vector(_ name: String, _ why: String, refusedBy check: LookupCheck?) throws -> LookupVector {
        var bytes = answer.response.encoded
        edit(&bytes)
        let policy = String(decoding: try directory.trust(quorum: quorum).policy.encoded, as: UTF8.self)
        return LookupVector(
            name: name, why: why, handle: handle.description, policy: policy,
            vrfKey: LookupVector.hex(directory.vrf.publicKey.bytes),
            maximumAge: FreshnessRule.standard.maximumAge, clockSkew: FreshnessRule.standard.clockSkew,
            now: now, knownLog: view.map { Self.known($0) },
            knownLabel: history.map { .init(count: $0.count, root: LookupVector.hex($0.root.bytes)) },
            answer: LookupVector.hex(bytes),
            verdict: try check.map { .init(outcome: "refused", check: "\($0)") } ?? accepted())
    }

    /// What an honest answer says, by the way it was made.
    private func accepted() throws -> LookupVector.Verdict {
        let (size, count) = (directory.tree.size, answer.head.count)
        if answer.absence != nil { return .init(outcome: "absent", size: size) }
        switch answer.step {
        case .closed(let version): return .init(outcome: "closed", version: version, count: count, size: size)
        case .state(_, _, let encoded):
            let state = try AccountState(decodingWithKeys: encoded)
            return .init(
                outcome: "registered", version: state.version, count: count, state: LookupVector.hex(state.hash),
                size: size)
        }
    }

    private static func known(_ view: LogView) -> LookupVector.View {
        LookupVector.View(
            origin: String(decoding: view.origin.bytes, as: UTF8.self), size: view.head.size,
            root: LookupVector.hex(view.head.root.bytes),
            epoch: view.epoch.map { .init(number: $0.number, time: $0.time) })
    }
}

/// The honest directory from which each case starts.
struct LookupVectorBench {
    let scene: PaperScene

    init() throws { scene = try PaperScene(deviceCount: 1, recorded: LookupVectorSignatures.table()) }

    /// A case that must be accepted.
    func good(
        _ name: String, _ covers: String, _ change: (inout LookupDraft) throws -> Void
    ) throws -> LookupVector {
        var draft = try LookupDraft(scene)
        try change(&draft)
        return try draft.vector(name, covers, refusedBy: nil)
    }

    /// A case with one fault.
    func bad(
        _ check: LookupCheck, _ name: String, _ fault: String, _ change: (inout LookupDraft) throws -> Void
    ) throws -> LookupVector {
        var draft = try LookupDraft(scene)
        try change(&draft)
        return try draft.vector("\(check)-\(name)", fault, refusedBy: check)
    }

    /// The same client's view and memory of alice as of now.
    func known() throws -> LabelHead { try scene.directory.history(scene.alice.handle) }
}
