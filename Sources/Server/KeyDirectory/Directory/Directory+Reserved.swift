// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import LogEngine
import SignetAPI
import TransparencyLog
import VerifiableMap

/// The directory's public statements, logged under labels that belong to no account.
extension Directory {
    /// The version of the newest record under a label, published or not; 0 before the first.
    public func version(of label: ReservedLabel) -> UInt64 { epochs.version(of: label.index) }

    /// The newest record under a label, published or not; nil if there is none.
    package func newest(under label: ReservedLabel) -> ReservedRecord? { epochs.newest(under: label) }

    /// Logs what is said, and waits until a published checkpoint covers it.
    ///
    /// - Parameter version: one more than ``version(of:)``.
    /// - Throws: ``DirectoryError``; `unwitnessed`: it is published when the quorum has cosigned; `versionConflict`.
    public func log(_ bytes: [UInt8], under label: ReservedLabel, version: UInt64) async throws(DirectoryError) {
        _ = try await publish([label.record(of: bytes, version: version).entry])
    }

    /// The proof of the newest record under a label, in the epoch that ends a log of this size.
    ///
    /// - Returns: nil if there is none in that epoch, or the epoch is not held any more.
    /// - Throws: ``DirectoryError/stopped``.
    public func newestRecord(
        under label: ReservedLabel, in size: UInt64
    ) throws(DirectoryError) -> NewestRecordProof? {
        guard size <= log.published.head.size, let epoch = epochs.epoch(size: size),
            case .present(value: _, path: let path) = epoch.index.proof(of: label.index.key)
        else { return nil }
        let tree = epochs.history(of: label.index, size: size).tree
        do {
            return NewestRecordProof(
                indexPath: path, history: LabelHead(try tree.head(size: tree.size)),
                lastPath: try tree.inclusionProof(index: tree.size - 1, size: tree.size).hashes)
        } catch { throw .stopped }
    }

    /// Whether something is what was logged last under a label, published or not.
    ///
    /// - Throws: ``DirectoryError/stopped``.
    public func isNewest(_ bytes: [UInt8], under label: ReservedLabel) throws(DirectoryError) -> Bool {
        let version = epochs.version(of: label.index)
        guard version > 0 else { return false }
        return epochs.isLast(label.record(of: bytes, version: version))
    }
}
