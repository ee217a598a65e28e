// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog
import VerifiableMap

// The proofs that a lookup consists of, one by one. Result of each: 1 verified, 0 refused, -1 the call is malformed.

/// An inclusion. Input: u64 index, u64 size, 32-byte root, 32-byte leaf hash, the hashes one after the other with their length.
@_cdecl("signet_inclusion") public func signetInclusion() -> Int32 {
    output = []
    var fields = Fields()
    do throws(CanonicalCodingError) {
        let (index, size) = (try fields.reader.uint64(), try fields.reader.uint64())
        let (root, leaf) = (try fields.hash(), try fields.hash())
        guard let root, let leaf, let hashes = try fields.hashes() else { return -1 }
        try fields.reader.end()
        let proof = InclusionProof(index: index, hashes: hashes)
        return (try? proof.verify(leaf: leaf, in: TreeHead(size: size, root: root))) == nil ? 0 : 1
    } catch { return -1 }
}

/// A consistency. Input: u64 and 32-byte root of the earlier tree, the same of the later one, the hashes as above.
@_cdecl("signet_consistency") public func signetConsistency() -> Int32 {
    output = []
    var fields = Fields()
    do throws(CanonicalCodingError) {
        let (size, root) = (try fields.reader.uint64(), try fields.hash())
        let (laterSize, laterRoot) = (try fields.reader.uint64(), try fields.hash())
        guard let root, let laterRoot, let hashes = try fields.hashes() else { return -1 }
        try fields.reader.end()
        let (earlier, later) = (TreeHead(size: size, root: root), TreeHead(size: laterSize, root: laterRoot))
        return (try? ConsistencyProof(hashes: hashes).verify(from: earlier, to: later)) == nil ? 0 : 1
    } catch { return -1 }
}

/// A key in the index, or its absence. Input: 32-byte key, 32-byte root, the value with its length (none: absent), the proof
/// with its length.
@_cdecl("signet_map") public func signetMap() -> Int32 {
    output = []
    var fields = Fields()
    do throws(CanonicalCodingError) {
        let (key, root) = (MapKey(try fields.reader.bytes(32)), MapHash(try fields.reader.bytes(32)))
        let (value, proof) = (try fields.bytes(), try fields.bytes())
        try fields.reader.end()
        guard let key, let root else { return -1 }
        return isMapped(key, to: value.isEmpty ? nil : MapValue(value), by: proof, in: root) ? 1 : 0
    } catch { return -1 }
}

private func isMapped(_ key: MapKey, to value: MapValue?, by proof: [UInt8], in root: MapHash) -> Bool {
    do throws(MapProofError) {
        let read = try MapProof(decoding: proof, value: value)
        guard case .present(let found) = try read.verify(key, in: root).outcome else { return value == nil }
        return found == value
    } catch { return false }
}

extension Fields {
    mutating func hash() throws(CanonicalCodingError) -> TreeHash? { TreeHash(try reader.bytes(32)) }

    /// Nil when the bytes are not a number of whole hashes.
    mutating func hashes() throws(CanonicalCodingError) -> [TreeHash]? {
        let bytes = try bytes()
        guard bytes.count % 32 == 0 else { return nil }
        return stride(from: 0, to: bytes.count, by: 32).compactMap { TreeHash(bytes[$0..<$0 + 32]) }
    }
}
