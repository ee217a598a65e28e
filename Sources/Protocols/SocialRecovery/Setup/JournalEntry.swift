import CanonicalCoding
import Crypto
public import DeviceIdentity
public import KeyTransparency
public import SecretSharing

/// One thing that a recovered person gets back.
public enum JournalEntry: Sendable {
    /// The key that opens their own data, 32 bytes, and its number: one more each time it was replaced.
    case accountKey(epoch: UInt32, SecretOctets)
    /// The key that succeeds their key at a site.
    case siteRecovery(VerifiedHost, SecretScalar)
    /// The identity key itself, when its custody is portable.
    case identityKey(SecretScalar)
    /// A person they knew: handle, SHA-256 of the identity key (32 bytes), how the two met.
    case contact(Handle, identityHash: [UInt8], MeetingEvidence)

    /// Every record's plaintext is a multiple of this, in bytes, so that its length tells no kind.
    static let paddingStep = 512

    /// u8 kind and the fields; zeros to a multiple of 512 bytes. Wipe it.
    var plaintext: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .accountKey(let epoch, let key):
            writer.write(UInt8(1))
            writer.write(epoch)
            key.withBytes { writer.write(span: $0) }
        case .siteRecovery(let host, let key):
            writer.write(UInt8(2))
            writer.write(UInt16(host.text.count))
            writer.write(host.text)
            key.withBytes { writer.write(span: $0) }
        case .identityKey(let key):
            writer.write(UInt8(3))
            key.withBytes { writer.write(span: $0) }
        case .contact(let handle, let hash, let meeting):
            writer.write(UInt8(4))
            writer.short(handle.bytes)
            writer.write(hash)
            writer.write(meeting.kind.rawValue)
            writer.write(meeting.date)
        }
        return writer.bytes.padded(toMultipleOf: Self.paddingStep)
    }

    /// By what the owner's device knows that it has added this entry, 32 bytes: SHA-256 of the plaintext.
    ///
    /// Security: it stays on the device. Whoever has it can check a guess, which a key is too long for and a person is not.
    package var digest: [UInt8] {
        var plaintext = plaintext
        defer { plaintext.wipeSecret() }
        return Array(SHA256.hash(data: plaintext))
    }

    /// Whether the fields have their lengths.
    var isSound: Bool {
        switch self {
        case .accountKey(_, let key): key.count == 32
        case .contact(_, let hash, _): hash.count == 32
        case .siteRecovery, .identityKey: true
        }
    }

    init(plaintext: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(plaintext, "") { reader in
            let entry = try JournalEntry(from: &reader)
            try reader.padding()
            return entry
        }
    }

    private init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1:
            let epoch = try reader.uint32()
            var bytes = try reader.array(32)
            defer { bytes.wipeSecret() }
            self = .accountKey(epoch: epoch, SecretOctets(copying: bytes.span))
        case 2:
            let host = try VerifiedHost(stored: reader.array(Int(reader.uint16())))
            self = .siteRecovery(host, try SecretScalar(reader.array(32)))
        case 3: self = .identityKey(try SecretScalar(reader.array(32)))
        case 4:
            let handle = try reader.handle()
            let hash = try reader.array(32)
            guard let kind = MeetingEvidence.Kind(rawValue: try reader.uint8()) else {
                throw RecoveryFormatError.invalidField
            }
            self = .contact(handle, identityHash: hash, MeetingEvidence(kind: kind, date: try reader.uint64()))
        default: throw RecoveryFormatError.invalidField
        }
    }
}

extension ByteWriter {
    mutating func write(span: Span<UInt8>) { for index in span.indices { write(span[index]) } }
}
