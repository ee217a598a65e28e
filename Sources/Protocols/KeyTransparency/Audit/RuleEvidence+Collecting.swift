public import TransparencyLog

extension RuleEvidence {
    /// Evidence of what a replay found, with entries that show it where few can.
    ///
    /// - Parameters:
    ///   - fault: as ``CheckpointAudit/finding(at:)`` gave it.
    ///   - place: the same.
    ///   - checkpoint: over `entries`, signed by the log.
    ///   - entries: all of them, from the first.
    /// - Returns: nil for ``IndexFault/tooLarge``.
    public init?(of fault: IndexFault, at place: UInt64, in checkpoint: SignedNote, entries: [[UInt8]]) {
        guard let name = FaultName(fault) else { return nil }
        let bare = RuleEvidence(fault: name, place: place, checkpoint: checkpoint)
        let indexes = Self.indexes(showing: name, at: Int(clamping: place), in: entries)
        var tree = MerkleTree()
        for entry in entries { tree.append(.leaf(entry)) }
        let shown = indexes.compactMap { index -> Entry? in
            guard let proof = try? tree.inclusionProof(index: UInt64(index), size: tree.size) else { return nil }
            return Entry(bytes: entries[index], inclusion: proof)
        }
        let full = RuleEvidence(fault: name, place: place, checkpoint: checkpoint, entries: shown)
        let head = try? tree.head(size: tree.size)
        // What does not convince us convinces nobody: then the log itself is the evidence.
        self = head.flatMap(full.deed(in:)) == nil ? bare : full
    }

    /// Which entries might show a fault by themselves.
    private static func indexes(showing fault: FaultName, at place: Int, in entries: [[UInt8]]) -> [Int] {
        guard fault != .noEpochRecord else { return Array(entries.indices.suffix(1)) }
        guard entries.indices.contains(place) else { return [] }
        switch fault {
        case .unknownEntry, .predecessorTooLate: return [place]
        case .secondStep:
            let end = entries[place...].firstIndex { (try? EpochRecord(decoding: $0)) != nil }
            return [stepBefore(place, in: entries), place, end].compactMap(\.self)
        case .version, .stepAfterClose: return [stepBefore(place, in: entries), place].compactMap(\.self)
        case .epochFields, .timeRunsBack:
            return [entries[..<place].lastIndex { (try? EpochRecord(decoding: $0)) != nil }, place].compactMap(\.self)
        case .successionNumber, .afterTheEnd:
            return [entries[..<place].lastIndex { (try? SuccessionRecord(decoding: $0)) != nil }, place]
                .compactMap(\.self)
        case .unsettled, .indexRoot, .noEpochRecord: return []
        }
    }

    /// The step before of the same label.
    private static func stepBefore(_ place: Int, in entries: [[UInt8]]) -> Int? {
        guard let label = LogEntry.label(of: entries[place]) else { return nil }
        return entries[..<place].lastIndex { (try? StateRecord(decoding: $0))?.label == label }
    }
}
