// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import TransparencyLog

/// One run of ``LogCandidate/makeObjects(over:_:_:_:witnesses:)``, after the claim.
struct ObjectsRepair {
    let engines: SharedLogEngines
    /// As the claim left it.
    let row: SharedLogRow
    let request: ObjectsRequest
    /// The connection of the claim.
    let link: any SQLDatabase

    /// What is at the path of a note of the log.
    struct FoundNote {
        let path: String
        /// Nil: nothing is there, or something that the log's key has not signed.
        let checkpoint: PublishedCheckpoint?
        /// Nil: nothing is there.
        let tag: ObjectTag?

        var isForeign: Bool { checkpoint == nil && tag != nil }
    }

    var head: TreeHead { row.row.head }

    func run(
        _ configuration: LogConfiguration, _ requirement: @Sendable () throws(SharedLogFault) -> Void,
        _ witnesses: @Sendable (PublishedCheckpoint) async -> [Policy.Name: WitnessWord]
    ) async throws(ObjectsRepairEnd) -> ObjectsReport {
        let replay = try await replayed(configuration.sealing)
        do throws(SharedLogFault) { try requirement() } catch { throw .candidacy(.fault(error)) }
        let published = try published(replay)
        let memory = try await note(at: SharedLogEngines.signedPath)
        let served = try await note(at: SharedLogEngines.checkpointPath)
        if let head = memory.checkpoint?.head { try await requireExtended(head, .secondMemory, replay) }
        if let head = served.checkpoint?.head { try await requireExtended(head, .publishedCheckpoint, replay) }
        if let head = request.shown.flatMap(engines.logSigned)?.head {
            try await requireExtended(head, .thisMachine, replay)
        }
        let newest = [memory.checkpoint, published].compactMap(\.self).max { $0.head.size < $1.head.size } ?? published
        let words = WitnessWords(
            policy: engines.policy, words: await witnesses(newest), disregarded: request.disregarded)
        try await requireExtended(words, askedBy: newest.head, replay)
        let gaps = try await gaps(replay, besides: [memory, served])
        let shown = max(published.head.size, served.checkpoint?.head.size ?? 0)
        var report = ObjectsReport(size: head.size)
        report.isConfirmed = words.areEnough(own: configuration.cosigners.map(\.verifierKey))
        report.silent = words.silent
        report.hasNewMemory = memory.checkpoint.map { $0.head.size < shown } ?? true
        if report.hasNewMemory, !report.isConfirmed {
            let beyond = try await objectsBeyond()
            guard beyond.isEmpty else { throw .objectsBeyond(size: head.size, paths: beyond) }
            guard request.acceptsUnconfirmed else { throw .unconfirmed(silent: words.silent) }
        }
        try await fill(gaps, replay, &report)
        if memory.checkpoint?.head != head { try await remember(configuration, over: memory, &report) }
        if served.isForeign || published.head.size > served.checkpoint?.head.size ?? 0 {
            try await serve(published, over: served, &report)
        }
        return report
    }

    // MARK: What the database has

    private func replayed(_ sealing: (any LogSealing)?) async throws(ObjectsRepairEnd) -> FrameReplay {
        let replay: FrameReplay
        do throws(SharedLogOpenError) {
            replay = try await engines.replay(to: head.size, sealing: sealing, shown: 0, placed: head.size)
        } catch {
            switch error {
            case .log(let error): throw .candidacy(.log(error))
            case .fault(let fault): throw .candidacy(.fault(fault))
            }
        }
        guard let frames = replay.frontier?.head else { throw .candidacy(.fault(.rowDamaged)) }
        guard frames == head else { throw .candidacy(.ended(.framesDiffer(row: head, frames: frames))) }
        return replay
    }

    /// The published checkpoint, which the frames must extend.
    private func published(_ replay: FrameReplay) throws(ObjectsRepairEnd) -> PublishedCheckpoint {
        let published: PublishedCheckpoint
        do throws(SharedLogFault) { published = try engines.published(row) } catch { throw .candidacy(.fault(error)) }
        guard replay.root(size: published.head.size) == published.head.root else {
            throw .candidacy(.fault(.rootDiffers(size: published.head.size)))
        }
        return published
    }

    // MARK: What was signed

    private func note(at path: String) async throws(ObjectsRepairEnd) -> FoundNote {
        let object = try await object(path)
        guard object.flatMap({ BurntMemory.note(of: $0.bytes) }) == nil else { throw .candidacy(.fault(.movedAway)) }
        return FoundNote(path: path, checkpoint: object.flatMap { engines.logSigned($0.bytes) }, tag: object?.tag)
    }

    func object(_ path: String) async throws(ObjectsRepairEnd) -> StoredObject? {
        do throws(ObjectFault) { return try await engines.objects.get(path) } catch { throw .objects(error) }
    }

    /// Demands that the frames extend a head that was signed. A larger one may be of somebody who has claimed after us.
    private func requireExtended(
        _ seen: TreeHead, _ place: SeenHead.Place, _ replay: FrameReplay
    ) async throws(ObjectsRepairEnd) {
        do throws(HeadConflict) {
            try SeenHead(seen, in: place).requireExtended(by: head) { replay.root(size: $0) }
        } catch {
            if case .databaseBehind = error { try await confirm() }
            throw .candidacy(.ended(.conflict(error)))
        }
    }

    /// A witness names no root. Of what it has cosigned beyond the newest head that is known to be signed nothing shows that it is of this log:
    /// signing that anew would be a second history, as for a candidate.
    private func requireExtended(
        _ words: WitnessWords, askedBy asked: TreeHead, _ replay: FrameReplay
    ) async throws(ObjectsRepairEnd) {
        if let name = words.knowsOtherTree {
            let seen = SeenHead(TreeHead(size: asked.size, root: .emptyTree), in: .witness(name))
            throw .candidacy(.ended(.conflict(.forked(seen: seen, own: asked.root))))
        }
        if let (size, name) = words.largest, size > asked.size {
            try await requireExtended(TreeHead(size: size, root: .emptyTree), .witness(name), replay)
        }
    }

    private func confirm() async throws(ObjectsRepairEnd) {
        let isOurs: Bool
        do { isOurs = try await link.write { [row] in try $0.confirm(row.row.generation) } } catch {
            throw .candidacy(.ended(.outcomeUnknown))
        }
        guard isOurs else { throw .candidacy(.ended(.othersLead)) }
    }
}

extension ObjectsRepairEnd {
    static func objects(_ fault: ObjectFault) -> ObjectsRepairEnd {
        .candidacy(.fault(.unavailable("objects: \(fault)")))
    }
}
