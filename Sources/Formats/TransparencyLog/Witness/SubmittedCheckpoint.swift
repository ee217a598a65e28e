// SPDX-License-Identifier: Apache-2.0

/// The text of any log's checkpoint, as a witness reads it: the origin may be any line.
///
/// A ``Checkpoint`` is of a log that a policy names, so its origin is a ``KeyName``. A witness serves logs that
/// chose otherwise: `go.sum database tree` is an origin too.
///
/// Spec: C2SP tlog-checkpoint, "Note text".
public struct SubmittedCheckpoint: Hashable, Sendable {
    /// The log's identity: UTF-8, at least one byte, no LF.
    public let origin: [UInt8]
    /// The tree's size and root.
    public let head: TreeHead

    /// Reads the text of a note, whose characters have been checked.
    init(decoding text: [UInt8]) throws(CheckpointError) {
        let lines = text.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count >= 3 else { throw .lineMissing }
        guard !lines[0].isEmpty else { throw .origin(.keyNameEmpty) }
        origin = Array(lines[0])
        head = TreeHead(size: try Checkpoint.size(lines[1]), root: try Checkpoint.root(lines[2]))
        if let line = lines.dropFirst(3).firstIndex(where: { $0.isEmpty }) { throw .extensionLine(line: line - 3) }
    }
}
