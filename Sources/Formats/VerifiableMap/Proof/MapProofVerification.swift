// SPDX-License-Identifier: Apache-2.0

extension MapProof {
    /// Checks that the map with this root has for `key` what the proof claims.
    ///
    /// Path length and order were checked when the proof was read.
    ///
    /// Spec: rsc.io/tmp/mpt.
    ///
    /// - Throws: ``MapProofError/otherKeyIsAskedKey``, ``MapProofError/otherKeyLeavesPath(bit:)``,
    ///   ``MapProofError/rootMismatch``. A retry cannot help.
    ///
    /// Security: says nothing about who vouches for `root`.
    public func verify(_ key: MapKey, in root: MapHash) throws(MapProofError) -> VerifiedMapping {
        switch self {
        case .present(let value, let path):
            try Self.check(path.root(of: MapEntry(key: key, value: value)), is: root)
            return VerifiedMapping(key: key, outcome: .present(value), root: root)
        case .absent(let other, let path):
            try Self.checkSearch(for: key, endsAt: other.key, on: path)
            try Self.check(path.root(of: other), is: root)
            return VerifiedMapping(key: key, outcome: .absent, root: root)
        case .absentFromEmptyTrie:
            try Self.check(.emptyTrie, is: root)
            return VerifiedMapping(key: key, outcome: .absent, root: root)
        }
    }

    private static func checkSearch(
        for key: MapKey, endsAt other: MapKey, on path: MapPath
    ) throws(MapProofError) {
        guard other != key else { throw .otherKeyIsAskedKey }
        if let bit = path.parting(key, other) { throw .otherKeyLeavesPath(bit: bit) }
    }

    private static func check(_ found: MapHash, is root: MapHash) throws(MapProofError) {
        guard found == root else { throw .rootMismatch }
    }
}
