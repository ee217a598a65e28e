// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A device's signed statement of where all notes of its account stand, in a chain by hash. The other devices of the
/// account compare it with what the server gives them, so that a rollback or a fork of any note is noticed.
///
/// Wire form: `signet-account-head/v1` LF; author; u64 number; 32 hash of the head before (zeros at 1); 32 hash of
/// ``NoteHeads``; 64 signature by the author's device.
public struct AccountHead: Hashable, Sendable {
    /// No head is longer, in bytes.
    public static let maximumByteCount = 512

    /// Whose head, and by which device.
    public let author: Author
    /// From 1, one more each time.
    public let number: UInt64
    /// The head before; ``RecordHash/none`` at 1.
    public let previous: RecordHash
    /// Hash of the ``NoteHeads``.
    public let notes: RecordHash
    /// The wire form.
    public let encoded: [UInt8]

    /// By which the next head names it, and what the account state's `accountHead` may hold.
    public var hash: RecordHash { RecordHash(of: encoded) }

    static let format: StaticString = "signet-account-head/v1\n"

    /// Signs a head.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of the author's device over the bytes passed.
    /// - Throws: ``NoteRecordError``.
    public init(
        author: Author, number: UInt64, previous: RecordHash, notes: RecordHash, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(NoteRecordError) {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(author)
        writer.write(number)
        writer.write(previous.bytes)
        writer.write(notes.bytes)
        try self.init(
            decoding: SignedRecord.sign(writer.bytes, limit: Self.maximumByteCount, with: sign))
    }

    /// Reads a head and checks form and signature.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(decoding bytes: [UInt8]) throws(NoteRecordError) {
        var reader = try SignedRecord.reader(bytes, format: Self.format, limit: Self.maximumByteCount)
        do {
            author = try Author(from: &reader)
            number = try reader.uint64()
            previous = try reader.recordHash()
            notes = try reader.recordHash()
            try reader.end()
        } catch { throw NoteRecordError(error) }
        encoded = bytes
        try SignedRecord.check(bytes, by: author.device)
    }
}

/// Judges the chain of an account's heads.
public enum AccountHeadVerifier {
    /// Checks, in this order: account, chain, consistency, authority, content.
    ///
    /// - Parameters:
    ///   - heads: those after the known one, or from the first on; the last is the newest.
    ///   - known: the newest head this device has accepted; nil if none.
    ///   - notes: what the newest head commits to.
    ///   - keys: the account's own devices, from a verified lookup.
    /// - Throws: ``AccountHeadError``.
    /// - Returns: the newest head, to remember.
    public static func verify(
        _ heads: [AccountHead], committingTo notes: NoteHeads, knowing known: AccountHead?, keys: AuthorKeys
    ) throws(AccountHeadError) -> AccountHead {
        guard heads.allSatisfy({ $0.author.handle == keys.handle }) else { throw .anotherAccount }
        guard let newest = heads.last ?? known else { throw .none }
        try checkChain(heads, known)
        if !heads.isEmpty {
            guard keys.devices.contains(newest.author.device) else { throw .noAuthority(number: newest.number) }
        }
        guard newest.notes == notes.hash else { throw .otherNotes }
        return newest
    }

    private static func checkChain(_ heads: [AccountHead], _ known: AccountHead?) throws(AccountHeadError) {
        var (number, previous) = (known?.number ?? 0, known?.hash ?? .none)
        for head in heads {
            guard head.number > number else {
                throw head.number == known?.number && head.hash != known?.hash
                    ? .fork(number: head.number) : .rollback(known: number, received: head.number)
            }
            guard head.number - number == 1 else { throw .gap(after: number) }
            guard head.previous == previous else { throw .fork(number: head.number) }
            (number, previous) = (head.number, head.hash)
        }
    }
}

/// Why an account's heads are not believed. The server or an old device misbehaved.
public enum AccountHeadError: Error, Hashable, Sendable {
    /// Nothing is known and nothing came.
    case none
    /// A head of another account.
    case anotherAccount
    /// A head that is not newer than the known one.
    case rollback(known: UInt64, received: UInt64)
    /// Two heads with one predecessor or one number. Both are evidence.
    case fork(number: UInt64)
    /// A head between is missing. A retry that asks for more may help.
    case gap(after: UInt64)
    /// The newest was signed by a device that the account does not have now.
    case noAuthority(number: UInt64)
    /// The notes' heads are not the ones that the newest head commits to.
    case otherNotes
}
