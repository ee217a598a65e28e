// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a signed note. All mean malformed input; none is worth a retry.
public enum NoteError: Error, Hashable, Sendable {
    /// More than ``SignedNote/maximumByteCount`` bytes.
    case tooLong(byteCount: Int)
    /// The bytes from this offset on are not UTF-8.
    case invalidUTF8(offset: Int)
    /// A control character below U+0020 other than LF.
    case controlCharacter(offset: Int)
    /// The text does not end in LF.
    case textNotTerminated
    /// No empty line parts the text from the signatures.
    case separatorMissing
    /// No line follows the empty line.
    case signaturesMissing
    /// More than ``SignedNote/maximumSignatureCount`` signatures.
    case tooManySignatures
    /// Signature line number `line`, from zero, is not dash, key name and base64.
    case malformedSignatureLine(line: Int)
    /// A signature without any byte after the key ID.
    case signatureTooShort(line: Int)
    /// A key name without characters.
    case keyNameEmpty
    /// A Unicode space, a control character or a plus sign in a key name, at this offset.
    case forbiddenInKeyName(offset: Int)
}
