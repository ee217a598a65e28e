import CanonicalCoding
public import Crypto
public import KeyTransparency
import SecretSharing

/// What a recovery brings back, sealed to a key whose seed the guardians have in parts. A device adds to it whenever it
/// likes, without guardians.
///
/// Each record names the hash of the one before, the version of the account in which the device that added it was listed, and
/// is signed by that device. So whoever stores the journal can neither add, change, nor reorder; a device that was removed
/// adds nothing any more; the bundle names the head when it was made, so that a journal cut below that is noticed.
///
/// Wire form: `signet-journal/v2` LF; scope (36); u32 count; for each record: u16 device number, u64 version of the account,
/// u32 length and sealed entries, 64-byte Ed25519 signature over `signet-journal/v2` LF, scope, previous head (32), device
/// number, version, sealed entries. A head is SHA-256 over previous head, device number, version and sealed entries; the
/// first previous head is 32 zeros. Sealed are at most 64 entries of 512 bytes one after the other, or 512 zeros for none.
public struct RecoveryJournal: Hashable, Sendable {
    /// The most records.
    public static let maximumCount = 20_000
    static let entriesPerRecord = 64
    static let maximumSealedByteCount = entriesPerRecord * JournalEntry.byteCount + PublicSealing.overhead
    private static let format: StaticString = "signet-journal/v2\n"

    /// Entries that were added together.
    struct Record: Hashable, Sendable {
        let device: UInt16
        let version: UInt64
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

    /// Seals entries and appends them. None at all is a record too: it says that this device has seen those before it.
    ///
    /// - Parameters:
    ///   - journalKey: of this epoch, from the bundle, 1216 bytes.
    ///   - device: the number of the device that adds them.
    ///   - version: of the account's state that lists the device.
    ///   - sign: gives the device's Ed25519 signature, 64 bytes.
    /// - Throws: ``RecoveryJournalError``.
    public mutating func append(
        _ entries: [JournalEntry], to journalKey: [UInt8], device: UInt16, at version: UInt64,
        signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoveryJournalError) {
        guard entries.allSatisfy(\.isSound) else { throw .invalidEntry }
        for start in stride(from: 0, to: max(1, entries.count), by: Self.entriesPerRecord) {
            guard count < Self.maximumCount else { throw .full }
            let sealed = try seal(Array(entries.dropFirst(start).prefix(Self.entriesPerRecord)), to: journalKey)
            guard let signature = try? sign(statement(device, version, sealed, after: head)), signature.count == 64
            else { throw .signingFailed }
            add(Record(device: device, version: version, sealed: sealed, signature: signature))
        }
    }

    private func seal(_ entries: [JournalEntry], to key: [UInt8]) throws(RecoveryJournalError) -> [UInt8] {
        var plaintext = entries.flatMap(\.plaintext)
        if entries.isEmpty { plaintext = [UInt8](repeating: 0, count: JournalEntry.byteCount) }
        defer { plaintext.wipeSecret() }
        guard
            let sealed = PublicSealing.seal(
                plaintext, to: key, purpose: "signet-journal/v2", context: scope.encoded + head)
        else { throw .invalidEntry }
        return sealed
    }

    /// Demands that the owner's devices wrote every record while they were the owner's, and that none is missing of those
    /// that the bundle knew.
    ///
    /// A log that took over from another begins with the account as it was then. Records of versions before that count when a
    /// device signed them that the account still had, or when the bundle or a later record that counts holds them.
    ///
    /// - Parameter states: every state of the account that the log shows, before a recovery took it over, in order, so that
    ///   removed devices are known.
    /// - Returns: how many records count, from the first. Those after it are junk, or by devices that were removed since, and
    ///   nobody who is still a device says that they were there before.
    /// - Throws: ``RecoveryJournalError``: what the bundle knew is missing or another.
    public func verify(
        against bundle: RecoveryBundle, states: [AccountState]
    ) throws(RecoveryJournalError) -> Int {
        guard bundle.scope == scope else { throw .anotherAccount }
        let byVersion = Dictionary(states.map { ($0.version, $0) }) { first, _ in first }
        let listed = Set(states.last?.devices.map(\.keys.signing) ?? [])
        var (head, latest) = ([UInt8](repeating: 0, count: 32), UInt64(0))
        var isBundlesHeadMet = bundle.journalCount == 0
        var vouched = 0
        for (position, record) in records.enumerated() {
            let beginning = states.first.flatMap { record.version < $0.version ? $0 : nil }
            let key = (byVersion[record.version] ?? beginning)?.signingKey(of: record.device)
            guard record.version >= latest, key.map({ isSigned(record, by: $0, after: head) }) ?? (beginning != nil)
            else {
                // Whoever could store a file may have put junk behind what counts: it takes nothing away from that.
                guard position >= Int(bundle.journalCount) else { throw .notByADevice(position: position) }
                break
            }
            (head, latest) = (Self.head(record, after: head), record.version)
            if let key, listed.contains(key) { vouched = position + 1 }
            if position + 1 == Int(bundle.journalCount) { isBundlesHeadMet = head == bundle.journalHead }
        }
        guard isBundlesHeadMet else { throw .recordsMissing }
        return max(vouched, Int(bundle.journalCount))
    }

