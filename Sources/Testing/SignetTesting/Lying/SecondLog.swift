import KeyDirectory
import KeyTransparency
import TransparencyLog

/// A log that differs from the real one in its first entry, and holds every other.
struct SecondLog {
    private var tree = MerkleTree()
    private var epoch: EpochRecord

    /// - Parameters:
    ///   - known: how much the victim has seen of the real log; the second one is made longer.
    ///   - last: the real log's last epoch.
    init(of log: DurableLog, after known: UInt64, _ last: EpochRecord) throws {
        epoch = last
        let size = log.published.head.size
        tree.append(.leaf(Array("not what everybody else sees".utf8)))
        var index: UInt64 = 1
        while index < size {
            let tile = index / 256
            let width = Int(min(256, size - tile * 256))
            let bytes = try log.tile(level: 0, index: tile, width: width)
            for place in Int(index % 256)..<width {
                guard let hash = TreeHash(bytes[32 * place..<32 * place + 32]) else { continue }
                tree.append(hash)
            }
            index = (tile + 1) * 256
        }
        if known >= size { endEpoch() }
    }

    /// An epoch in which nothing happened.
    private mutating func endEpoch() {
        epoch = EpochRecord(
            number: epoch.number + 1, time: epoch.time, start: tree.size, labelCount: epoch.labelCount,
            milestone: epoch.milestone, root: epoch.root)
        tree.append(.leaf(epoch.entry))
    }

    /// The answer with all its proofs in the second log.
    func answer(
        _ answer: LookupResponse, knowing known: UInt64, sign: (TreeHead) throws -> [UInt8]
    ) throws -> Forgery {
        var forgery = Forgery(answer)
        forgery.epoch = epoch
        forgery.epochPath = try tree.inclusionProof(index: tree.size - 1, size: tree.size).hashes
        if let index = forgery.inclusion?.index {
            forgery.inclusion = try tree.inclusionProof(index: index, size: tree.size)
        }
        forgery.consistency =
            known == 0 || known >= tree.size
            ? ConsistencyProof(hashes: []) : try tree.consistencyProof(from: known, to: tree.size)
        forgery.note = try sign(tree.head(size: tree.size))
        return forgery
    }
}
