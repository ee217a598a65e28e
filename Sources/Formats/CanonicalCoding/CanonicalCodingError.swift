// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not the one accepted encoding of a value.
///
/// Every case means the peer sent something malformed; none is worth a retry.
public enum CanonicalCodingError: Error, Hashable, Sendable {
    /// A byte outside the alphabet, at this offset.
    case invalidCharacter(offset: Int)
    /// No value has an encoding of this many bytes.
    case invalidLength(Int)
    /// Padding is missing, surplus or in the wrong place.
    case invalidPadding
    /// The unused low bits of the last character are not zero.
    case nonZeroTrailingBits
    /// A number with a leading zero, or a varint with surplus bytes: a shorter encoding exists.
    case notMinimal
    /// The value does not fit its type.
    case overflow
    /// The multibase prefix is not one we accept.
    case unknownMultibase(UInt8)
    /// The input ended in the middle of a value.
    case truncated(needed: Int, remaining: Int)
    /// Input is left over after the value.
    case trailingBytes(Int)
    /// A line of more than this many bytes, or none that ends in LF.
    case unterminatedLine(maximumLength: Int)
}
