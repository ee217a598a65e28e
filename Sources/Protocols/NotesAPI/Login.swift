// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import KeyTransparency

/// What client and server of a login agree on besides their keys: the parameters of OPAQUE.
///
/// The server goes by its public key (no identity), so that a change of its name or log ends no registration; the client's
/// identity is the handle's bytes, and so is the credential identifier.
public enum LoginBinding {
    /// The context string.
    public static let context = Array("signet-login/v1".utf8)
}

/// OPAQUE's registration request. Wire form: 32 bytes.
public struct RegistrationBeginning: NoteBody {
    /// Bytes of ``message``.
    public static let byteCount = 32
    /// `RegistrationRequest`.
    public let message: [UInt8]

    /// - Throws: ``NoteBodyError/invalidField``: another length.
    public init(message: [UInt8]) throws(NoteBodyError) {
        guard message.count == Self.byteCount else { throw .invalidField }
        self.message = message
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { writer.write(message) }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws { message = try reader.fixed(Self.byteCount) }
}

/// OPAQUE's registration response. Wire form: 64 bytes.
public struct RegistrationEvaluation: NoteBody {
    /// Bytes of ``message``.
    public static let byteCount = 64
    /// `RegistrationResponse`.
    public let message: [UInt8]

    /// - Throws: ``NoteBodyError/invalidField``: another length.
    public init(message: [UInt8]) throws(NoteBodyError) {
        guard message.count == Self.byteCount else { throw .invalidField }
        self.message = message
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { writer.write(message) }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws { message = try reader.fixed(Self.byteCount) }
}

/// Puts a password in the place of the last one: its record and the master key under it, both or neither.
///
/// Wire form: u64 version, 192 record, block password wrap.
public struct RegistrationEnd: NoteBody {
    /// Bytes of ``record``.
    public static let recordByteCount = 192
    /// The version of the ``AccountKeys`` that the server has.
    public let version: UInt64
    /// `RegistrationRecord`.
    public let record: [UInt8]
    /// The account master key under the new export key.
    public let wrap: [UInt8]

    /// - Throws: ``NoteBodyError/invalidField``: another length.
    public init(version: UInt64, record: [UInt8], wrap: [UInt8]) throws(NoteBodyError) {
        guard record.count == Self.recordByteCount, wrap.count <= AccountKeys.maximumWrapByteCount else {
            throw .invalidField
        }
        self.version = version
        self.record = record
        self.wrap = wrap
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(version)
        writer.write(record)
        writer.write(block: wrap)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        version = try reader.uint64()
        record = try reader.fixed(Self.recordByteCount)
        wrap = try reader.block(atMost: AccountKeys.maximumWrapByteCount)
    }
}

/// Who logs in, and OPAQUE's KE1. Wire form: u8 handle length, handle, 96 KE1.
public struct LoginBeginning: NoteBody {
    /// Bytes of ``message``.
    public static let byteCount = 96
    /// Who.
    public let handle: Handle
    /// KE1, `LoginRequest`.
    public let message: [UInt8]

    /// - Throws: ``NoteBodyError/invalidField``: another length.
    public init(handle: Handle, message: [UInt8]) throws(NoteBodyError) {
        guard message.count == Self.byteCount else { throw .invalidField }
        self.handle = handle
        self.message = message
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(handle)
        writer.write(message)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        handle = try reader.handle()
        message = try reader.fixed(Self.byteCount)
    }
}

/// OPAQUE's KE2, the same in form for a handle that does not exist. Wire form: login, 320 KE2 at the end.
public struct LoginChallenge: NoteBody {
    /// Bytes of ``login`` where the server keeps the login in memory.
    public static let nameByteCount = 16
    /// Bytes of ``login`` where it is sealed to the client.
    public static let sealedNameByteCount = 438
    /// Bytes of ``message``.
    public static let byteCount = 320
    /// The server's name for this login: 16 bytes, or ``sealedNameByteCount`` where several front ends answer and the name is what they
    /// have to know, sealed for them. It is good once, and for a minute.
    public let login: [UInt8]
    /// KE2, `LoginResponse`.
    public let message: [UInt8]

    /// - Throws: ``NoteBodyError/invalidField``: another length.
    public init(login: [UInt8], message: [UInt8]) throws(NoteBodyError) {
        guard Self.isName(login), message.count == Self.byteCount else { throw .invalidField }
        self.login = login
        self.message = message
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(login)
        writer.write(message)
    }

    /// Reads the wire form, which ends a message: its length says how long the login is.
    public init(from reader: inout ByteReader) throws {
        login = try reader.login(before: Self.byteCount)
        message = try reader.fixed(Self.byteCount)
    }

    static func isName(_ login: [UInt8]) -> Bool { [nameByteCount, sealedNameByteCount].contains(login.count) }
}

/// OPAQUE's KE3. Wire form: login, 64 KE3 at the end.
public struct LoginEnd: NoteBody {
    /// Bytes of ``message``.
    public static let byteCount = 64
    /// As the challenge named it.
    public let login: [UInt8]
    /// KE3, `LoginProof`.
    public let message: [UInt8]

    /// - Throws: ``NoteBodyError/invalidField``: another length.
    public init(login: [UInt8], message: [UInt8]) throws(NoteBodyError) {
        guard LoginChallenge.isName(login), message.count == Self.byteCount else { throw .invalidField }
        self.login = login
        self.message = message
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(login)
        writer.write(message)
    }

    /// Reads the wire form, which ends a message: its length says how long the login is.
    public init(from reader: inout ByteReader) throws {
        login = try reader.login(before: Self.byteCount)
        message = try reader.fixed(Self.byteCount)
    }
}

extension ByteReader {
    /// The server's name for a login, before so many bytes at the end.
    fileprivate mutating func login(before byteCount: Int) throws -> [UInt8] {
        var ahead = self
        let isSealed = ahead.rest().count == LoginChallenge.sealedNameByteCount + byteCount
        return try fixed(isSealed ? LoginChallenge.sealedNameByteCount : LoginChallenge.nameByteCount)
    }
}
