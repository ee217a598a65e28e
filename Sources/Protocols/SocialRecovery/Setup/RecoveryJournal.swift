// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import KeyTransparency
import SecretMemory
import SecretSharing

/// What a recovery brings back, sealed to a key whose seed the guardians have in parts. A device adds to it whenever it
/// likes, without guardians.
///
/// Each record names the hash of the one before, the version of the account in which the device that added it was listed, and
/// is signed by that device. So the storage server cannot add, change or reorder records; a removed device adds nothing
/// any more; and the bundle names the head at the time when it was made, so that a journal cut below that is noticed.
///
/// Wire form: `signet-journal/v2` LF; scope (36); u32 count; the records, each a `JournalRecord`. Sealed are at most 64 entries
/// of 512 bytes one after the other, or 512 zeros for none.
public struct RecoveryJournal: Hashable, Sendable {
    /// Account and epoch.
    public let scope: RecoveryScope
    private(set) var records: [JournalRecord] = []
    /// Hash over all records, 32 bytes.
    public private(set) var head = JournalRecord.noHead

    /// How many records.
    public var count: Int { records.count }

    /// An empty journal.
    public init(scope: RecoveryScope) { self.scope = scope }

    /// A journal of these records; nothing is verified.
    package init(scope: RecoveryScope, _ records: [JournalRecord]) {
        self.scope = scope
        self.records = records
        head = records.head
    }

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
        let together = JournalRecord.maximumEntryCount
        for start in stride(from: 0, to: max(1, entries.count), by: together) {
            guard count < JournalRecord.maximumCount else { throw .full }
            let sealed = try seal(Array(entries.dropFirst(start).prefix(together)), to: journalKey)
            let statement = JournalRecord.statement(device, version, sealed, after: head, in: scope.encoded)
            guard let signature = try? sign(statement), signature.count == 64 else { throw .signingFailed }
            add(JournalRecord(device: device, version: version, sealed: sealed, signature: signature))
        }
    }

    private func seal(_ entries: [JournalEntry], to key: [UInt8]) throws(RecoveryJournalError) -> [UInt8] {
        var plaintext = entries.flatMap(\.plaintext)
        if entries.isEmpty { plaintext = [UInt8](repeating: 0, count: JournalEntry.byteCount) }
        defer { plaintext.wipe() }
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
    /// - Returns: how many records count, from the first. Those after it are junk, or by devices that were removed
    ///   since, and no remaining device confirms that they were there before.
    /// - Throws: ``RecoveryJournalError``: what the bundle knew is missing or another.
    public func verify(
        against bundle: RecoveryBundle, states: [AccountState]
    ) throws(RecoveryJournalError) -> Int {
        guard bundle.scope == scope else { throw .anotherAccount }
        let known = Int(bundle.journalCount)
        let (signed, vouched) = records.judged(in: scope.encoded, by: states)
        // A party that could store a file may have put junk behind the records that count: it does not affect them.
        guard signed >= min(known, count) else { throw .notByADevice(position: signed) }
        guard known == 0 || holds(bundle.journalHead, at: known) else { throw .recordsMissing }
        return max(vouched, known)
    }

    /// Without what no device of the account's signed, and what comes behind it.
    package func withoutJunk(_ states: [AccountState]) -> RecoveryJournal {
        let signed = records.judged(in: scope.encoded, by: states).signed
        return RecoveryJournal(scope: scope, Array(records.prefix(signed)))
    }

    /// Opens records with the key that the guardians' parts give. Records that a device of the account added and that
    /// cannot be opened are counted, and affect no others.
    ///
    /// - Parameter count: of the first so many, as ``verify(against:states:)`` says.
    /// - Throws: ``RecoveryJournalError/notSealedToThisKey(position:)``: not one record opens; the key is another epoch's.
    public func open(with key: SealingKey, first count: Int) throws(RecoveryJournalError) -> OpenedJournal {
        var opened = OpenedJournal()
        var head = JournalRecord.noHead
        for record in records.prefix(count) {
            if let entries = entries(of: record, after: head, with: key) {
                opened.entries += entries
            } else {
                opened.unreadable += 1
            }
            head = record.head(after: head)
        }
        guard opened.unreadable == 0 || opened.unreadable < records.prefix(count).count else {
            throw .notSealedToThisKey(position: 0)
        }
        return opened
    }

    private func entries(of record: JournalRecord, after head: [UInt8], with key: SealingKey) -> [JournalEntry]? {
        guard
            var plaintext = PublicSealing.open(
                record.sealed, with: key, purpose: "signet-journal/v2", context: scope.encoded + head)
        else { return nil }
        defer { plaintext.wipe() }
        return try? JournalEntry.list(plaintext: plaintext)
    }

    /// Whether the first `count` records end in this head.
    package func holds(_ head: [UInt8], at count: Int) -> Bool {
        guard count <= records.count else { return false }
        return Array(records.prefix(count)).head == head
    }

    private mutating func add(_ record: JournalRecord) {
        head = record.head(after: head)
        records.append(record)
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(JournalRecord.format)
        writer.write(scope.encoded)
        writer.write(UInt32(records.count))
        for record in records { record.write(to: &writer) }
        return writer.bytes
    }

    /// Reads the wire form; verifies nothing.
    ///
    /// - Throws: ``RecoveryFormatError``.
    public init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, JournalRecord.format) { reader in
            var journal = RecoveryJournal(scope: try RecoveryScope(from: &reader))
            let count = Int(try reader.uint32())
            guard count <= JournalRecord.maximumCount else { throw RecoveryFormatError.invalidField }
            for _ in 0..<count { journal.add(try JournalRecord(from: &reader)) }
            return journal
        }
    }
}

/// What a journal held.
public struct OpenedJournal: Sendable {
    /// Everything that could be read, in the order in which the owner's devices had put it there.
    public internal(set) var entries: [JournalEntry] = []
    /// The number of additions by the owner's devices that cannot be read.
    public internal(set) var unreadable = 0
}

/// Why a journal is not used, or was not added to.
public enum RecoveryJournalError: Error, Hashable, Sendable {
    /// 20,000 records are there. Begin a new epoch.
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
    /// The storage server left out records that the bundle knew.
    case recordsMissing
    /// The key does not open this record.
    case notSealedToThisKey(position: Int)
}
