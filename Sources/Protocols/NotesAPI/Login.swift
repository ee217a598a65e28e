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

/// OPAQUE's KE2, the same in form for a handle that does not exist. Wire form: 16 login, 320 KE2.
public struct LoginChallenge: NoteBody {
    /// Bytes of ``login``.
    public static let nameByteCount = 16
    /// Bytes of ``message``.
    public static let byteCount = 320
    /// The server's name for this login, 16 bytes. It is good once, and for a minute.
    public let login: [UInt8]
    /// KE2, `LoginResponse`.
    public let message: [UInt8]

    /// - Throws: ``NoteBodyError/invalidField``: another length.
    public init(login: [UInt8], message: [UInt8]) throws(NoteBodyError) {
        guard login.count == Self.nameByteCount, message.count == Self.byteCount else { throw .invalidField }
        self.login = login
        self.message = message
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(login)
        writer.write(message)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        login = try reader.fixed(Self.nameByteCount)
        message = try reader.fixed(Self.byteCount)
    }
}

/// OPAQUE's KE3. Wire form: 16 login, 64 KE3.
public struct LoginEnd: NoteBody {
    /// Bytes of ``message``.
    public static let byteCount = 64
    /// As the challenge named it.
    public let login: [UInt8]
    /// KE3, `LoginProof`.
    public let message: [UInt8]

    /// - Throws: ``NoteBodyError/invalidField``: another length.
    public init(login: [UInt8], message: [UInt8]) throws(NoteBodyError) {
        guard login.count == LoginChallenge.nameByteCount, message.count == Self.byteCount else {
            throw .invalidField
        }
        self.login = login
        self.message = message
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(login)
        writer.write(message)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        login = try reader.fixed(LoginChallenge.nameByteCount)
        message = try reader.fixed(Self.byteCount)
    }
}
