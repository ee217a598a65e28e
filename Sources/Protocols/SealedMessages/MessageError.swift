// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import NoteLog

/// Why a message was not sealed, or what was received is not one for this device and this use. A retry does not help.
public enum SealedMessageError: Error, Hashable, Sendable {
    // MARK: The caller's mistakes

    /// The context is empty or longer than ``MessageContent/maximumContextByteCount`` bytes.
    case invalidContext
    /// The body is longer than ``MessageContent/maximumBodyByteCount`` bytes.
    case tooLong(Int)
    /// No recipient, more than ``SealedMessage/maximumRecipientCount``, or one of them twice.
    case invalidRecipients
    /// A recipient's key is none that anything can be encrypted to.
    case unusableKey(Author)
    /// The signing closure threw, or gave no signature of the sender.
    case signingFailed

    // MARK: What was received

    /// The bytes do not have the form.
    case malformed(CanonicalCodingError)
    /// Another name or version in the first line.
    case unknownFormat
    /// A number in the form is outside its range.
    case invalidField
    /// It was encrypted to other devices, or to keys that this device has no more.
    case notForThisDevice
    /// It does not open: altered on the way, or put together from parts of several messages.
    case notOpened
    /// The key that came to this device is not the one that the sender committed to for all of them.
    case anotherKey
    /// It opened, and what was sealed is not of the form. Its sender made it so.
    case malformedContent
    /// It was sealed for another use.
    case anotherContext
    /// The sender did not address it to this device: a reader of it has passed it on as if it were for this device.
    case notAddressed
    /// The device that it names as its sender did not sign it.
    case invalidSignature
    /// The device that signed it is none that the named person has now.
    case notTheirDevice(Author)
}
