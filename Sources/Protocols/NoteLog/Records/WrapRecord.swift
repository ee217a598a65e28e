// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// How a wrap is encrypted.
public enum WrapSuite: UInt8, Hashable, Sendable, CaseIterable {
    /// HPKE with X-Wing (ML-KEM-768 and X25519), HKDF-SHA256, AES-256-GCM: outlives quantum computers.
    case xWing = 1
    /// HPKE with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM: for keys in hardware.
    case p256 = 2

    /// Bytes of the encapsulation: 1120 or 65.
    public var encapsulationByteCount: Int { self == .xWing ? 1120 : 65 }
}

/// What is sealed in a wrap.
public enum NoteWrapForm: Hashable, Sendable, CaseIterable {
    /// The key alone.
    case key
    /// Behind the key the sender's checkpoint.
    case keyAndCheckpoint
    /// Behind the key the length of the sender's checkpoint (u16) and the checkpoint, which may be empty; then keys of the epochs right
    /// before, 32 bytes each, the oldest first.
    case keyAndOlderKeys

    /// How many bytes the ciphertext may have, with its tag.
    fileprivate var byteCounts: ClosedRange<Int> {
        let (key, checkpoint) = (WrapRecord.ciphertextByteCount, WrapRecord.maximumCheckpointByteCount)
        return switch self {
        case .key: key...key
        case .keyAndCheckpoint: key + 1...key + checkpoint
        case .keyAndOlderKeys: key + 2 + 32...key + 2 + checkpoint + 32 * WrapRecord.maximumOlderKeyCount
        }
    }

    fileprivate var format: StaticString {
        switch self {
        case .key: "signet-note-wrap/v1\n"
        case .keyAndCheckpoint: "signet-note-wrap/v2\n"
        case .keyAndOlderKeys: "signet-note-wrap/v3\n"
        }
    }

    fileprivate var maximumByteCount: Int { self == .keyAndOlderKeys ? WrapRecord.maximumByteCount : 3072 }
}

/// A note's key, encrypted to one device of one person and signed by the sender's device.
///
/// Wire form: `signet-note-wrap/v1` LF; 16 note; u32 epoch; 32 hash of the control entry it belongs to; sender; recipient
/// (handle and device); 32 hash of the recipient device's keys; u8 suite; encapsulation (1120 or 65); 48 ciphertext and
/// tag; 64 signature by the sender's device. Everything up to the suite is the associated data of the encryption.
///
/// With the sender's newest checkpoint of the directory's log sealed behind the key, the first line is `signet-note-wrap/v2`,
/// and a u16 length stands before the ciphertext. With keys of earlier epochs, too, it is `signet-note-wrap/v3`.
public struct WrapRecord: Hashable, Sendable {
    /// No wrap is longer, in bytes; without keys of earlier epochs 3072.
    public static let maximumByteCount = 3072 + 32 * maximumOlderKeyCount
    /// The most keys of earlier epochs that are sealed behind the key.
    public static let maximumOlderKeyCount = 1024
    /// Key and tag.
    public static let ciphertextByteCount = 48
    /// The longest checkpoint that is sealed behind the key, in bytes.
    public static let maximumCheckpointByteCount = 1024

    /// What a wrap is about: everything but the encryption.
    public struct Header: Hashable, Sendable {
        /// Whose key it is.
        public let note: NoteID
        /// Of the key.
        public let epoch: UInt32
        /// The entry that made or shared the key.
        public let control: RecordHash
        /// Who wrapped it.
        public let sender: Author
        /// For whom, and for which device.
        public let recipient: Author
        /// `DeviceKeys.hash` of the recipient's device, 32 bytes.
        public let recipientKeys: [UInt8]
        /// How.
        public let suite: WrapSuite
        /// What is sealed.
        public let form: NoteWrapForm

