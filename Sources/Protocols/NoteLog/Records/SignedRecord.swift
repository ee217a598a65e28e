// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto
public import KeyTransparency

/// Why bytes are not a record, or none was made. Nothing but other bytes helps.
public enum NoteRecordError: Error, Hashable, Sendable {
    /// The bytes do not have the form.
    case malformed(CanonicalCodingError)
    /// Another name or version in the first line.
    case unknownFormat
    /// More bytes than the kind of record may have.
    case tooLong(Int)
    /// A handle in it is none.
    case invalidHandle(HandleError)
    /// A number or choice that the form does not have.
    case invalidField
    /// The named device did not sign it.
    case invalidSignature
    /// The caller's signing closure threw.
    case signingFailed
}

extension NoteRecordError {
    /// What a reader of ours threw.
    init(_ error: any Error) {
        switch error {
        case let error as NoteRecordError: self = error
        case let error as CanonicalCodingError: self = .malformed(error)
        case let error as HandleError: self = .invalidHandle(error)
        default: self = .invalidField
        }
    }
}

/// The signature that ends every record: Ed25519 by the author's device over all bytes before it.
enum SignedRecord {
    static let signatureByteCount = 64

    /// The record with its signature, which is not checked here.
    static func sign(
        _ unsigned: [UInt8], limit: Int, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(NoteRecordError) -> [UInt8] {
        let signature: [UInt8]
        do { signature = try sign(unsigned) } catch { throw .signingFailed }
        guard signature.count == signatureByteCount else { throw .invalidSignature }
        let record = unsigned + signature
        guard record.count <= limit else { throw .tooLong(record.count) }
        return record
    }

    static func check(_ record: [UInt8], by device: [UInt8]) throws(NoteRecordError) {
        guard isSigned(record, by: device) else { throw .invalidSignature }
    }

    private static func isSigned(_ record: [UInt8], by device: [UInt8]) -> Bool {
        guard record.count > signatureByteCount,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: device)
        else { return false }
        return key.isValidSignature(
            record.suffix(signatureByteCount), for: record.dropLast(signatureByteCount))
    }

    /// A reader behind the first line, over what the signature covers.
    static func reader(
        _ record: [UInt8], format: StaticString, limit: Int
    ) throws(NoteRecordError) -> ByteReader {
        guard record.count <= limit else { throw .tooLong(record.count) }
        guard record.count > signatureByteCount else {
            throw .malformed(.truncated(needed: signatureByteCount, remaining: record.count))
        }
        var reader = ByteReader(record.dropLast(signatureByteCount))
        do {
            let line = format.withUTF8Buffer { Array($0) }
            guard try reader.bytes(line.count).elementsEqual(line) else { throw NoteRecordError.unknownFormat }
        } catch { throw NoteRecordError(error) }
        return reader
    }
}

extension ByteReader {
    mutating func noteID() throws -> NoteID {
        guard let note = NoteID(try bytes(NoteID.byteCount)) else { throw NoteRecordError.invalidField }
        return note
    }

    mutating func recordHash() throws -> RecordHash {
        guard let hash = RecordHash(try bytes(RecordHash.byteCount)) else { throw NoteRecordError.invalidField }
        return hash
    }
}
