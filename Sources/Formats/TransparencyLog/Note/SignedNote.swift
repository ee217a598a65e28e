// SPDX-License-Identifier: Apache-2.0

/// A text and the signatures on it: parsed, not verified.
///
/// Security: the text of a note means nothing before a trusted key's signature on it has been verified.
///
/// Spec: C2SP signed-note, "Format".
public struct SignedNote: Hashable, Sendable {
    /// The longest note we read or make, in bytes: room for 100 post-quantum signatures.
    public static let maximumByteCount = 1 << 20
    /// The most signature lines we read or write. Verifiers must take 16.
    public static let maximumSignatureCount = 100

    /// What is signed: UTF-8 lines, with the LF of the last one, without the empty line that follows.
    public let text: [UInt8]
    /// The signature lines in their order; some may be by unknown keys.
    public let signatures: [NoteSignature]

    /// A note of a text and the signatures on it.
    ///
    /// - Throws: ``NoteError``: a text or signatures that the format cannot hold.
    public init(text: [UInt8], signatures: [NoteSignature]) throws(NoteError) {
        guard text.last == 0x0A else { throw .textNotTerminated }
        try UnicodeText.check(text.span)
        guard !signatures.isEmpty else { throw .signaturesMissing }
        guard signatures.count <= Self.maximumSignatureCount else { throw .tooManySignatures }
        if let line = signatures.firstIndex(where: { $0.blob.isEmpty }) { throw .signatureTooShort(line: line) }
        self.text = text
        self.signatures = signatures
        let byteCount = encoded.count
        guard byteCount <= Self.maximumByteCount else { throw .tooLong(byteCount: byteCount) }
    }

    /// Reads a note, splitting it at its last empty line.
    ///
    /// - Throws: ``NoteError``: malformed. Signatures are not verified.
    public init(decoding note: [UInt8]) throws(NoteError) {
        try self.init(decoding: note[...])
    }

    /// Reads a note, splitting it at its last empty line.
    ///
    /// - Throws: ``NoteError``: malformed. Signatures are not verified.
    public init(decoding note: ArraySlice<UInt8>) throws(NoteError) {
        guard note.count <= Self.maximumByteCount else { throw .tooLong(byteCount: note.count) }
        try UnicodeText.check(note.span)
        let split = try Self.endOfText(in: note)
        text = Array(note[..<split])
        signatures = try Self.signatures(in: note[(split + 1)...])
    }

    /// The note as it is sent: text, empty line, signature lines.
    public var encoded: [UInt8] {
        signatures.reduce(into: text + [0x0A]) { $0 += $1.encoded }
    }

    /// The offset behind the LF that ends the text, where the separating LF stands.
    private static func endOfText(in note: ArraySlice<UInt8>) throws(NoteError) -> Int {
        var offset = note.endIndex - 1
        while offset > note.startIndex {
            if note[offset] == 0x0A && note[offset - 1] == 0x0A { return offset }
            offset -= 1
        }
        throw .separatorMissing
    }

    static func signatures(in lines: ArraySlice<UInt8>) throws(NoteError) -> [NoteSignature] {
        guard !lines.isEmpty else { throw .signaturesMissing }
        var signatures: [NoteSignature] = []
        var rest = lines
        while !rest.isEmpty {
            guard signatures.count < maximumSignatureCount else { throw .tooManySignatures }
            guard let end = rest.firstIndex(of: 0x0A) else {
                throw .malformedSignatureLine(line: signatures.count)
            }
            signatures.append(try NoteSignature(decoding: rest[..<end], number: signatures.count))
            rest = rest[(end + 1)...]
        }
        return signatures
    }
}
