// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import DeviceIdentity
public import KeyTransparency
public import SecretMemory
public import SecretSharing

/// One thing that a recovered person gets back.
public enum JournalEntry: Sendable {
    /// The key that opens their own data, 32 bytes, and its number: one more each time it was replaced.
    case accountKey(epoch: UInt32, SecretBytes)
    /// The key that succeeds their key at a site.
    case siteRecovery(VerifiedHost, SecretScalar)
    /// A person they knew: handle, identity key (33 bytes), and what the two had compared of it.
    case contact(Handle, identityKey: [UInt8], Comparison?)

    /// Every entry has this many bytes, so that its length tells no kind.
    static let byteCount = 512

    /// u8 kind (1, 2 or 4) and the fields; zeros to 512 bytes. Wipe it.
    var plaintext: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .accountKey(let epoch, let key):
            writer.write(UInt8(1))
            writer.write(epoch)
            key.withSpan { writer.write(span: $0) }
        case .siteRecovery(let host, let key):
            writer.write(UInt8(2))
            writer.write(UInt16(host.text.count))
            writer.write(host.text)
            key.withBytes { writer.write(span: $0) }
        case .contact(let handle, let key, let comparison):
            writer.write(UInt8(4))
            writer.short(handle.bytes)
            writer.write(key)
            writer.write(comparison?.kind.rawValue ?? 0)
            writer.write(comparison?.time ?? 0)
            writer.flag(comparison?.metOn != nil)
            writer.write(comparison?.metOn ?? 0)
        }
        return writer.bytes.padded(toMultipleOf: Self.byteCount)
    }

    /// By what the owner's device knows that it has added this entry, 32 bytes: SHA-256 of the plaintext.
    ///
    /// Security: it stays on the device. Its holder can check guesses, which is hopeless against a key but not against
    /// a person's name.
    package var digest: [UInt8] {
        var plaintext = plaintext
        defer { plaintext.wipe() }
        return Array(SHA256.hash(data: plaintext))
    }

    /// Whether the fields have their lengths.
    var isSound: Bool {
        switch self {
        case .accountKey(_, let key): key.count == 32
        case .contact(let handle, let key, let comparison):
            key.count == 33 && comparison.map { $0.handle == handle && $0.identityKey == key } ?? true
        case .siteRecovery: true
        }
    }

    /// Entries one after the other; a single block of zeros is none.
    static func list(plaintext: [UInt8]) throws(RecoveryFormatError) -> [JournalEntry] {
        guard !plaintext.isEmpty, plaintext.count.isMultiple(of: byteCount) else { throw .invalidField }
        if plaintext.count == byteCount, plaintext.allSatisfy({ $0 == 0 }) { return [] }
        var entries: [JournalEntry] = []
        for start in stride(from: 0, to: plaintext.count, by: byteCount) {
            var block = Array(plaintext[start..<start + byteCount])
            defer { block.wipe() }
            entries.append(try JournalEntry(plaintext: block))
        }
        return entries
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
            defer { bytes.wipe() }
            self = .accountKey(epoch: epoch, SecretBytes(copying: bytes.span))
        case 2:
            let host = try VerifiedHost(stored: reader.array(Int(reader.uint16())))
            self = .siteRecovery(host, try SecretScalar(reader.array(32)))
        case 4:
            let (handle, key) = (try reader.handle(), try reader.array(33))
            self = .contact(handle, identityKey: key, try Self.comparison(handle, key, &reader))
        default: throw RecoveryFormatError.invalidField
        }
    }

    private static func comparison(
        _ handle: Handle, _ key: [UInt8], _ reader: inout ByteReader
    ) throws -> Comparison? {
        let (kind, time) = (try reader.uint8(), try reader.uint64())
        let (hasMet, day) = (try reader.flag(), try reader.uint64())
        guard hasMet || day == 0 else { throw RecoveryFormatError.invalidField }
        guard kind > 0 else {
            guard time == 0, !hasMet else { throw RecoveryFormatError.invalidField }
            return nil
        }
        guard let kind = Comparison.Kind(rawValue: kind) else { throw RecoveryFormatError.invalidField }
        return Comparison(handle: handle, identityKey: key, kind: kind, time: time, metOn: hasMet ? day : nil)
    }
}

extension ByteWriter {
    mutating func write(span: Span<UInt8>) { for index in span.indices { write(span[index]) } }
}
