// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import Crypto

/// The answer to a ``LoginEnd``. Wire form: u8 kind; 1: block sealed grant; 2: nothing.
public enum LoginAnswer: NoteBody {
    /// A ``LoginGrant``, sealed.
    case granted([UInt8])
    /// The password was not proven, the login was not begun or is over, or there is no such account.
    case refused

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        switch self {
        case .granted(let sealed):
            writer.write(UInt8(1))
            writer.write(block: sealed)
        case .refused: writer.write(UInt8(2))
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1: self = .granted(try reader.block(atMost: LoginGrant.maximumByteCount))
        case 2: self = .refused
        default: throw NoteBodyError.invalidField
        }
    }
}

/// What a password gives a device that has nothing yet: the account master key under that password.
///
/// Wire form: u64 version, block password wrap. Sealed: 12 nonce, ciphertext, 16 tag; AES-256-GCM under
/// HKDF-SHA512(session key of the login, info `signet-login-grant/v1`), associated data 16 login.
public struct LoginGrant: NoteBody {
    /// No sealed grant is longer, in bytes.
    public static let maximumByteCount = 640

    /// The version of the ``AccountKeys`` that the wrap is of.
    public let version: UInt64
    /// The account master key under the export key of this login.
    public let wrap: [UInt8]

    /// A grant.
    public init(version: UInt64, wrap: [UInt8]) {
        self.version = version
        self.wrap = wrap
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(version)
        writer.write(block: wrap)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        version = try reader.uint64()
        wrap = try reader.block(atMost: AccountKeys.maximumWrapByteCount)
    }

    /// The server's side.
    ///
    /// - Parameters:
    ///   - sessionKey: 64 bytes, as OPAQUE gives them.
    ///   - login: the bytes by which the challenge named the login.
    /// - Throws: ``LoginGrantError``.
    public func sealed(under sessionKey: SymmetricKey, login: [UInt8]) throws(LoginGrantError) -> [UInt8] {
        do {
            let box = try AES.GCM.seal(encoded, using: Self.key(sessionKey), authenticating: login)
            return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
        } catch { throw .notSealed }
    }

    /// The client's side.
    ///
    /// - Throws: ``LoginGrantError``.
    public init(opening sealed: [UInt8], with sessionKey: SymmetricKey, login: [UInt8]) throws(LoginGrantError) {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            let opened = try AES.GCM.open(box, using: Self.key(sessionKey), authenticating: login)
            try self.init(decoding: Array(opened))
        } catch { throw .notOpened }
    }

    private static func key(_ sessionKey: SymmetricKey) -> SymmetricKey {
        HKDF<SHA512>.deriveKey(
            inputKeyMaterial: sessionKey, info: Array("signet-login-grant/v1".utf8), outputByteCount: 32)
    }
}

/// Why a grant was not made or read.
public enum LoginGrantError: Error, Hashable, Sendable {
    /// Sealing failed, which no input can cause.
    case notSealed
    /// Not made in this login by the server that took part in it.
    case notOpened
}
