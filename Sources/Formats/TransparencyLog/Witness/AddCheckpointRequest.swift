// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// Why bytes are not a request to cosign a checkpoint. None is worth a retry.
public enum AddCheckpointError: Error, Hashable, Sendable {
    /// More than ``AddCheckpointRequest/maximumByteCount`` bytes.
    case tooLong(byteCount: Int)
    /// A line is missing or does not end in LF.
    case truncated
    /// The first line does not begin with `old` and a space.
    case oldSizeMissing
    /// The old size is not a decimal number below 2^64 without surplus characters.
    case oldSize(CanonicalCodingError)
    /// Hash line number `line`, from zero, is not canonical base64 of 32 bytes.
    case malformedHash(line: Int)
    /// More than ``AddCheckpointRequest/maximumHashCount`` hashes.
    case tooManyHashes
    /// What follows the empty line is not a signed note.
    case note(NoteError)
    /// The note's text is not a checkpoint.
    case checkpoint(CheckpointError)
}

/// What a log sends to a witness: a new checkpoint and the proof that it extends the one cosigned last.
///
/// ```
/// old 20852014
/// PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=      zero to 63 hashes
///                                                    an empty line
/// example.com/behind-the-sofa                        the signed checkpoint
/// ```
///
/// Spec: C2SP tlog-witness v1.0.0, "add-checkpoint".
public struct AddCheckpointRequest: Hashable, Sendable {
    /// The most hashes that may be sent: no proof between sizes below 2^63 needs more.
    public static let maximumHashCount = 63
    /// The longest request we read, in bytes.
    public static let maximumByteCount = SignedNote.maximumByteCount + 4096

    /// The size of the checkpoint that the log believes this witness cosigned last; zero for none.
    public let oldSize: UInt64
    /// The path from the old size to the checkpoint.
    public let consistency: ConsistencyProof
    /// The signed checkpoint; nothing is verified yet.
    public let note: SignedNote
    /// What the note's text says.
    public let checkpoint: SubmittedCheckpoint

    /// A request of its parts.
    ///
    /// - Throws: ``AddCheckpointError/tooManyHashes``, ``AddCheckpointError/checkpoint(_:)``.
    public init(
        oldSize: UInt64, consistency: ConsistencyProof, note: SignedNote
    ) throws(AddCheckpointError) {
        guard consistency.hashes.count <= Self.maximumHashCount else { throw .tooManyHashes }
        self.oldSize = oldSize
        self.consistency = consistency
        self.note = note
        do throws(CheckpointError) {
            checkpoint = try SubmittedCheckpoint(decoding: note.text)
        } catch {
            throw .checkpoint(error)
        }
    }

    /// Reads a request's body.
    ///
    /// - Throws: ``AddCheckpointError``: a value that is malformed or not in its one canonical form.
    public init(decoding body: [UInt8]) throws(AddCheckpointError) {
        guard body.count <= Self.maximumByteCount else { throw .tooLong(byteCount: body.count) }
        var lines = AddCheckpointReader(body)
        let oldSize = try lines.oldSize()
        let consistency = ConsistencyProof(hashes: try lines.hashes())
        try self.init(oldSize: oldSize, consistency: consistency, note: try lines.note())
    }

    /// The body as it is sent.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(AddCheckpointReader.oldPrefix + Decimal.encode(oldSize) + [0x0A])
        for hash in consistency.hashes { writer.write(Base64.encode(hash.bytes) + [0x0A]) }
        writer.write([0x0A])
        writer.write(note.encoded)
        return writer.bytes
    }
}

/// Reads the parts of a request in their order.
private struct AddCheckpointReader {
    static let oldPrefix = Array("old ".utf8)

    private var rest: ArraySlice<UInt8>

    init(_ body: [UInt8]) { rest = body[...] }

    mutating func oldSize() throws(AddCheckpointError) -> UInt64 {
        guard rest.starts(with: Self.oldPrefix) else { throw .oldSizeMissing }
        let text = try line().dropFirst(Self.oldPrefix.count)
        do throws(CanonicalCodingError) { return try Decimal.decode(text) } catch { throw .oldSize(error) }
    }

    /// The hash lines and the empty line that ends them.
    mutating func hashes() throws(AddCheckpointError) -> [TreeHash] {
        var hashes: [TreeHash] = []
        while true {
            let text = try line()
            if text.isEmpty { return hashes }
            guard hashes.count < AddCheckpointRequest.maximumHashCount else { throw .tooManyHashes }
            guard let bytes = try? Base64.decode(text), let hash = TreeHash(bytes) else {
                throw .malformedHash(line: hashes.count)
            }
            hashes.append(hash)
        }
    }

    /// Everything that is left.
    func note() throws(AddCheckpointError) -> SignedNote {
        do throws(NoteError) { return try SignedNote(decoding: rest) } catch { throw .note(error) }
    }

    private mutating func line() throws(AddCheckpointError) -> ArraySlice<UInt8> {
        guard let end = rest.firstIndex(of: 0x0A) else { throw .truncated }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }
}
