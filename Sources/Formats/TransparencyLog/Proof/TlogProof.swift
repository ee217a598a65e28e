// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// Why bytes are not a tlog-proof. None is worth a retry.
public enum TlogProofError: Error, Hashable, Sendable {
    /// More than ``TlogProof/maximumByteCount`` bytes.
    case tooLong(byteCount: Int)
    /// The first line is not `c2sp.org/tlog-proof@v1`.
    case unknownHeader
    /// A line is missing or does not end in LF.
    case truncated
    /// The extra data is not canonical base64.
    case extra(CanonicalCodingError)
    /// An extra line without data; without data the line is left out.
    case extraEmpty
    /// No index line where it must stand.
    case indexMissing
    /// The index is not a decimal number below 2^64 without surplus characters.
    case index(CanonicalCodingError)
    /// Hash line number `line`, from zero, is not canonical base64 of 32 bytes.
    case malformedHash(line: Int)
    /// More than ``TlogProof/maximumHashCount`` hashes.
    case tooManyHashes
    /// What follows the empty line is not a signed note.
    case note(NoteError)
}

/// A proof, to be checked offline, that an entry is in a log and that witnesses saw the log: parsed, not verified.
///
/// Spec: C2SP tlog-proof, "Format".
public struct TlogProof: Hashable, Sendable {
    /// The most hashes we read: the path in a tree of 2^63 leaves.
    public static let maximumHashCount = 63
    /// The longest proof we read, in bytes.
    public static let maximumByteCount = SignedNote.maximumByteCount + (1 << 20)

    /// Opaque data beside the proof, at least one byte.
    ///
    /// Security: authenticated by nothing. A VRF proof carried here proves itself.
    public let extra: [UInt8]?
    /// The path from the entry to the checkpoint's root.
    public let inclusion: InclusionProof
    /// The signed checkpoint.
    public let note: SignedNote

    /// A proof of its parts.
    ///
    /// - Throws: ``TlogProofError``: an empty `extra`, or too much of something.
    public init(extra: [UInt8]?, inclusion: InclusionProof, note: SignedNote) throws(TlogProofError) {
        guard extra?.isEmpty != true else { throw .extraEmpty }
        guard inclusion.hashes.count <= Self.maximumHashCount else { throw .tooManyHashes }
        self.extra = extra
        self.inclusion = inclusion
        self.note = note
        let byteCount = encoded.count
        guard byteCount <= Self.maximumByteCount else { throw .tooLong(byteCount: byteCount) }
    }

    /// Reads a proof.
    ///
    /// - Throws: ``TlogProofError``: a value that is malformed or not in its one canonical form.
    public init(decoding text: [UInt8]) throws(TlogProofError) {
        guard text.count <= Self.maximumByteCount else { throw .tooLong(byteCount: text.count) }
        var lines = TlogProofReader(text)
        try lines.header()
        extra = try lines.extra()
        inclusion = InclusionProof(index: try lines.index(), hashes: try lines.hashes())
        note = try lines.note()
    }

    /// The proof as it is stored and sent.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(TlogProofReader.header + [0x0A])
        if let extra { writer.write(TlogProofReader.extraPrefix + Base64.encode(extra) + [0x0A]) }
        writer.write(TlogProofReader.indexPrefix + Decimal.encode(inclusion.index) + [0x0A])
        for hash in inclusion.hashes { writer.write(Base64.encode(hash.bytes) + [0x0A]) }
        writer.write([0x0A])
        writer.write(note.encoded)
        return writer.bytes
    }
}
