import CanonicalCoding
import Crypto
public import KeyTransparency
public import SecretSharing

/// What a recovery brings back, sealed to the recovery key. A device adds to it whenever it likes, without guardians.
///
/// Each record names the hash of the one before and is signed by the device that added it, so that whoever stores the
/// journal can neither add, change, nor reorder; the bundle names the head when it was made, so that a journal cut below
/// that is noticed.
///
/// Wire form: `signet-journal/v1` LF; scope (36); u32 count; for each record: u16 device number, u32 length and sealed
/// entry, 64-byte Ed25519 signature over `signet-journal/v1` LF, scope, previous head (32), device number, sealed entry.
/// A head is SHA-256 over previous head, device number and sealed entry; the first previous head is 32 zeros.
public struct RecoveryJournal: Hashable, Sendable {
    /// The most records.
    public static let maximumCount = 20_000
    static let maximumSealedByteCount = 4096
    private static let format: StaticString = "signet-journal/v1\n"

    /// One sealed entry.
    struct Record: Hashable, Sendable {
        let device: UInt16
        let sealed: [UInt8]
        let signature: [UInt8]
    }

    /// Account and epoch.
    public let scope: RecoveryScope
    private(set) var records: [Record] = []
    /// Hash over all records, 32 bytes.
    public private(set) var head = [UInt8](repeating: 0, count: 32)

    /// How many records.
    public var count: Int { records.count }

    /// An empty journal.
    public init(scope: RecoveryScope) { self.scope = scope }

    /// Seals an entry to the recovery key and appends it.
    ///
    /// - Parameters:
    ///   - recoveryKey: of this epoch, from the bundle's commitments.
    ///   - device: the number of the device that adds it.
    ///   - sign: gives the device's Ed25519 signature, 64 bytes.
    /// - Throws: ``RecoveryJournalError``.
    public mutating func append(
        _ entry: JournalEntry, to recoveryKey: CurvePoint, device: UInt16, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoveryJournalError) {
        guard count < Self.maximumCount else { throw .full }
        guard entry.isSound else { throw .invalidEntry }
        var plaintext = entry.plaintext
        defer { plaintext.wipeSecret() }
        guard
            let sealed = PublicSealing.seal(
                plaintext, to: recoveryKey.encoded, purpose: "signet-journal/v1", context: scope.encoded + head)
        else { throw .invalidEntry }
        guard let signature = try? sign(statement(device, sealed, after: head)), signature.count == 64 else {
            throw .signingFailed
        }
        add(Record(device: device, sealed: sealed, signature: signature))
    }

    /// Demands that the owner's devices wrote every record, and that none is missing of those that the bundle knew.
    ///
    /// - Parameter states: every state of the account since the epoch began, so that revoked devices are known.
    /// - Throws: ``RecoveryJournalError``.
    public func verify(against bundle: RecoveryBundle, states: [AccountState]) throws(RecoveryJournalError) {
        guard bundle.scope == scope else { throw .anotherAccount }
        var keys: [UInt16: [UInt8]] = [:]
        for device in states.flatMap(\.devices) { keys[device.number] = device.keys.signing }
        var head = [UInt8](repeating: 0, count: 32)
        var isBundlesHeadMet = bundle.journalCount == 0
        for (position, record) in records.enumerated() {
            let message = statement(record.device, record.sealed, after: head)
            guard let key = keys[record.device],
                let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key),
                key.isValidSignature(record.signature, for: message)
            else { throw .notByADevice(position: position) }
            head = Self.head(record, after: head)
            if position + 1 == Int(bundle.journalCount) { isBundlesHeadMet = head == bundle.journalHead }
        }
        guard isBundlesHeadMet else { throw .recordsMissing }
    }

    /// Opens every record with the recovered key.
    ///
    /// - Throws: ``RecoveryJournalError``: the key is another epoch's, or a record is not an entry.
    public func open(with secret: SecretScalar) throws(RecoveryJournalError) -> [JournalEntry] {
        guard let key = try? secret.agreementKey() else { throw .notSealedToThisKey(position: 0) }
        var entries: [JournalEntry] = []
        var head = [UInt8](repeating: 0, count: 32)
        for record in records {
            guard
                var plaintext = PublicSealing.open(
                    record.sealed, with: key, purpose: "signet-journal/v1", context: scope.encoded + head)
            else { throw .notSealedToThisKey(position: entries.count) }
            defer { plaintext.wipeSecret() }
            do throws(RecoveryFormatError) { entries.append(try JournalEntry(plaintext: plaintext)) } catch {
                throw .malformed(error)
            }
            head = Self.head(record, after: head)
        }
        return entries
    }

    /// Whether the first `count` records end in this head.
    package func holds(_ head: [UInt8], at count: Int) -> Bool {
        guard count <= records.count else { return false }
        return records.prefix(count).reduce([UInt8](repeating: 0, count: 32)) { Self.head($1, after: $0) } == head
    }

    private mutating func add(_ record: Record) {
        head = Self.head(record, after: head)
        records.append(record)
    }

    private func statement(_ device: UInt16, _ sealed: [UInt8], after head: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(scope.encoded)
        writer.write(head)
        writer.write(device)
        writer.write(sealed)
        return writer.bytes
    }

    private static func head(_ record: Record, after head: [UInt8]) -> [UInt8] {
        let device = [UInt8(record.device >> 8), UInt8(record.device & 255)]
        return Array(SHA256.hash(data: head + device + record.sealed))
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(scope.encoded)
        writer.write(UInt32(records.count))
        for record in records {
            writer.write(record.device)
            writer.long(record.sealed)
            writer.write(record.signature)
        }
        return writer.bytes
    }

    /// Reads the wire form; verifies nothing.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, Self.format) { reader in
            var journal = RecoveryJournal(scope: try RecoveryScope(from: &reader))
            let count = Int(try reader.uint32())
            guard count <= Self.maximumCount else { throw RecoveryFormatError.invalidField }
            for _ in 0..<count {
                let device = try reader.uint16()
                let sealed = try reader.long()
                guard sealed.count <= Self.maximumSealedByteCount else { throw RecoveryFormatError.invalidField }
                journal.add(Record(device: device, sealed: sealed, signature: try reader.array(64)))
            }
            return journal
        }
    }
}

/// Why a journal is not used, or was not added to.
public enum RecoveryJournalError: Error, Hashable, Sendable {
    /// ``RecoveryJournal/maximumCount`` records are there. Begin a new epoch.
    case full
    /// A field of the entry has another length, or the recovery key is none; the caller's mistake.
    case invalidEntry
    /// The caller's signing closure threw.
    case signingFailed
    /// It belongs to another account or epoch than the bundle.
    case anotherAccount
    /// None of the owner's devices signed this record.
    case notByADevice(position: Int)
    /// Whoever stores it left out records that the bundle knew.
    case recordsMissing
    /// The key does not open this record.
    case notSealedToThisKey(position: Int)
    /// What is inside is no entry.
    case malformed(RecoveryFormatError)
}
