// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
import TransparencyLog
import VerifiableMap

extension PaperDirectory {
    /// That something is the newest under a label, in the newest epoch.
    package func newestRecord(under label: ReservedLabel) throws -> NewestRecordProof {
        let key = label.index.key
        let tree = histories.tree(of: key, size: histories.size)
        guard case .present(value: _, path: let path) = try map().proof(of: key) else { throw PaperFault.notThere }
        return NewestRecordProof(
            indexPath: path, history: LabelHead(try tree.head(size: tree.size)),
            lastPath: try tree.inclusionProof(index: tree.size - 1, size: tree.size).hashes)
    }
}
