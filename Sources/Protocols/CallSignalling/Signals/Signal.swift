// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto

/// A message of the call, signed by the device that sends it.
///
/// Wire form: `signet-call-signal/v2` LF, 16-byte call, 32-byte sender, 32-byte recipient (zeros: all members), u32
/// term, u64 sequence, u64 time, u16 length and bytes of a checkpoint, body, 64-byte Ed25519 signature over everything
/// before it. Integers are big-endian.
public struct Signal: Hashable, Sendable {
    /// No signal is longer, in bytes.
    public static let maximumByteCount = 65_536
    /// No checkpoint in a signal is longer, in bytes.
    public static let maximumCheckpointByteCount = 1024

    /// What the device says.
    public struct Content: Hashable, Sendable {
        /// Which call.
        public let callID: CallID
        /// Who says it.
        public let sender: CallDevice
        /// The recipient; nil for all members of the call.
        public let recipient: CallDevice?
        /// The tenure in which the sender believes to be.
        public let term: UInt32
        /// Larger than every one before from this device in this call, also across restarts.
        public let sequence: UInt64
        /// The sender's clock, in milliseconds since 1970.
        public let sentAt: UInt64
        /// The newest checkpoint of the directory's log that the sender has verified, so that both find out whether they see
        /// one log; at most ``Signal/maximumCheckpointByteCount`` bytes, empty for none. Signed with the rest: a
        /// carrier of the signal cannot remove it.
        public let checkpoint: [UInt8]
        /// What it says.
        public let body: SignalBody

        /// The parts of a signal that its signature covers.
        public init(
            callID: CallID, sender: CallDevice, recipient: CallDevice?, term: UInt32, sequence: UInt64, sentAt: UInt64,
            checkpoint: [UInt8] = [], body: SignalBody
        ) {
            self.callID = callID
            self.sender = sender
            self.recipient = recipient
            self.term = term
            self.sequence = sequence
            self.sentAt = sentAt
            self.checkpoint = checkpoint
            self.body = body
        }
    }

    /// What the device says.
    public let content: Content
    /// Ed25519, 64 bytes.
    public let signature: [UInt8]

    /// Signs a message.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of the sender over the bytes passed.
    /// - Throws: what `sign` throws.
    public init<E: Error>(signing content: Content, with sign: ([UInt8]) throws(E) -> [UInt8]) throws(E) {
        self.content = content
        signature = try sign(content.encoded)
    }

    /// The wire form.
    public var encoded: [UInt8] { content.encoded + signature }

    /// Reads the wire form; nothing is verified.
    ///
    /// - Throws: ``SignalDecodingError``: not exactly what ``encoded`` prints.
    public init(decoding bytes: [UInt8]) throws(SignalDecodingError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        var reader = ByteReader(bytes)
        content = try Content(from: &reader)
        signature = try reading(&reader) { reader throws(CanonicalCodingError) in Array(try reader.bytes(64)) }
        do throws(CanonicalCodingError) { try reader.end() } catch { throw .malformed(error) }
    }

    /// Checks that the signal is of this call, for this device, and signed by the device that it names.
    ///
    /// - Throws: ``SignalVerificationError``. A retry cannot help.
    public func verify(for device: CallDevice, in callID: CallID) throws(SignalVerificationError) -> VerifiedSignal {
        guard content.callID == callID else { throw .anotherCall }
        guard content.recipient == nil || content.recipient == device else { throw .anotherRecipient }
        guard isSignatureValid else { throw .invalidSignature }
        return VerifiedSignal(content)
    }

    var isSignatureValid: Bool {
        (try? Curve25519.Signing.PublicKey(rawRepresentation: content.sender.signingKey))?
            .isValidSignature(signature, for: content.encoded) ?? false
    }
}

/// A signal that its sender signed.
///
/// Security: old signals verify too; the keeper of the call's state refuses those that were seen. The sender is a key;
/// only a verified lookup says whose key it is.
public struct VerifiedSignal: Hashable, Sendable {
    /// What the device says.
    public let content: Signal.Content

    init(_ content: Signal.Content) { self.content = content }
}

extension Signal.Content {
    private static let firstLine: StaticString = "signet-call-signal/v2\n"
    private static let everybody = [UInt8](repeating: 0, count: 32)

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.firstLine)
        writer.write(callID.bytes)
        writer.write(sender.signingKey)
        writer.write(recipient?.signingKey ?? Self.everybody)
        writer.write(term)
        writer.write(sequence)
        writer.write(sentAt)
        writer.write(UInt16(truncatingIfNeeded: checkpoint.count))
        writer.write(checkpoint)
        body.write(to: &writer)
        return writer.bytes
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        let line = try reading(&reader) { reader throws(CanonicalCodingError) in
            try reader.bytes(Self.firstLine.utf8CodeUnitCount)
        }
        guard Self.firstLine.withUTF8Buffer({ $0.elementsEqual(line) }) else { throw .unknownFormat }
        let device: CallDevice
        (callID, sender, device, term, sequence, sentAt) = try reading(&reader) { reader throws(CanonicalCodingError) in
            (
                try CallID(from: &reader), try CallDevice(from: &reader), try CallDevice(from: &reader),
                try reader.uint32(), try reader.uint64(), try reader.uint64()
            )
        }
        recipient = device.signingKey == Self.everybody ? nil : device
        checkpoint = try reading(&reader) { reader throws(CanonicalCodingError) in
            Array(try reader.bytes(Int(reader.uint16())))
        }
        guard checkpoint.count <= Signal.maximumCheckpointByteCount else { throw .checkpointTooLong(checkpoint.count) }
        body = try SignalBody(from: &reader)
    }
}

/// Why bytes are not a signal. The peer misbehaved; a retry cannot help.
public enum SignalDecodingError: Error, Hashable, Sendable {
    /// Longer than any signal, in bytes.
    case tooLong(Int)
    /// Another first line.
    case unknownFormat
    /// Cut short, or something left over.
    case malformed(CanonicalCodingError)
    /// An undefined kind of signal.
    case unknownBody(UInt8)
    /// An undefined form of wrap.
    case unknownWrapForm(UInt8)
    /// An undefined reason.
    case unknownReason(UInt8)
    /// A mark that is neither 0 nor 1.
    case unknownMark(UInt8)
    /// A term or generation of zero, or a step beyond the last.
    case invalidEpoch
    /// No host, too many members, out of order, or a device twice.
    case invalidRoster
    /// A ring that names no person or too many, for too long or too short a time, or names a person twice or out of
    /// order.
    case invalidRing
    /// Marks, epochs, streams or hashes of a digest are too many, too few, out of order, or numbered beyond any frame.
    case invalidDigest
    /// A wrap is longer than any, in bytes.
    case wrapTooLong(Int)
    /// A checkpoint is longer than any, in bytes.
    case checkpointTooLong(Int)
}

/// Why a signal must be refused.
public enum SignalVerificationError: Error, Hashable, Sendable {
    /// It belongs to another call.
    case anotherCall
    /// It is for another device.
    case anotherRecipient
    /// The device that it names did not sign it.
    case invalidSignature
}
