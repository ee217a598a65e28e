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

/// A note's key, encrypted to one device of one person and signed by the sender's device.
///
/// Wire form: `signet-note-wrap/v1` LF; 16 note; u32 epoch; 32 hash of the control entry it belongs to; sender; recipient
/// (handle and device); 32 hash of the recipient device's keys; u8 suite; encapsulation (1120 or 65); 48 ciphertext and
/// tag; 64 signature by the sender's device. Everything up to the suite is the associated data of the encryption.
///
/// With the sender's newest checkpoint of the directory's log sealed behind the key, the first line is `signet-note-wrap/v2`,
/// and a u16 length stands before the ciphertext.
public struct WrapRecord: Hashable, Sendable {
    /// No wrap is longer, in bytes.
    public static let maximumByteCount = 3072
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
        /// Whether the sender's checkpoint is sealed behind the key.
        public let carriesCheckpoint: Bool

        /// What a wrap is about.
        public init(
            note: NoteID, epoch: UInt32, control: RecordHash, sender: Author, recipient: Author,
            recipientKeys: [UInt8], suite: WrapSuite, carriesCheckpoint: Bool = false
        ) {
            self.note = note
            self.epoch = epoch
            self.control = control
            self.sender = sender
            self.recipient = recipient
            self.recipientKeys = recipientKeys
            self.suite = suite
            self.carriesCheckpoint = carriesCheckpoint
        }

        /// The associated data of the encryption.
        public var encoded: [UInt8] {
            var writer = ByteWriter()
            writer.write(WrapRecord.format(carriesCheckpoint))
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

        fileprivate init(from reader: inout ByteReader, carriesCheckpoint: Bool) throws {
            self.carriesCheckpoint = carriesCheckpoint
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

    static func format(_ carriesCheckpoint: Bool) -> StaticString {
        carriesCheckpoint ? "signet-note-wrap/v2\n" : "signet-note-wrap/v1\n"
    }

    /// Signs a wrap. The signature is not checked, for there may be thousands in one step: whoever reads a wrap checks
    /// it, the server first.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of the sender's device over the bytes passed.
    /// - Throws: ``NoteRecordError/invalidField``: a part has another length than the form has; or
    ///   ``NoteRecordError/signingFailed``, ``NoteRecordError/invalidSignature``: of another length.
    public init(
        _ header: Header, encapsulation: [UInt8], ciphertext: [UInt8], with sign: ([UInt8]) throws -> [UInt8]
    ) throws(NoteRecordError) {
        guard header.hasFixedLengths, encapsulation.count == header.suite.encapsulationByteCount,
            Self.isLength(ciphertext.count, header)
        else { throw .invalidField }
        self.header = header
        self.encapsulation = encapsulation
        self.ciphertext = ciphertext
        var writer = ByteWriter()
        writer.write(header.encoded)
        writer.write(encapsulation)
        if header.carriesCheckpoint { writer.write(UInt16(truncatingIfNeeded: ciphertext.count)) }
        writer.write(ciphertext)
        encoded = try SignedRecord.sign(writer.bytes, limit: Self.maximumByteCount, with: sign)
    }

    /// A key alone, or a key and a checkpoint that is not empty.
    private static func isLength(_ count: Int, _ header: Header) -> Bool {
        guard header.carriesCheckpoint else { return count == ciphertextByteCount }
        return (ciphertextByteCount + 1...ciphertextByteCount + maximumCheckpointByteCount).contains(count)
    }

    /// Reads a wrap and checks form and signature.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(decoding bytes: [UInt8]) throws(NoteRecordError) {
        let carriesCheckpoint = Self.format(true).withUTF8Buffer { bytes.starts(with: $0) }
        var reader = try SignedRecord.reader(
            bytes, format: Self.format(carriesCheckpoint), limit: Self.maximumByteCount)
        do {
            header = try Header(from: &reader, carriesCheckpoint: carriesCheckpoint)
            encapsulation = Array(try reader.bytes(header.suite.encapsulationByteCount))
            let count = carriesCheckpoint ? Int(try reader.uint16()) : Self.ciphertextByteCount
            ciphertext = Array(try reader.bytes(count))
            guard Self.isLength(count, header) else { throw NoteRecordError.invalidField }
            try reader.end()
        } catch { throw NoteRecordError(error) }
        encoded = bytes
        try SignedRecord.check(bytes, by: header.sender.device)
    }
}
