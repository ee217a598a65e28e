public import KeyTransparency
import SignetAPI
import TransparencyLog
import VerifiableMap

extension Directory {
    /// The version of the newest root of the notes, published or not; 0 before the first.
    public var notesRootVersion: UInt64 { epochs.version(of: NotesRoot.label) }

    /// Logs where all notes stand, and waits until a published checkpoint covers it.
    ///
    /// - Parameter version: one more than ``notesRootVersion``.
    /// - Throws: ``DirectoryError``; `unwitnessed`: it is published when the quorum has cosigned; `versionConflict`.
    public func log(_ root: NotesRoot, version: UInt64) async throws(DirectoryError) {
        _ = try await publish([root.record(version: version).entry])
    }

    /// The path by which the newest root of the notes is shown in the epoch that ends a log of this size.
    ///
    /// - Returns: nil if there is none in that epoch, or the epoch is not held any more.
    /// - Throws: ``DirectoryError/stopped``.
    public func notesRootPlace(in size: UInt64) throws(DirectoryError) -> NotesRootPlace? {
        guard size <= log.published.head.size, let epoch = epochs.epoch(size: size),
            case .present(value: _, path: let path) = epoch.index.proof(of: NotesRoot.label.key)
        else { return nil }
        let tree = epochs.history(of: NotesRoot.label, size: size).tree
        do {
            return NotesRootPlace(
                indexPath: path, history: LabelHead(try tree.head(size: tree.size)),
                lastPath: try tree.inclusionProof(index: tree.size - 1, size: tree.size).hashes)
        } catch { throw .stopped }
    }
}

/// Where a root of the notes stands in an epoch: a ``NotesRootProof`` but for the root itself.
public struct NotesRootPlace: Sendable {
    let indexPath: MapPath
    let history: LabelHead
    let lastPath: [TreeHash]

    /// The version of the root's record.
    public var version: UInt64 { history.count }

    /// The proof that this root stands there.
    public func proof(of root: NotesRoot) -> NotesRootProof {
        NotesRootProof(root: root, indexPath: indexPath, history: history, lastPath: lastPath)
    }
}