    private func isSigned(_ record: Record, by key: [UInt8], after head: [UInt8]) -> Bool {
        let message = statement(record.device, record.version, record.sealed, after: head)
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(record.signature, for: message)
    }

    /// Opens records with the key that the guardians' parts give.
    ///
    /// - Parameter count: of the first so many, as ``verify(against:states:)`` says.
    /// - Throws: ``RecoveryJournalError``: the key is another epoch's, or a record holds no entries.
    public func open(with key: SealingKey, first count: Int) throws(RecoveryJournalError) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        var head = [UInt8](repeating: 0, count: 32)
        for (position, record) in records.prefix(count).enumerated() {
            guard
                var plaintext = PublicSealing.open(
                    record.sealed, with: key, purpose: "signet-journal/v2", context: scope.encoded + head)
            else { throw .notSealedToThisKey(position: position) }
            defer { plaintext.wipeSecret() }
            do throws(RecoveryFormatError) { entries += try JournalEntry.list(plaintext: plaintext) } catch {
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

    private func statement(
        _ device: UInt16, _ version: UInt64, _ sealed: [UInt8], after head: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(scope.encoded)
        writer.write(head)
        writer.write(device)
        writer.write(version)
        writer.write(sealed)
        return writer.bytes
    }

    private static func head(_ record: Record, after head: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(head)
        writer.write(record.device)
        writer.write(record.version)
        writer.write(record.sealed)
        return Array(SHA256.hash(data: writer.bytes))
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(scope.encoded)
        writer.write(UInt32(records.count))
        for record in records {
            writer.write(record.device)
            writer.write(record.version)
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
            for _ in 0..<count { journal.add(try Record(from: &reader)) }
            return journal
        }
    }
}

extension RecoveryJournal.Record {
    fileprivate init(from reader: inout ByteReader) throws {
        device = try reader.uint16()
        version = try reader.uint64()
        sealed = try reader.long()
        guard sealed.count <= RecoveryJournal.maximumSealedByteCount else { throw RecoveryFormatError.invalidField }
        signature = try reader.array(64)
    }
}

extension AccountState {
    /// The Ed25519 key of the device of a number, 32 bytes.
    fileprivate func signingKey(of device: UInt16) -> [UInt8]? {
        devices.first { $0.number == device }?.keys.signing
    }
}

/// Why a journal is not used, or was not added to.
public enum RecoveryJournalError: Error, Hashable, Sendable {
    /// ``RecoveryJournal/maximumCount`` records are there. Begin a new epoch.
    case full
    /// A field of an entry has another length, or the journal's key is none; the caller's mistake.
    case invalidEntry
    /// The caller's signing closure threw.
    case signingFailed
    /// It belongs to another account or epoch than the bundle.
    case anotherAccount
    /// None of the owner's devices signed this record, or it was not one of them in the version that the record names.
    case notByADevice(position: Int)
    /// Devices that were removed since added what comes from this position on, and none that is left has vouched for it.
    case byRemovedDevices(position: Int)
    /// Whoever stores it left out records that the bundle knew.
    case recordsMissing
    /// The key does not open this record.
    case notSealedToThisKey(position: Int)
    /// What is inside is no entry.
    case malformed(RecoveryFormatError)
}
