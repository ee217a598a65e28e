// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
import TransparencyLog
import VRF
import VerifiableMap

/// Makes up the lies. A lie about an account is kept once it is made up, so that it does not contradict itself.
actor Forger {
    private var cases: [Handle: Case] = [:]
    /// The second log of ``Attack/forkedWitness``, which is the same for all victims.
    private var second: InventedLog?

    /// An account that is lied about.
    struct Case {
        let impostor: Impostor
        var log: InventedLog
        /// What the forged log's last entry under the label shows.
        var step: LabelAnswer.Step
        /// The state that the case began with, and the steps of a made-up recovery, as histories show them.
        var shown: [(version: UInt64, entry: HistoryResponse.Entry)] = []
    }

    func lie(
        about request: LookupRequest, _ answer: LookupResponse, for liar: LyingDirectory
    ) async throws -> [UInt8] {
        switch liar.attack {
        case .garbage: return (0..<4096).map { _ in UInt8.random(in: 0...255) }
        case .errorPage: return Array("<!doctype html><title>502 Bad Gateway</title>".utf8)
        case .truncated: return Array(answer.encoded.dropLast(17))
        case .surplus: return answer.encoded + Array("surplus\n".utf8)
        case .oversized: return answer.encoded + Array(repeating: 0, count: 4 * LookupResponse.maximumByteCount)
        default: return try await forge(request, answer, liar).encoded
        }
    }

    private func forge(
        _ request: LookupRequest, _ answer: LookupResponse, _ liar: LyingDirectory
    ) async throws -> LookupResponse {
        switch liar.attack {
        case .editedRoot, .editedSize, .otherLogKey, .unknownCosigners, .staleCheckpoint, .futureCheckpoint:
            return answer.with(note: try liar.falseNote(answer.note))
        case .swappedKey, .omittedDevice, .oldState, .deniedAccount, .inventedAccount, .oldIndexRoot:
            return try await edit(answer, request, liar)
        default: return try await tell(request, answer, liar).lookup
        }
    }

    /// What the forged log says about an account.
    private func tell(
        _ request: LookupRequest, _ answer: LookupResponse, _ liar: LyingDirectory
    ) async throws -> (lookup: LookupResponse, label: LabelIndex, forged: Case) {
        let known = try await forgery(request, answer, liar)
        let (hash, proof) = try liar.keys.vrf.prove(liar.subject(of: request).vrfInput)
        let label = LabelIndex(hash)
        let lookup = try known.log.answer(
            to: request, about: label, proof, step: known.step,
            note: liar.sign(known.log.tree.head(size: known.log.tree.size)))
        return (lookup, label, known)
    }

    /// The history in the forged log. Of its states, it shows the last one and those that belong to a made-up recovery.
    func history(
        _ request: HistoryRequest, _ answer: LookupResponse, for liar: LyingDirectory
    ) async throws -> HistoryResponse {
        let (lookup, label, forged) = try await tell(request.lookup, answer, liar)
        let (entries, known) = (forged.log.entries(of: label), request.lookup.knownCount)
        let recovery = entries.enumerated().filter { forged.isOfRecovery($1) && $0 >= known }
        let steps = try recovery.map { try forged.log.loggedStep(UInt64($0.offset) + 1, of: label) }
        // A recovery has to follow from the state before it.
        let honest = steps.isEmpty ? [] : try await liar.directory.history(request).entries
        let asked = entries.dropFirst(Int(known)).dropLast().dropFirst(honest.count)
        return HistoryResponse(
            lookup: lookup.encoded, steps: steps, entries: honest + asked.compactMap { forged.entry($0) })
    }

    // MARK: The honest log, and something else said of it

    private func edit(
        _ answer: LookupResponse, _ request: LookupRequest, _ liar: LyingDirectory
    ) async throws -> LookupResponse {
        let impostor = try Impostor()
        switch liar.attack {
        case .swappedKey:
            return try answer.with(step: impostor.step(impostor.state(as: request.handle), kind: .set))
        case .omittedDevice: return try answer.with(step: answer.stepWithoutLastDevice)
        case .oldState:
            let place = try answer.label.inclusion.index
            let old = try await liar.directory.lookup(request, stateWithin: place)
            return try answer.with(step: old.label.step)
        case .deniedAccount:
            let nobody = try LabelIndex(liar.keys.vrf.prove(Array("nobody".utf8)).hash)
            return answer.with(answer: .absent(try await InventedLog(of: liar.directory.log).absence(of: nobody)))
        case .inventedAccount:
            let state = try impostor.state(as: request.handle)
            return answer.with(answer: .present(try answer.label(inventing: impostor.step(state, kind: .set))))
        default:
            guard let old = try await InventedLog(of: liar.directory.log).records.first else {
                throw ForgeryError.noEpoch
            }
            return answer.with(epoch: old)
        }
    }

    // MARK: Another log

    private func forgery(
        _ request: LookupRequest, _ answer: LookupResponse, _ liar: LyingDirectory
    ) async throws -> Case {
        if let known = cases[request.handle] { return known }
        let made = try await makeUp(request, answer, liar)
        cases[request.handle] = made
        return made
    }

    private func makeUp(
        _ request: LookupRequest, _ answer: LookupResponse, _ liar: LyingDirectory
    ) async throws -> Case {
        let handle = request.handle
        // The size that the client knows: the real log may have grown since.
        let size = request.knownSize == 0 ? UInt64.max : request.knownSize
        let impostor = try Impostor()
        let real = liar.directory.log
        let label = try liar.keys.vrf.prove(handle.vrfInput).hash
        let other = try liar.keys.vrf.prove(Array("not what everybody else sees".utf8)).hash
        let filler: [LogEntry] = [
            .device(impostor.leaf(other)),
            .state(impostor.record(try impostor.state(as: handle), other, kind: .set)),
        ]
        switch liar.attack {
        case .rollback:
            let log = try await InventedLog(of: real, size: answer.label.inclusion.index + 1)
            return Case(impostor: impostor, log: log, step: try answer.label.step)
        case .splitView:
            return Case(
                impostor: impostor, log: try await InventedLog(of: real, after: filler), step: try answer.label.step)
        case .frozenView:
            let log = try await InventedLog(of: real, size: size, earlier: 2 * 3600 * 1000)
            return Case(impostor: impostor, log: log, step: try answer.label.step)
        case .forkedWitness:
            if let second { return Case(impostor: impostor, log: second, step: try answer.label.step) }
            let log = try await InventedLog(of: real, size: size) { entry in
                guard case .device(let leaf) = entry else { return entry }
                return .device(impostor.leaf(leaf.label))
            }
            second = log
            return Case(impostor: impostor, log: log, step: try answer.label.step)
        default:
            var made = Case(impostor: impostor, log: try await InventedLog(of: real), step: try answer.label.step)
            if let conspiracy = liar.conspiracy {
                try await made.extend(by: conspiracy, label, at: liar.clock())
            } else {
                try made.extend(liar.attack, handle, label, filler, at: liar.clock() * 1000)
            }
            return made
        }
    }
}

