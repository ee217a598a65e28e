// SPDX-License-Identifier: Apache-2.0

/// Why a secure message was not made or not opened. A retry helps with none of them.
public enum MessageError: Error, Hashable, Sendable {
    /// Themis signs and encrypts no empty message. The caller's mistake.
    case emptyMessage
    /// More bytes than the length field can say. The caller's mistake.
    case messageTooLong(Int)
    /// Keys on two curves. The caller's mistake.
    case differentCurves
    /// The type is not the one of this kind of message under this kind of key.
    case wrongType(UInt32)
    /// Lengths that the bytes do not have, or surplus bytes that the reading does not take.
    case malformed
    /// The signature is not this key's over this message.
    case invalidSignature
    /// The wrapped key of an RSA message does not open under this key.
    case wrongRecipient
    /// The cell inside does not open: other keys, or altered bytes.
    case sealed(CellError)
    /// The cryptographic library refused what it should take. A bug.
    case cipherFailed
}
