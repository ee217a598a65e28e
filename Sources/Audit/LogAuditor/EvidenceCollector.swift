// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog

/// Looks for the few entries that show a fault, a bundle at a time: what it holds does not grow with the log.
struct EvidenceCollector {
    /// How far an entry is looked for ahead, in bundles: what is not found by then, the whole log has to show.
    private static let aheadCount: UInt64 = 64

    let tiles: SourceTiles
    let policy: Policy

    /// The same evidence with entries that convince by themselves; nil if none do, or the log does not show them.
    func shown(_ bare: RuleEvidence, in head: TreeHead) async -> RuleEvidence? {
        let entry = await find(.entry(at: bare.place), head.size)?.bytes ?? []
        var entries: [RuleEvidence.Entry] = []
        for search in RuleEvidence.searches(showing: bare.fault, at: bare.place, entry) {
            guard let found = await find(search, head.size) else { return nil }
            entries.append(found)
        }
        let full = RuleEvidence(fault: bare.fault, place: bare.place, checkpoint: bare.checkpoint, entries: entries)
        // Evidence that does not convince us convinces no one: then the log itself is the evidence.
        return (try? EvidenceVerifier(policy: policy).verify(.rule(full))) == nil ? nil : full
    }

    private func find(_ search: RuleEvidence.Search, _ size: UInt64) async -> RuleEvidence.Entry? {
        guard let (index, bytes) = await place(of: search, size),
            let proof = try? await tiles.inclusionProof(index: index, size: size)
        else { return nil }
        return RuleEvidence.Entry(bytes: bytes, inclusion: proof)
    }

    private func place(of search: RuleEvidence.Search, _ size: UInt64) async -> (UInt64, [UInt8])? {
        switch search {
        case .entry(let index): await first(search, from: index, to: index < size ? index + 1 : index, size)
        case .firstEpoch(let start):
            await first(search, from: start, to: min(size, start + Self.aheadCount * UInt64(Tile.fullWidth)), size)
        case .lastStep(_, let end), .lastEpoch(let end), .lastSuccession(let end):
            await last(search, before: min(end, size), size)
        }
    }

    private func first(
        _ search: RuleEvidence.Search, from start: UInt64, to end: UInt64, _ size: UInt64
    ) async -> (UInt64, [UInt8])? {
        let width = UInt64(Tile.fullWidth)
        var index = start
        while index < end {
            guard let entries = try? await tiles.read(bundle: index / width, size: size).entries else { return nil }
            for entry in entries.dropFirst(Int(index % width)) {
                if search.isFound(in: entry) { return (index, entry) }
                index += 1
            }
        }
        return nil
    }

    private func last(_ search: RuleEvidence.Search, before end: UInt64, _ size: UInt64) async -> (UInt64, [UInt8])? {
        let width = UInt64(Tile.fullWidth)
        var end = end
        while end > 0 {
            let bundle = (end - 1) / width
            guard let entries = try? await tiles.read(bundle: bundle, size: size).entries else { return nil }
            let here = entries.prefix(Int(end - bundle * width))
            if let place = here.lastIndex(where: search.isFound) {
                return (bundle * width + UInt64(place), here[place])
            }
            end = bundle * width
        }
        return nil
    }
}
