// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import TransparencyLog

/// An object that is missing, or that has something else and is to be written over.
struct ObjectGap {
    let tile: Tile
    let path: String
    /// What is there; nil: nothing.
    let tag: ObjectTag?
}

extension ObjectsRepair {
    // MARK: Comparing

    /// Compares every object of the head with the frames.
    ///
    /// - Throws: ``ObjectsRepairEnd/objectsDiffer(paths:)``, with all of them.
    func gaps(
        _ replay: FrameReplay, besides notes: [FoundNote]
    ) async throws(ObjectsRepairEnd) -> [ObjectGap] {
        var foreign = notes.filter(\.isForeign).map(\.path)
        var gaps: [ObjectGap] = []
        for (tile, path) in places {
            guard let object = try await object(path) else {
                gaps.append(ObjectGap(tile: tile, path: path, tag: nil))
                continue
            }
            if replay.holds(object.bytes, in: tile) { continue }
            foreign.append(path)
            gaps.append(ObjectGap(tile: tile, path: path, tag: object.tag))
        }
        foreign.removeAll(where: request.replaced.contains)
        guard foreign.isEmpty else { throw .objectsDiffer(paths: foreign) }
        return gaps
    }

    /// Tails and bundles of entries that the database does not have. An object is put after its entries were committed, and before they are
    /// signed.
    func objectsBeyond() async throws(ObjectsRepairEnd) -> [String] {
        var beyond: [String] = []
        do throws(ObjectFault) {
            for path in try await engines.objects.list(SharedLogEngines.tailPrefix) {
                guard let size = UInt64(path.dropFirst(SharedLogEngines.tailPrefix.count)) else { continue }
                if size > head.size { beyond.append(path) }
            }
            let next = head.size / UInt64(Tile.fullWidth)
            if let tile = try? Tile(.entries, index: next) {
                let path = String(decoding: tile.path, as: UTF8.self)
                if try await engines.objects.get(path) != nil { beyond.append(path) }
            }
        } catch { throw .objects(error) }
        return beyond.filter { !request.replaced.contains($0) }
    }

    /// Every full tile and bundle of the head, and the entries that no full bundle holds.
    private var places: [(Tile, path: String)] {
        Tile.added(from: 0, to: head.size).compactMap { tile in
            if tile.isFull { return (tile, String(decoding: tile.path, as: UTF8.self)) }
            return tile.content == .entries ? (tile, SharedLogEngines.tailPath(head.size)) : nil
        }
    }

    // MARK: Writing

    func fill(
        _ gaps: [ObjectGap], _ replay: FrameReplay, _ report: inout ObjectsReport
    ) async throws(ObjectsRepairEnd) {
        for gap in gaps where gap.tile.content != .entries {
            guard let bytes = replay.contents(of: gap.tile) else { throw .candidacy(.fault(.rowDamaged)) }
            try await write(bytes, gap, &report)
        }
        let bundles = gaps.filter { $0.tile.content == .entries }.reduce(into: [:]) { $0[$1.tile.index] = $1 }
        if !bundles.isEmpty { try await fill(bundles, replay, &report) }
    }

    /// Reads the frames once more, so that the entries are not all in memory at once.
    private func fill(
        _ bundles: [UInt64: ObjectGap], _ replay: FrameReplay, _ report: inout ObjectsReport
    ) async throws(ObjectsRepairEnd) {
        var open = OpenBundle()
        var start: UInt64 = 0
        while start < head.size {
            let frames: [Frame]
            do throws(SharedLogFault) { frames = try await engines.frames(from: start, to: head.size) } catch {
                throw .candidacy(.fault(error))
            }
            for frame in frames {
                for (index, bytes) in open.take(frame, upTo: head.size) {
                    guard let gap = bundles[index] else { continue }
                    guard replay.holds(bytes, in: gap.tile) else {
                        throw .candidacy(.fault(.frameDamaged(firstIndex: frame.firstIndex)))
                    }
                    try await write(bytes, gap, &report)
                }
            }
            start = frames.last?.endIndex ?? head.size
        }
    }

    private func write(
        _ bytes: [UInt8], _ gap: ObjectGap, _ report: inout ObjectsReport
    ) async throws(ObjectsRepairEnd) {
        try await write(bytes, at: gap.path, over: gap.tag)
        if gap.tag == nil { report.made += 1 } else { report.replaced += 1 }
    }

    /// Writes an object if what is there is still what was compared.
    private func write(_ bytes: [UInt8], at path: String, over tag: ObjectTag?) async throws(ObjectsRepairEnd) {
        let outcome: SwapOutcome
        do throws(ObjectFault) {
            outcome = try await engines.objects.swap(bytes, at: path, after: tag, retry: request.retry)
        } catch { throw .objects(error) }
        guard case .swapped = outcome else { throw .candidacy(.fault(.objectContradicts(path: path))) }
    }

    // MARK: The notes

    /// Signs the head, which was committed before it was claimed, and puts it into the second memory.
    func remember(
        _ configuration: LogConfiguration, over memory: FoundNote, _ report: inout ObjectsReport
    ) async throws(ObjectsRepairEnd) {
        let checkpoint: PublishedCheckpoint
        do throws(LogSigningError) { checkpoint = try configuration.sign(head) } catch { throw .signing(error) }
        guard engines.logSigned(checkpoint.bytes)?.head == head else { throw .candidacy(.fault(.checkpointInvalid)) }
        try await write(checkpoint.bytes, at: memory.path, over: memory.tag)
        count(memory, &report)
    }

    /// Puts the published checkpoint where mirrors look, which shows less or nothing.
    func serve(
        _ published: PublishedCheckpoint, over served: FoundNote, _ report: inout ObjectsReport
    ) async throws(ObjectsRepairEnd) {
        try await write(published.bytes, at: served.path, over: served.tag)
        count(served, &report)
    }

    private func count(_ note: FoundNote, _ report: inout ObjectsReport) {
        if note.tag == nil { report.made += 1 } else if note.isForeign { report.replaced += 1 }
    }
}

/// Entries of the log on their way to bundles.
private struct OpenBundle {
    private var index: UInt64 = 0
    private var count = 0
    private var bytes: [UInt8] = []

    /// Takes the next frame.
    ///
    /// - Parameter end: of the log, at which the last bundle ends.
    /// - Returns: the bundles that are whole with it.
    mutating func take(_ frame: Frame, upTo end: UInt64) -> [(index: UInt64, bytes: [UInt8])] {
        var whole: [(UInt64, [UInt8])] = []
        frame.forEachEntry { entry in
            bytes += [UInt8(entry.count >> 8), UInt8(entry.count & 0xff)] + entry
            count += 1
            guard count == Tile.fullWidth || index * UInt64(Tile.fullWidth) + UInt64(count) == end else { return }
            whole.append((index, bytes))
            (index, count, bytes) = (index + 1, 0, [])
        }
        return whole
    }
}