extension Forger.Case {
    /// What a history shows of an entry.
    fileprivate func entry(_ entry: LogEntry) -> HistoryResponse.Entry? {
        switch entry {
        case .device(let leaf): .device(leaf.publicKey)
        case .state(let record):
            shown.first { $0.version == record.version }?.entry
                ?? .withheld(record.kind, version: record.version, record.commitment)
        case .epoch, .succession, .predecessor: nil
        }
    }

    fileprivate func isOfRecovery(_ entry: LogEntry) -> Bool {
        guard case .state(let record) = entry,
            case .state(_, _, let encoded) = shown.first(where: { $0.version == record.version })?.entry
        else { return false }
        return AccountState.isOfRecovery(encoded)
    }

    /// Extends the real log in a dishonest way.
    fileprivate mutating func extend(
        _ attack: Attack, _ handle: Handle, _ label: VRFHash, _ filler: [LogEntry], at time: UInt64
    ) throws {
        guard case .state(_, _, let encoded) = step,
            case .state(let last) = log.entries(of: LabelIndex(label)).last
        else { throw ForgeryError.noTarget }
        let victim = try AccountState(decodingWithKeys: encoded)
        switch attack {
        case .replacedAccount:
            let state = try impostor.state(after: victim)
            add(impostor.leaf(label), impostor.record(state, label, kind: .reset))
            step = impostor.step(state, kind: .reset)
        case .foreignIdentity:
            let state = try impostor.state(takingOver: victim)
            for device in victim.devices { log.add(.device(DeviceLeaf(label: label, device: device.keys))) }
            log.add(.state(impostor.record(state, label, kind: .reset)))
            step = impostor.step(state, kind: .reset)
        case .hiddenDevice: add(impostor.leaf(label), last)
        case .flashKey:
            add(impostor.leaf(label), impostor.record(try impostor.state(after: victim), label, kind: .reset))
            try log.close(at: time)
            log.add(.state(last))
        case .wrongStep:
            log.add(.state(impostor.record(try impostor.state(after: victim, skipping: 1), label, kind: .reset)))
            log.add(.state(last))
        default: for entry in filler { log.add(entry) }
        }
        let day: UInt64 = 86_400_000
        switch attack {
        case .missingEpochRecord: return
        case .erasedLabel: try log.close(at: time, hiding: [LabelIndex(label).key])
        case .futureEpoch: try log.close(at: time + day)
        default: try log.close(at: time)
        }
    }

