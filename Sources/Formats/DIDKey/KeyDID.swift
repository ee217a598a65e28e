// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// A public key as a decentralized identifier: `did:key:` and the key in multibase.
///
/// One key has one text. The text is case-sensitive throughout, has no query, path or fragment, and is base58btc
/// (`z`): other multibases that the specification's wording would allow give a second text for the same key, so they
/// are refused.
///
/// Spec: W3C CCG, The did:key Method, section "Format"; multiformats/multicodec, multibase, unsigned-varint.
///
/// Security: says what a key is, not whose. P-256 and P-384 keys are points of their curve. Ed25519 keys are spelled properly
/// and not of small order; that one is a point shows in its use, as no signature verifies under bytes that are none. X25519 keys
/// are checked by length alone, because an agreement with one of small order fails.
public struct KeyDID: Hashable, Sendable {
    /// A longer text is refused unread, in bytes: room to name the kind of a key that we do not speak.
    public static let maximumByteCount = 512

    /// What kind of key.
    public let algorithm: KeyAlgorithm
    /// The key: ``KeyAlgorithm/byteCount`` bytes, points compressed (SEC 1, section 2.3.3).
    public let publicKey: [UInt8]
    /// The key in multibase with its multicodec, ASCII: what follows `did:key:`, and the fragment of the key ID.
    public let fingerprint: [UInt8]

    static let prefix = Array("did:key:".utf8)

    /// The identifier of a public key.
    ///
    /// - Throws: ``KeyDIDError/invalidKeyLength(_:_:)``, ``KeyDIDError/notAPoint(_:)``, ``KeyDIDError/ed25519(_:)``: the
    ///   caller's bytes are not a key of this kind.
    public init(_ algorithm: KeyAlgorithm, publicKey: [UInt8]) throws(KeyDIDError) {
        guard publicKey.count == algorithm.byteCount else {
            throw .invalidKeyLength(algorithm, publicKey.count)
        }
        guard CurveCoordinates.isKey(publicKey, of: algorithm) else { throw .notAPoint(algorithm) }
        try Self.checkSigningKey(publicKey, of: algorithm)
        self.algorithm = algorithm
        self.publicKey = publicKey
        do throws(CanonicalCodingError) {
            fingerprint = try Multibase.encode(Varint.encode(algorithm.multicodec) + publicKey, as: .base58btc)
        } catch { throw .malformed(error) }
    }

    /// Reads `did:key:z…`.
    ///
    /// - Throws: ``KeyDIDError``: anything but the one text of a key of a known kind. A retry cannot help.
    public init(decoding text: [UInt8]) throws(KeyDIDError) {
        guard text.count <= Self.maximumByteCount else { throw .tooLong(text.count) }
        guard text.starts(with: Self.prefix) else { throw .notADIDKey }
        try self.init(fingerprint: Array(text.dropFirst(Self.prefix.count)))
    }

    /// Reads a key ID, `did:key:z…#z…`, whose fragment must name the same key.
    ///
    /// - Throws: ``KeyDIDError``: no such text, or ``KeyDIDError/anotherFragment``: a fragment that names no key of
    ///   this identifier, such as `#keys-1`.
    public init(decodingKeyID text: [UInt8]) throws(KeyDIDError) {
        guard let mark = text.firstIndex(of: UInt8(ascii: "#")) else { throw .anotherFragment }
        try self.init(decoding: Array(text[..<mark]))
        guard text[(mark + 1)...].elementsEqual(fingerprint) else { throw .anotherFragment }
    }

    private init(fingerprint: [UInt8]) throws(KeyDIDError) {
        let number: UInt64
        let key: [UInt8]
        do throws(CanonicalCodingError) {
            let (encoding, bytes) = try Multibase.decode(fingerprint)
            guard encoding == .base58btc else {
                throw CanonicalCodingError.unknownMultibase(encoding.rawValue)
            }
            var reader = ByteReader(bytes)
            number = try Varint.decode(from: &reader)
            key = Array(reader.rest())
        } catch { throw .malformed(error) }
        guard let algorithm = KeyAlgorithm(multicodec: number) else { throw .unsupportedCodec(number) }
        try self.init(algorithm, publicKey: key)
    }

    private static func checkSigningKey(_ key: [UInt8], of algorithm: KeyAlgorithm) throws(KeyDIDError) {
        guard algorithm == .ed25519 else { return }
        do throws(Ed25519KeyError) { try Ed25519Key.check(key) } catch { throw .ed25519(error) }
    }

    /// The identifier, ASCII.
    public var encoded: [UInt8] { Self.prefix + fingerprint }

    /// The identifier of the key within its document: `did:key:z…#z…`, ASCII.
    public var keyID: [UInt8] { encoded + [UInt8(ascii: "#")] + fingerprint }
}

/// Why a text or a key makes no identifier. The sender has to correct it; a retry cannot help.
public enum KeyDIDError: Error, Hashable, Sendable {
    /// More than ``KeyDID/maximumByteCount`` bytes.
    case tooLong(Int)
    /// It does not begin with `did:key:` in lower case.
    case notADIDKey
    /// What follows is not canonical base58btc, or not a minimal varint and a key.
    case malformed(CanonicalCodingError)
    /// A multicodec that we do not speak: another curve, a private key, or no key at all.
    case unsupportedCodec(UInt64)
    /// The key has this many bytes, which no key of this kind has: often a key under another's label.
    case invalidKeyLength(KeyAlgorithm, Int)
    /// The bytes are not a point of the curve, compressed.
    case notAPoint(KeyAlgorithm)
    /// Bytes for which anyone can sign, or a second spelling of a key.
    case ed25519(Ed25519KeyError)
    /// The fragment is missing or is not the key's own.
    case anotherFragment
}
