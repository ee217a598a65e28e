// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency
public import TransparencyLog

/// A directory's public statement about its server's TLS keys, one version after the other. Each is signed by the log's
/// key, and its hash is logged under ``KeyTransparency/ReservedLabel/pins``, where its version is the number of the
/// record.
///
/// The text of a C2SP signed note:
/// ```
/// signet-directory-pins/v1
/// origin example.org/signet
/// version 2
/// time 1798761600
/// tls-root <base64 of the DER of a CA certificate>
/// tls-pin leaf sha256/<base64 of 32 bytes>
/// tls-backup leaf sha256/<base64 of 32 bytes>
/// tls-recovery example.org/signet/recovery+3c4d5e6f+AXE...
/// tls-proxies refuse
/// ```
/// The last five as in ``ServerTrust``; `tls-recovery` and `tls-proxies` may be missing. The first line keeps it from being a checkpoint.
public struct DirectoryPins: Hashable, Sendable {
    /// No note is longer, in bytes.
    public static let maximumByteCount = 65_536

    /// The log's name.
    public let origin: KeyName
    /// From 1.
    public let version: UInt64
    /// When it was made, in seconds since 1970, as the server says.
    public let time: UInt64
    /// The pins.
    public let server: ServerTrust

    /// Pins of a version.
    public init(origin: KeyName, version: UInt64, time: UInt64, server: ServerTrust) {
        self.origin = origin
        self.version = version
        self.time = time
        self.server = server
    }

    /// What is signed and logged.
    public var text: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write("origin", origin.bytes)
        writer.write("version", Decimal.encode(version))
        writer.write("time", Decimal.encode(time))
        server.write(to: &writer)
        return writer.bytes
    }

    /// By what it is told from others.
    public var mark: PinsMark { PinsMark(version: version, hash: Array(SHA256.hash(data: text))) }

    /// Reads the text.
    ///
    /// - Throws: ``DirectoryProfileError``.
    public init(decoding text: [UInt8]) throws(DirectoryProfileError) {
        guard text.count <= Self.maximumByteCount else { throw .tooLong(text.count) }
        guard text.starts(with: Self.format) else { throw .unknownFormat }
        var reader = ByteReader(text.dropFirst(Self.format.count))
        guard let origin = try? KeyName(Array(reader.value(of: "origin"))) else { throw .invalidLine("origin") }
        guard let version = try? Decimal.decode(reader.value(of: "version")), version > 0 else {
            throw .invalidLine("version")
        }
        guard let time = try? Decimal.decode(reader.value(of: "time")) else { throw .invalidLine("time") }
        self.init(origin: origin, version: version, time: time, server: try ServerTrust(from: &reader))
        guard (try? reader.end()) != nil else { throw .bytesLeft }
    }

    /// Reads a note that one of these keys has signed.
    ///
    /// - Throws: ``DirectoryPinsError``: `tooLong`, `malformedNote`, `notSigned` or `malformed`.
    public init(_ note: [UInt8], signedByOneOf keys: [VerifierKey]) throws(DirectoryPinsError) {
        guard note.count <= Self.maximumByteCount else { throw .tooLong(note.count) }
        let signed: SignedNote
        do { signed = try SignedNote(decoding: note) } catch { throw .malformedNote(error) }
        let isSigned = signed.signatures.contains { signature in
            keys.contains { (try? $0.verify(signature, of: signed.text)) != nil }
        }
        guard isSigned else { throw .notSigned }
        do { try self.init(decoding: signed.text) } catch { throw .malformed(error) }
    }

    /// The note with one signature.
    ///
    /// - Throws: `NoteSignerError`.
    public func note(by signer: NoteSigner) throws(NoteSignerError) -> [UInt8] {
        let text = text
        return text + [UInt8(ascii: "\n")] + (try signer.sign(text)).encoded
    }

    private static let format = Array("signet-directory-pins/v1\n".utf8)
}

/// Which pins a client has: their version, and SHA-256 of their text.
public struct PinsMark: Hashable, Sendable {
    /// From 1.
    public let version: UInt64
    /// 32 bytes.
    public let hash: [UInt8]

    init(version: UInt64, hash: [UInt8]) {
        self.version = version
        self.hash = hash
    }

    /// Reads a version, a space and base64 of the hash; nil if it is not that.
    init?(text: ArraySlice<UInt8>) {
        guard let space = text.firstIndex(of: UInt8(ascii: " ")), let version = try? Decimal.decode(text[..<space]),
            version > 0, let hash = try? Base64.decode(text[(space + 1)...]), hash.count == SHA256.byteCount
        else { return nil }
        self.init(version: version, hash: hash)
    }

    var text: [UInt8] { Decimal.encode(version) + [UInt8(ascii: " ")] + Base64.encode(hash) }
}

/// Why pins are not taken. Nothing is changed then.
public enum DirectoryPinsError: Error, Hashable, Sendable {
    /// More than ``DirectoryPins/maximumByteCount`` bytes.
    case tooLong(Int)
    /// No signed note.
    case malformedNote(NoteError)
    /// No signature of the log's key, or of the recovery key if they came as a file.
    case notSigned
    /// The text has another form.
    case malformed(DirectoryProfileError)
    /// They are not the newest that the log has.
    case notLogged(NewestRecordError)
    /// They are another log's.
    case otherOrigin
    /// Their version is not the number of their record in the log.
    case otherVersion(logged: UInt64, stated: UInt64)
    /// The log had a newer version before.
    case older(known: UInt64, shown: UInt64)
    /// The log had other pins of this version before.
    case replaced(version: UInt64)
    /// The directory does not show what its log says.
    case withheld
    /// No server could be reached by them.
    case unusable
    /// They came as a file, and no recovery key is known.
    case noRecoveryKey
    /// They came as a file, and are those in use, or older.
    case known(version: UInt64)
    /// They came as a file, and the log has other pins of this version, or none yet.
    case fileNotLogged(version: UInt64)
}
