// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
public import NoteLog
import SealedNotes

/// What is inside a sealed message, signed by the device that sealed it.
///
/// Form: `signet-message-content/v1` LF; u8 count and context; sender (u8 count and handle, 32-byte key of the device); u64 time;
/// u16 count of recipients, each a handle and device as the sender's and the 32-byte hash of the device's keys; u32 count and body;
/// 64-byte Ed25519 signature by the sender's device over the message's header and everything before the signature.
public struct MessageContent: Hashable, Sendable {
    /// The longest context, in bytes.
    public static let maximumContextByteCount = 255
    /// The longest body, in bytes: 16 MiB.
    public static let maximumBodyByteCount = 1 << 24

    /// One device that the sender meant.
    public struct Address: Hashable, Sendable {
        /// Whose device.
        public let author: Author
        /// `DeviceKeys.hash` of its keys, 32 bytes.
        public let keysHash: [UInt8]

        init(_ recipient: WrapRecipient) {
            author = recipient.author
            keysHash = recipient.keysHash
        }

        init(_ keys: DeviceAgreementKeys) {
            author = keys.author
            keysHash = keys.publicHash
        }

        init(from reader: inout ByteReader) throws {
            author = try Author(from: &reader)
            keysHash = Array(try reader.bytes(32))
        }
    }

    /// What the message is for, such as `com.example.chat`: a message for one use does not open as one for another.
    public let context: [UInt8]
    /// Who sealed it, with which device.
    public let sender: Author
    /// When, by the sender's clock, in seconds since 1970-01-01T00:00:00Z.
    public let time: UInt64
    /// Every device that it was sealed for.
    public let recipients: [Address]
    /// What the app put in.
    public let body: [UInt8]

    init(
        context: [UInt8], sender: Author, time: UInt64, recipients: [Address], body: [UInt8]
    ) throws(SealedMessageError) {
        guard (1...Self.maximumContextByteCount).contains(context.count) else { throw .invalidContext }
        guard body.count <= Self.maximumBodyByteCount else { throw .tooLong(body.count) }
        guard (1...SealedMessage.maximumRecipientCount).contains(recipients.count),
            Set(recipients.map(\.author)).count == recipients.count
        else { throw .invalidRecipients }
        self.context = context
        self.sender = sender
        self.time = time
        self.recipients = recipients
        self.body = body
    }

    /// Everything but the signature.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-message-content/v1\n")
        writer.write(UInt8(truncatingIfNeeded: context.count))
        writer.write(context)
        writer.write(sender)
        writer.write(time)
        writer.write(UInt16(truncatingIfNeeded: recipients.count))
        for recipient in recipients {
            writer.write(recipient.author)
            writer.write(recipient.keysHash)
        }
        writer.write(UInt32(truncatingIfNeeded: body.count))
        writer.write(body)
        return writer.bytes
    }

    /// Reads the form; the signature is what is left.
    static func decode(_ bytes: ArraySlice<UInt8>) throws -> (content: MessageContent, signature: [UInt8]) {
        var reader = ByteReader(bytes)
        let line = Array("signet-message-content/v1\n".utf8)
        guard try reader.bytes(line.count).elementsEqual(line) else { throw SealedMessageError.malformedContent }
        let context = Array(try reader.bytes(Int(try reader.uint8())))
        let sender = try Author(from: &reader)
        let time = try reader.uint64()
        var recipients: [Address] = []
        for _ in 0..<Int(try reader.uint16()) { recipients.append(try Address(from: &reader)) }
        let body = Array(try reader.bytes(Int(try reader.uint32())))
        let signature = Array(try reader.bytes(64))
        try reader.end()
        return (
            try MessageContent(context: context, sender: sender, time: time, recipients: recipients, body: body),
            signature
        )
    }
}