    /// Guardians help: the identity is taken over by the rules, but the owner has no time to object.
    fileprivate mutating func extend(by conspiracy: Conspiracy, _ label: VRFHash, at now: UInt64) async throws {
        guard case .state(let kind, let opening, let encoded) = step else { throw ForgeryError.noTarget }
        let victim = try AccountState(decoding: encoded)
        let steps = try await conspiracy.takeOver(victim, at: now)
        log.add(.state(impostor.record(steps.request, label, kind: .set)))
        try log.close(at: now * 1000)
        for device in steps.takeover.devices { log.add(.device(DeviceLeaf(label: label, device: device.keys))) }
        log.add(.state(impostor.record(steps.takeover, label, kind: .set)))
        try log.close(at: now * 1000 + 1)
        shown = [(victim.version, .state(kind, opening: opening, encoded: encoded))]
        for state in [steps.request, steps.takeover] {
            shown.append((state.version, .state(.set, opening: impostor.opening, encoded: state.encoded)))
        }
        step = impostor.step(steps.takeover, kind: .set)
    }

    private mutating func add(_ leaf: DeviceLeaf, _ record: StateRecord) {
        log.add(.device(leaf))
        log.add(.state(record))
    }
}

extension LyingDirectory {
    /// The account that the answer is really about.
    fileprivate func subject(of request: LookupRequest) throws -> Handle {
        attack == .anotherUsersLabel ? try Handle(typed: Array("mallory@example.org".utf8)) : request.handle
    }

    /// A checkpoint under any head, signed with all of the server's keys.
    fileprivate func sign(
        _ head: TreeHead, at time: UInt64? = nil, by signer: NoteSigner? = nil, cosigners: [NoteSigner]? = nil
    ) throws -> [UInt8] {
        let signer = signer ?? keys.log
        let text = try Checkpoint(origin: signer.verifierKey.name, head: head).text
        let time = time ?? clock()
        let cosignatures = try (cosigners ?? keys.cosigners).map { try $0.cosign(text, time: time) }
        return try SignedNote(text: text, signatures: [signer.sign(text)] + cosignatures).encoded
    }

    /// Another note in place of the honest one.
    fileprivate func falseNote(_ note: [UInt8]) throws -> [UInt8] {
        let head = directory.log.published.head
        let seed = Array(repeating: UInt8(0x66), count: 32)
        switch attack {
        case .editedRoot: return try edited(note, head: TreeHead(size: head.size, root: .emptyTree))
        case .editedSize: return try edited(note, head: TreeHead(size: head.size + 1, root: head.root))
        case .otherLogKey:
            return try sign(
                head, by: NoteSigner(name: keys.log.verifierKey.name, algorithm: .ed25519, seed: seed))
        case .unknownCosigners:
            let strangers = try keys.cosigners.map {
                try NoteSigner(name: $0.verifierKey.name, algorithm: $0.verifierKey.algorithm, seed: seed)
            }
            return try sign(head, cosigners: strangers)
        case .staleCheckpoint: return try sign(head, at: clock() - 2 * 86_400)
        default: return try sign(head, at: clock() + 86_400)
        }
    }

    /// Another head over the signatures of the honest note.
    private func edited(_ note: [UInt8], head: TreeHead) throws -> [UInt8] {
        let honest = try SignedNote(decoding: note)
        let text = try Checkpoint(origin: keys.log.verifierKey.name, head: head).text
        return try SignedNote(text: text, signatures: honest.signatures).encoded
    }
}
