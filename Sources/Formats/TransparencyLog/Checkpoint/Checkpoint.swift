// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// Why a text is not a checkpoint. None is worth a retry.
public enum CheckpointError: Error, Hashable, Sendable {
    /// The text is not UTF-8, has a control character, or does not end in LF.
    case text(NoteError)
    /// Fewer than three lines.
    case lineMissing
    /// The origin is empty or has a character that no log's key name has.
    case origin(NoteError)
    /// The size is not a decimal number below 2^64 without surplus characters.
    case size(CanonicalCodingError)
    /// The root is not canonical base64.
    case root(CanonicalCodingError)
    /// The root does not have 32 bytes.
    case rootLength(Int)
    /// Extension line number `line`, from zero, is empty or holds an LF.
    case extensionLine(line: Int)
}

/// The text that a log signs: its origin, its size and its root.
///
/// The format lets an origin hold spaces; ours must be a possible ``KeyName``, because a policy names a log
/// by its key name and no other origin could ever be accepted.
///
/// Spec: C2SP tlog-checkpoint, "Note text".
public struct Checkpoint: Hashable, Sendable {
    /// The log's identity.
    public let origin: KeyName
    /// The tree's size and root.
    public let head: TreeHead
    /// Lines after the third, without their LF; each has at least one byte. Ours have none.
    public let extensions: [[UInt8]]

    /// The checkpoint of a tree.
    ///
    /// - Throws: ``CheckpointError/extensionLine(line:)``, ``CheckpointError/text(_:)``.
    public init(origin: KeyName, head: TreeHead, extensions: [[UInt8]] = []) throws(CheckpointError) {
        for (line, content) in extensions.enumerated() {
            guard !content.isEmpty && !content.contains(0x0A) else { throw .extensionLine(line: line) }
            do throws(NoteError) { try UnicodeText.check(content.span) } catch { throw .text(error) }
        }
        self.origin = origin
        self.head = head
        self.extensions = extensions
    }

    /// Reads the text of a checkpoint, with the LF of its last line.
    ///
    /// - Throws: ``CheckpointError``: a value that is malformed or not in its one canonical form.
    public init(decoding text: [UInt8]) throws(CheckpointError) {
        guard text.last == 0x0A else { throw .text(.textNotTerminated) }
        let lines = text.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count >= 3 else { throw .lineMissing }
        let origin: KeyName
        do throws(NoteError) { origin = try KeyName(lines[0]) } catch { throw .origin(error) }
        try self.init(
            origin: origin,
            head: TreeHead(size: try Self.size(lines[1]), root: try Self.root(lines[2])),
            extensions: lines.dropFirst(3).map(Array.init))
    }

    /// The text, which a log signs and a witness cosigns.
    public var text: [UInt8] {
        let lines =
            [origin.bytes, Decimal.encode(head.size), Base64.encode(head.root.bytes)] + extensions
        return lines.flatMap { $0 + [0x0A] }
    }

    static func size(_ line: ArraySlice<UInt8>) throws(CheckpointError) -> UInt64 {
        do throws(CanonicalCodingError) { return try Decimal.decode(line) } catch { throw .size(error) }
    }

    static func root(_ line: ArraySlice<UInt8>) throws(CheckpointError) -> TreeHash {
        let bytes: [UInt8]
        do throws(CanonicalCodingError) { bytes = try Base64.decode(line) } catch { throw .root(error) }
        guard let root = TreeHash(bytes) else { throw .rootLength(bytes.count) }
        return root
    }
}
