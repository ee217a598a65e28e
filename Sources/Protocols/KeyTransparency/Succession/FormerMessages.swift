// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import TransparencyLog

/// What a client asks after a handover: how a log that ended grew from what the client knew of it to its end, and what it
/// held for a handle then.
///
/// Wire form, integers big-endian: `signet-former-request/v1` LF; u16 length of the log's name, and the name; u64 known
/// size, 0 for none; the handle to the end, none for the growth alone.
public struct FormerRequest: Hashable, Sendable {
    /// The log that ended.
    public let origin: KeyName
    /// Size of the largest checkpoint of it that the client has verified; 0 for none.
    public let knownSize: UInt64
    /// Whose history; nil for the growth alone.
    public let handle: Handle?

    private static let format = Array("signet-former-request/v1\n".utf8)

    /// A request.
    public init(origin: KeyName, knownSize: UInt64 = 0, handle: Handle? = nil) {
        self.origin = origin
        self.knownSize = knownSize
        self.handle = handle
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt16(truncatingIfNeeded: origin.bytes.count))
        writer.write(origin.bytes)
        writer.write(knownSize)
        writer.write(handle?.bytes ?? [])
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``LookupMessageError``.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw LookupMessageError.unknownFormat
            }
            origin = try KeyName(reader.bytes(Int(reader.uint16())))
            knownSize = try reader.uint64()
            let rest = Array(reader.rest())
            handle = rest.isEmpty ? nil : try Handle(canonical: rest)
        } catch { throw LookupMessageError(error) }
    }
}

/// What the directory that goes on answers about a log that ended.
///
/// Wire form, integers big-endian: `signet-former/v1` LF; u8 count and hashes of the proof that the end extends what the
/// client knew; to the end the whole history of the handle, a ``HistoryResponse`` that rests on the last checkpoint, or
/// nothing if none was asked for.
public struct FormerResponse: Hashable, Sendable {
    /// No answer is longer, in bytes.
    public static let maximumByteCount = HistoryResponse.maximumByteCount + 4096

    /// That the log's end extends the checkpoint that the client knows; empty if it knows none or the end.
    public let consistency: ConsistencyProof
    /// The history, ``HistoryResponse``; empty for none.
    public let history: [UInt8]

    private static let format = Array("signet-former/v1\n".utf8)

    /// An answer of these parts.
    public init(consistency: ConsistencyProof, history: [UInt8]) {
        self.consistency = consistency
        self.history = history
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(path: consistency.hashes)
        writer.write(history)
        return writer.bytes
    }

    /// Reads the wire form: lengths and form only.
    ///
    /// - Throws: ``LookupMessageError``.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw LookupMessageError.unknownFormat
            }
            consistency = ConsistencyProof(hashes: try reader.path())
            history = Array(reader.rest())
        } catch { throw LookupMessageError(error) }
    }
}
