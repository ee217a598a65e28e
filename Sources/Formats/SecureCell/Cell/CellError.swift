// SPDX-License-Identifier: Apache-2.0

/// Why a cell was not made or not opened.
///
/// ``malformed(_:)``, ``iterationsOutOfBounds(_:)`` and ``notAuthentic`` are about what came in; the others are the
/// caller's mistakes. A retry helps with none of them.
public enum CellError: Error, Hashable, Sendable {
    /// The key or passphrase has no bytes.
    case emptyKey
    /// Themis seals no empty message.
    case emptyPlaintext
    /// A context imprint without a context.
    case emptyContext
    /// More than 2³²−1 bytes, which the length field cannot say.
    case plaintextTooLong(Int)
    /// The named part is missing, cut short, or not in a form that the reading accepts.
    case malformed(CellPart)
    /// The iteration count is outside ``ReadingMode/iterationBounds``; nothing was computed.
    case iterationsOutOfBounds(UInt32)
    /// The tag does not hold: another key, another context, or altered bytes. Which one cannot be told.
    case notAuthentic
    /// The cryptographic library refused what it should take. A bug.
    case cipherFailed
}

/// A part of a cell, in the order of the wire form.
public enum CellPart: Hashable, Sendable {
    /// The algorithm identifier.
    case algorithm
    /// The length of the initialisation vector, or the vector.
    case iv
    /// The length of the tag, or the tag.
    case tag
    /// The length of the message.
    case messageLength
    /// Iteration count and salt.
    case passphraseParameters
    /// Bytes after the header that belong to nothing.
    case surplus
}
