import KeyDirectory
import KeyTransparency
import TransparencyLog

/// A log that differs from the real one in its first entry, and holds every other.
struct SecondLog {
    private var tree = MerkleTree()

    /// - Parameter extra: how many entries the second log has more.
    init(of log: DurableLog, extra: Int) throws {
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
        for number in 0..<extra { tree.append(.leaf(Array("and more \(number)".utf8))) }
    }

    /// The answer with all its proofs in the second log.
    func answer(
        _ answer: LookupResponse, knowing known: UInt64, sign: (TreeHead) throws -> [UInt8]
    ) throws -> Forgery {
        var forgery = Forgery(answer)
        forgery.stateInclusion = try tree.inclusionProof(index: answer.stateInclusion.index, size: tree.size)
        forgery.deviceInclusions = try answer.deviceInclusions.map {
            try tree.inclusionProof(index: $0.index, size: tree.size)
        }
        forgery.consistency =
            known == 0 || known >= tree.size
            ? ConsistencyProof(hashes: []) : try tree.consistencyProof(from: known, to: tree.size)
        forgery.note = try sign(tree.head(size: tree.size))
        return forgery
    }
}
