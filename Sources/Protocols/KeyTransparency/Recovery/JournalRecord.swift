// SPDX-License-Identifier: Apache-2.0

package import CanonicalCoding
import Crypto

/// One addition to what guardians guard, as far as its storage server can read it: which device added it, under which
/// version of the account, and that device's signature. What is sealed in it stays shut.
///
/// Wire form: u16 device number, u64 version of the account, u32 length and sealed entries, 64-byte Ed25519 signature over
/// `signet-journal/v2` LF, scope (36), previous head (32), device number, version, sealed entries. A head is SHA-256 over
/// previous head, device number, version and sealed entries; the first previous head is 32 zeros.
package struct JournalRecord: Hashable, Sendable {
    /// The first line of a journal, LF included.
    package static let format: StaticString = "signet-journal/v2\n"
    /// The most records of a journal.
    package static let maximumCount = 20_000
    /// One entry's length in bytes, before it is sealed.
    package static let entryByteCount = 512
    /// The most entries of a record.
    package static let maximumEntryCount = 64
    /// How many bytes longer sealed entries are: the encapsulated key (1120) and the tag (16).
    package static let sealingByteCount = 1136
    /// The head before the first record.
    package static let noHead = [UInt8](repeating: 0, count: 32)

    /// The number of the device that added it.
    package let device: UInt16
    /// The version of the account that lists the device.
    package let version: UInt64
    /// The entries, sealed to the journal's key.
    package let sealed: [UInt8]
    /// 64 bytes.
    package let signature: [UInt8]

    /// A record of these parts; nothing is verified.
    package init(device: UInt16, version: UInt64, sealed: [UInt8], signature: [UInt8]) {
        self.device = device
        self.version = version
        self.sealed = sealed
        self.signature = signature
    }

    /// What the device signs.
    package static func statement(
        _ device: UInt16, _ version: UInt64, _ sealed: [UInt8], after head: [UInt8], in scope: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(format)
        writer.write(scope)
        writer.write(head)
        writer.write(device)
        writer.write(version)
        writer.write(sealed)
        return writer.bytes
    }

    /// The hash over this record and all before it, 32 bytes.
    package func head(after head: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(head)
        writer.write(device)
        writer.write(version)
        writer.write(sealed)
        return Array(SHA256.hash(data: writer.bytes))
    }

    fileprivate func isSigned(by key: [UInt8], after head: [UInt8], in scope: [UInt8]) -> Bool {
        let statement = Self.statement(device, version, sealed, after: head, in: scope)
        return AccountSignature.isValid(signature, over: statement[...], byDevice: key)
    }

    /// Writes the wire form.
    package func write(to writer: inout ByteWriter) {
        writer.write(device)
        writer.write(version)
        writer.write(UInt32(truncatingIfNeeded: sealed.count))
        writer.write(sealed)
        writer.write(signature)
    }

    /// Reads the wire form; verifies nothing.
    ///
    /// - Throws: `CanonicalCodingError`; ``JournalRecordError``: no number of entries has this length.
    package init(from reader: inout ByteReader) throws {
        device = try reader.uint16()
        version = try reader.uint64()
        let count = try reader.count32()
        let (entries, rest) = (count - Self.sealingByteCount).quotientAndRemainder(dividingBy: Self.entryByteCount)
        guard rest == 0, (1...Self.maximumEntryCount).contains(entries) else { throw JournalRecordError.invalidLength }
        sealed = Array(try reader.bytes(count))
        signature = Array(try reader.bytes(64))
    }
}

/// Why bytes are not a record of a journal.
package enum JournalRecordError: Error, Hashable, Sendable {
    /// No number of entries has this length when it is sealed.
    case invalidLength
}

extension [JournalRecord] {
    /// The hash over all records, 32 bytes.
    package var head: [UInt8] { reduce(JournalRecord.noHead) { $1.head(after: $0) } }

    /// How many records, from the first, were signed by devices while they were the account's, and how many of these a device
    /// that is left has signed or added to. Versions do not run back.
    ///
    /// A log that took over from another begins with the account as it was then: a record of a version before that is taken as
    /// signed when the account's first state does not list its device, and counts only once a device that is left added to it.
    ///
    /// - Parameters:
    ///   - scope: account and epoch, 36 bytes.
    ///   - states: of the account, in order: the first that the log has, those of the versions that records name, the last.
    package func judged(in scope: [UInt8], by states: [AccountState]) -> (signed: Int, vouched: Int) {
        let byVersion = Dictionary(states.map { ($0.version, $0) }) { first, _ in first }
        let listed = Set(states.last?.devices.map(\.keys.signing) ?? [])
        var (head, latest, vouched) = (JournalRecord.noHead, UInt64(0), 0)
        for (position, record) in enumerated() {
            let beginning = states.first.flatMap { record.version < $0.version ? $0 : nil }
            let key = (byVersion[record.version] ?? beginning)?.signingKey(of: record.device)
            guard record.version >= latest,
                key.map({ record.isSigned(by: $0, after: head, in: scope) }) ?? (beginning != nil)
            else { return (position, vouched) }
            (head, latest) = (record.head(after: head), record.version)
            if let key, listed.contains(key) { vouched = position + 1 }
        }
        return (count, vouched)
    }
}

extension AccountState {
    /// The Ed25519 key of the device of a number, 32 bytes.
    fileprivate func signingKey(of device: UInt16) -> [UInt8]? {
        devices.first { $0.number == device }?.keys.signing
    }
}
