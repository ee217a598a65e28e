// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
package import TransparencyLog

/// What is wrong with the files of a log that another program does not have open.
public enum LogFault: Hashable, Sendable {
    /// The log cannot be opened like this.
    case refused(LogOpenError)
    /// The checkpoint that was signed last does not verify under the log's key.
    case signatureInvalid
    /// The file of the checkpoint that was published last is damaged. Opening the log has it cosigned again.
    case publishedDamaged
    /// The checkpoint that was published last is this log's, and this one does not extend it, or was not signed for it.
    case publishedContradicts
    /// A tile or bundle differs from the tree: its path. Opening the log rewrites it.
    case tileDiffers(path: String)
}

/// What reading a whole log gave. Nothing was written.
package struct LogReport: Sendable {
    /// What was signed last.
    package var signed: TreeHead?
    /// How many entries are in the write-ahead log.
    package var size: UInt64 = 0
    /// How many full tiles and bundles are not there. Opening the log makes them.
    package var missingTiles = 0
    /// What is wrong.
    package var faults: [LogFault] = []

    /// Nothing read yet.
    package init() {}
}

/// Reads a whole log and compares each of its files with the others.
package struct LogInspection: Sendable {
    private let files: any LogFileSystem
    private let origin: KeyName
    private let keys: [VerifierKey]
    private let changed: SignedNote?

    /// The log in some storage.
    ///
    /// - Parameters:
    ///   - origin: the log's name.
    ///   - keys: the log's keys: one now, and two while one takes the place of the other.
    ///   - changed: the checkpoint under which the keys were changed last, as it was published. The key of before signed it, and perhaps
    ///     later ones, and the new one signs nothing until the server starts. nil if they never changed.
    package init(files: any LogFileSystem, origin: KeyName, keys: [VerifierKey], changed: SignedNote? = nil) {
        (self.files, self.origin, self.keys, self.changed) = (files, origin, keys, changed)
    }

    /// - Parameters:
    ///   - sealing: fresh; checks the root of the index in every epoch. nil for a log without an index.
    ///   - visit: gets every entry with its leaf hash.
    package func run(
        sealing: (any LogSealing)?, visit: (ArraySlice<UInt8>, TreeHash) -> Void = { _, _ in }
    ) throws(LogOpenError) -> LogReport {
        var report = LogReport()
        let signed = try LogCopy(in: files).signedHead()
        report.signed = signed.head
        if !isSigned(signed.note) { report.faults.append(.signatureInvalid) }
        let tree = try replay(sealing, visit)
        report.size = tree.size
        guard let root = try? tree.root(size: signed.head.size) else {
            throw .lockRecordAhead(locked: signed.head, replayed: tree.size)
        }
        guard root == signed.head.root else { throw .rootMismatch(locked: signed.head, computed: root) }
        try comparePublished(with: tree, in: &report)
        compareTiles(with: tree, in: &report)
        return report
    }

    private func isSigned(_ note: SignedNote) -> Bool {
        guard let checkpoint = try? Checkpoint(decoding: note.text), checkpoint.origin == origin else { return false }
        if let changed, isOfFormerKey(note, checkpoint.head, since: changed) { return true }
        return note.signatures.contains { signature in
            keys.contains {
                signature.isClaimed(by: $0) && (try? $0.verifyLogSignature(signature, of: note.text)) != nil
            }
        }
    }

    /// Whether the key of before a change claims to have signed it, at the change or after: a rotation that was interrupted and repeated has
    /// it sign once more. That key is not at hand any more, so only the entries say whether it is right.
    private func isOfFormerKey(_ note: SignedNote, _ head: TreeHead, since changed: SignedNote) -> Bool {
        guard let end = try? Checkpoint(decoding: changed.text), end.origin == origin, end.head.size <= head.size else {
            return false
        }
        guard note.text != changed.text else {
            // What else is there, cosigned once more when the change was repeated, is nobody's word for the log.
            let own = note.signatures.filter { $0.name == origin }
            return !own.isEmpty && own.allSatisfy(changed.signatures.contains)
        }
        let former = changed.signatures.filter { $0.name == origin }.map(\.keyID)
        return note.signatures.contains { $0.name == origin && former.contains($0.keyID) }
    }

    private func replay(
        _ sealing: (any LogSealing)?, _ visit: (ArraySlice<UInt8>, TreeHash) -> Void
    ) throws(LogOpenError) -> MerkleTree {
        var tree = MerkleTree()
        _ = try WriteAheadLogReplay(fileSystem: files).run { (frame) throws(LogOpenError) in
            var entries: [ArraySlice<UInt8>] = []
            var leaves: [TreeHash] = []
            frame.forEachEntry { entry in
                let leaf = TreeHash.leaf(entry.span)
                visit(entry, leaf)
                tree.append(leaf)
                entries.append(entry)
                leaves.append(leaf)
            }
            // As if every epoch were shown: each one's index is made and compared.
            do throws(IndexFault) { try sealing?.replay(entries, leaves: leaves, shown: 0) } catch {
                throw .breaksRule(error)
            }
        }
        return tree
    }

    private func comparePublished(
        with tree: MerkleTree, in report: inout LogReport
    ) throws(LogOpenError) {
        let content: PublishedFile.Content
        do { content = try PublishedFile(fileSystem: files).read(origin: origin, tree: tree, isSigned: isSigned) } catch
        {
            guard error == .publishedCheckpointContradicts else { throw error }
            report.faults.append(.publishedContradicts)
            return
        }
        switch content {
        case .none: break
        case .damaged: report.faults.append(.publishedDamaged)
        case .checkpoint(let published) where !isSigned(published.note): report.faults.append(.publishedDamaged)
        case .checkpoint: break
        }
    }

    private func compareTiles(with tree: MerkleTree, in report: inout LogReport) {
        let tiles = TileFiles(fileSystem: files)
        for tile in Tile.added(from: 0, to: tree.size) where tile.isFull && !tiles.holds(tile, in: tree) {
            if (try? tiles.read(tile)) == nil {
                report.missingTiles += 1
            } else {
                report.faults.append(.tileDiffers(path: LogPath.tile(tile)))
            }
        }
    }
}
