// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
import TransparencyLog
import VRF
import VerifiableMap

/// A log that the lying server makes itself: real entries and invented ones, under an index with any contents.
///
/// It does not enforce the rules of a log.
struct InventedLog {
    /// The hashes of all entries.
    private(set) var tree = MerkleTree()
    /// Every epoch record, in order.
    private(set) var records: [EpochRecord] = []
    private var chain = EpochChain()
    private var trie = MapTrie().current
    /// Where the entries of each label are.
    private var places: [MapKey: [UInt64]] = [:]
    private var entries: [LogEntry] = []
    private var leaves: [TreeHash] = []

    /// A log without entries.
    init() {}

    /// Copies a real log's entries, including its index.
    ///
    /// - Parameters:
    ///   - invented: entries to begin with, in a separate epoch.
    ///   - size: stop after the first epoch that reaches this many entries.
    ///   - earlier: the number of milliseconds by which its epochs end before the real ones.
    ///   - change: returns the replacement for an entry; epoch records cannot be changed.
    init(
        of log: DurableLog, after invented: [LogEntry] = [], size: UInt64 = .max, earlier: UInt64 = 0,
        changing change: (LogEntry) -> LogEntry = { $0 }
    ) async throws {
        for entry in invented { add(entry) }
        for entry in try await Self.entries(of: log) {
            if case .epoch(let record) = entry {
                if records.isEmpty && !invented.isEmpty { try close(at: record.time) }
                try close(at: record.time - earlier)
                if tree.size >= size { return }
            } else {
                add(change(entry))
            }
        }
    }

    private static func entries(of log: DurableLog) async throws -> [LogEntry] {
        let size = log.published.head.size
        var entries: [LogEntry] = []
        while UInt64(entries.count) < size {
            let index = UInt64(entries.count) / UInt64(Tile.fullWidth)
            let width = Int(min(UInt64(Tile.fullWidth), size - UInt64(entries.count)))
            let bundle = try EntryBundle(decoding: await log.entryBundle(index: index, width: width), width: width)
            entries += try bundle.entries.map { try LogEntry(decoding: $0) }
        }
        return entries
    }

    // MARK: Growing

    /// Adds an entry to the epoch under way.
    mutating func add(_ entry: LogEntry) {
        switch entry {
        case .device(let leaf): places[LabelIndex(leaf.label).key, default: []].append(tree.size)
        case .state(let record): places[record.label.key, default: []].append(tree.size)
        case .epoch(let record): records.append(record)
        case .succession, .predecessor: break
        }
        let leaf = TreeHash.leaf(entry.entry)
        entries.append(entry)
        leaves.append(leaf)
        tree.append(leaf)
    }

    /// Ends the epoch with a record of this time, in milliseconds since 1970, over an index without the hidden labels.
    mutating func close(at time: UInt64, hiding hidden: Set<MapKey> = []) throws {
        var map = MapTrie()
        try map.update(
            try places.keys.filter { !hidden.contains($0) }.map {
                MapEntry(key: $0, value: LabelHead(try history(of: $0).head()).value)
            })
        trie = map.current
        let count = UInt64(trie.count)
        let record = chain.next(at: time, index: tree.size, labelCount: count, root: trie.root)
        try chain.append(record, at: tree.size, labelCount: count, root: trie.root)
        add(.epoch(record))
    }

    // MARK: Reading

    /// The head of the whole log.
    var head: TreeHead { get throws { try tree.head() } }

    /// A label's entries as a tree.
    func history(of label: MapKey) -> MerkleTree {
        var history = MerkleTree()
        for place in places[label] ?? [] { history.append(leaves[Int(place)]) }
        return history
    }

    /// A label's entries.
    func entries(of label: LabelIndex) -> [LogEntry] { (places[label.key] ?? []).map { entries[Int($0)] } }

    /// An answer about a label with this last step, or that the label is absent if the index does not have it.
    func answer(
        to request: LookupRequest, about label: LabelIndex, _ proof: VRFProof, step: LabelAnswer.Step,
        note: [UInt8]
    ) throws -> LookupResponse {
        guard let record = records.last else { throw ForgeryError.noEpoch }
        let (size, known) = (tree.size, request.knownSize)
        return LookupResponse(
            vrfProof: proof, epoch: record, epochPath: try tree.inclusionProof(index: size - 1, size: size).hashes,
            answer: try answer(about: label, step, knownCount: request.knownCount),
            consistency: known == 0 || known >= size
                ? ConsistencyProof(hashes: []) : try tree.consistencyProof(from: known, to: size),
            note: note)
    }

    private func answer(
        about label: LabelIndex, _ step: LabelAnswer.Step, knownCount: UInt64
    ) throws -> LookupResponse.Answer {
        let proof = trie.proof(of: label.key)
        guard case .present(_, let path) = proof, let last = places[label.key]?.last else { return .absent(proof) }
        let history = history(of: label.key)
        let count = history.size
        return .present(
            LabelAnswer(
                indexPath: path, head: LabelHead(try history.head()),
                lastPath: try history.inclusionProof(index: count - 1, size: count).hashes,
                historyConsistency: try history.consistencyProof(from: min(knownCount, count), to: count),
                inclusion: try tree.inclusionProof(index: last, size: tree.size), step: step))
    }

    /// The epoch in which an entry of a label was logged.
    func loggedStep(_ count: UInt64, of label: LabelIndex) throws -> LoggedStep {
        guard let place = places[label.key]?[Int(count) - 1],
            let end = entries[Int(place)...].firstIndex(where: \.isEpoch), case .epoch(let record) = entries[end]
        else { throw ForgeryError.noEpoch }
        let size = tree.size
        return LoggedStep(
            count: count, inclusion: try tree.inclusionProof(index: place, size: size),
            epoch: PlacedEpoch(
                index: UInt64(end), record: record,
                path: try tree.inclusionProof(index: UInt64(end), size: size).hashes))
    }

    /// The proof that a label that is in no log is not in the index.
    func absence(of label: LabelIndex) -> MapProof { trie.proof(of: label.key) }
}

/// Why a lie cannot be told.
enum ForgeryError: Error {
    case noEpoch
    /// The account that the lie is about is not registered.
    case noTarget
}

extension LogEntry {
    fileprivate var isEpoch: Bool { if case .epoch = self { true } else { false } }
}

extension MerkleTree {
    /// The head of the whole tree.
    fileprivate func head() throws -> TreeHead { try head(size: size) }
}