        /// What a wrap is about.
        public init(
            note: NoteID, epoch: UInt32, control: RecordHash, sender: Author, recipient: Author,
            recipientKeys: [UInt8], suite: WrapSuite, form: NoteWrapForm = .key
        ) {
            self.note = note
            self.epoch = epoch
            self.control = control
            self.sender = sender
            self.recipient = recipient
            self.recipientKeys = recipientKeys
            self.suite = suite
            self.form = form
        }

        /// The associated data of the encryption.
        public var encoded: [UInt8] {
            var writer = ByteWriter()
            writer.write(form.format)
            writer.write(note.bytes)
            writer.write(epoch)
            writer.write(control.bytes)
            writer.write(sender)
            writer.write(recipient)
            writer.write(recipientKeys)
            writer.write(suite.rawValue)
            return writer.bytes
        }

        fileprivate var hasFixedLengths: Bool {
            [sender.device, recipient.device, recipientKeys].allSatisfy { $0.count == 32 }
        }

        fileprivate init(from reader: inout ByteReader, form: NoteWrapForm) throws {
            self.form = form
            note = try reader.noteID()
            epoch = try reader.uint32()
            control = try reader.recordHash()
            sender = try Author(from: &reader)
            recipient = try Author(from: &reader)
            recipientKeys = Array(try reader.bytes(32))
            guard let suite = WrapSuite(rawValue: try reader.uint8()) else { throw NoteRecordError.invalidField }
            self.suite = suite
        }
    }

    /// What it is about.
    public let header: Header
    /// HPKE's encapsulated key.
    public let encapsulation: [UInt8]
    /// The encrypted key with its tag.
    public let ciphertext: [UInt8]
    /// The wire form.
    public let encoded: [UInt8]

    /// Signs a wrap. The signature is not checked, because there may be thousands in one step: each reader of a wrap
    /// checks it, the server first.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of the sender's device over the bytes passed.
    /// - Throws: ``NoteRecordError/invalidField``: a part has another length than the form has; or
    ///   ``NoteRecordError/signingFailed``, ``NoteRecordError/invalidSignature``: of another length.
    public init(
        _ header: Header, encapsulation: [UInt8], ciphertext: [UInt8], with sign: ([UInt8]) throws -> [UInt8]
    ) throws(NoteRecordError) {
        guard header.hasFixedLengths, encapsulation.count == header.suite.encapsulationByteCount,
            header.form.byteCounts.contains(ciphertext.count)
        else { throw .invalidField }
        self.header = header
        self.encapsulation = encapsulation
        self.ciphertext = ciphertext
        var writer = ByteWriter()
        writer.write(header.encoded)
        writer.write(encapsulation)
        if header.form != .key { writer.write(UInt16(truncatingIfNeeded: ciphertext.count)) }
        writer.write(ciphertext)
        encoded = try SignedRecord.sign(writer.bytes, limit: header.form.maximumByteCount, with: sign)
    }

    /// Reads a wrap and checks form and signature.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(decoding bytes: [UInt8]) throws(NoteRecordError) {
        try self.init(uncheckedSignature: bytes)
        try SignedRecord.check(bytes, by: header.sender.device)
    }

    /// Reads a wrap whose signature the caller has checked before, in these very bytes. Checks the form.
    ///
    /// - Throws: ``NoteRecordError``.
    package init(uncheckedSignature bytes: [UInt8]) throws(NoteRecordError) {
        let form = NoteWrapForm.allCases.first { $0.format.withUTF8Buffer { bytes.starts(with: $0) } } ?? .key
        var reader = try SignedRecord.reader(bytes, format: form.format, limit: form.maximumByteCount)
        do {
            header = try Header(from: &reader, form: form)
            encapsulation = Array(try reader.bytes(header.suite.encapsulationByteCount))
            let count = form == .key ? Self.ciphertextByteCount : Int(try reader.uint16())
            ciphertext = Array(try reader.bytes(count))
            guard form.byteCounts.contains(count) else { throw NoteRecordError.invalidField }
            try reader.end()
        } catch { throw NoteRecordError(error) }
        encoded = bytes
    }
}
