// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto

/// The SHA-256 of a key's exact SubjectPublicKeyInfo in DER, 32 bytes.
///
/// The same as `openssl pkey -pubin -outform der | openssl dgst -sha256`, curl's `--pinnedpubkey`, TrustKit, OkHttp,
/// NSPinnedDomains and Android. Pins are not secret.
///
/// Spec: RFC 7469 section 2.4.
public struct SPKIPin: Hashable, Sendable {
    /// The length of a pin, in bytes.
    public static let byteCount = 32

    /// The digest, 32 bytes.
    public let digest: [UInt8]

    /// The pin of a key.
    ///
    /// - Parameter subjectPublicKeyInfo: DER with tag and length, from ``CertificateFields/subjectPublicKeyInfo``.
    public init(hashing subjectPublicKeyInfo: some Sequence<UInt8>) {
        var hash = SHA256()
        let hashed: Void? = subjectPublicKeyInfo.withContiguousStorageIfAvailable {
            hash.update(bufferPointer: UnsafeRawBufferPointer($0))
        }
        if hashed == nil { Array(subjectPublicKeyInfo).withUnsafeBytes { hash.update(bufferPointer: $0) } }
        digest = hash.finalize().withUnsafeBytes { Array($0) }
    }

    /// A pin from its digest.
    ///
    /// - Throws: ``PinTextFault/invalidLength(_:)``: not 32 bytes.
    public init(digest: [UInt8]) throws(PinTextFault) {
        guard digest.count == Self.byteCount else { throw .invalidLength(digest.count) }
        self.digest = digest
    }

    /// Reads a pin in any of the spellings in use.
    ///
    /// - Throws: ``PinTextFault``.
    public init(_ text: some Sequence<UInt8>) throws(PinTextFault) {
        let text = Array(text)
        let spelling = PinSpelling.allCases.first { $0.fits(text) } ?? .base64
        let body = text.dropFirst(spelling.prefix.count).dropLast(spelling.suffix.count)
        let digest: [UInt8]
        do {
            digest = try spelling == .hex ? Hex.decode(Array(body)) : Base64.decode(body)
        } catch { throw .malformed(error) }
        try self.init(digest: digest)
    }

    /// Its text in a spelling.
    public func text(_ spelling: PinSpelling = .okHTTP) -> [UInt8] {
        spelling.prefix + (spelling == .hex ? Hex.encode(digest) : Base64.encode(digest)) + spelling.suffix
    }
}

/// How pins are written.
public enum PinSpelling: Hashable, Sendable, CaseIterable {
    /// `pin-sha256="…"`, of HTTP Public Key Pinning.
    case hpkp
    /// `sha256//…`, of curl.
    case curl
    /// `sha256/…`, of OkHttp.
    case okHTTP
    /// 64 hexadecimal digits, lower-case.
    case hex
    /// 44 characters of base64.
    case base64

    var prefix: [UInt8] {
        switch self {
        case .hpkp: Array(#"pin-sha256=""#.utf8)
        case .curl: Array("sha256//".utf8)
        case .okHTTP: Array("sha256/".utf8)
        case .hex, .base64: []
        }
    }

    var suffix: [UInt8] { self == .hpkp ? [UInt8(ascii: "\"")] : [] }

    /// Whether a text is meant to be in this spelling. A base64 digest may begin with a slash, but then it has 44
    /// characters behind `sha256/` and no more.
    func fits(_ text: [UInt8]) -> Bool {
        switch self {
        case .hex: text.count == SPKIPin.byteCount * 2
        case .curl: text.starts(with: prefix) && text.count != PinSpelling.okHTTP.prefix.count + 44
        default: text.starts(with: prefix) && text.count >= prefix.count + suffix.count
        }
    }
}

/// Why a text is not a pin.
public enum PinTextFault: Error, Hashable, Sendable {
    /// Not base64 or hex; the offset counts from behind the prefix.
    case malformed(CanonicalCodingError)
    /// Not 32 bytes but so many.
    case invalidLength(Int)
}
