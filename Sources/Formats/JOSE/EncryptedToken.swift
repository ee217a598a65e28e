// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import Crypto
public import StrictJSON

/// The ways in which contents are encrypted here.
///
/// Spec: RFC 7518, section 5.3.
public enum ContentEncryption: String, CaseIterable, Sendable {
    /// AES-128 in GCM.
    case a128GCM = "A128GCM"
    /// AES-256 in GCM.
    case a256GCM = "A256GCM"

    var keyByteCount: Int { self == .a128GCM ? 16 : 32 }
}

/// A JSON Web Encryption in compact form, read and not yet opened: header, no encrypted key, nonce, ciphertext and tag.
///
/// The key of the contents is agreed directly (`ECDH-ES`); other ways to carry a key are refused.
///
/// Spec: RFC 7516, sections 3.1, 5.2 and 7.1; RFC 7518, section 4.6.
public struct EncryptedToken: Sendable {
    /// The JOSE header. It is not authenticated before ``open(with:)``.
    public let header: JSONObject
    /// How the contents are encrypted.
    public let encryption: ContentEncryption
    private let ephemeralKey: WebKey
    private let authenticated: [UInt8]
    private let nonce: [UInt8]
    private let ciphertext: [UInt8]
    private let tag: [UInt8]

    /// Reads the five parts and the header.
    ///
    /// - Parameters:
    ///   - keyID: the key whose private half the caller has; the header must name it. Nil if keys have no names.
    ///   - offered: the encryptions that the caller asked for.
    /// - Throws: ``EncryptedTokenFault``, all but ``EncryptedTokenFault/tag``. A retry cannot help.
    public init(
        decoding text: [UInt8], keyID: JSONText?, offered: [ContentEncryption], limits: JSONLimits = .token
    ) throws(EncryptedTokenFault) {
        guard text.count <= limits.byteCount else { throw .tooLong(text.count) }
        let texts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard texts.count == 5 else { throw .parts(texts.count) }
        let parts = try Self.decoded(texts)
        do { header = try JSONObject(decoding: parts[0], limits: limits) } catch { throw .header(error) }
        encryption = try Self.checkedEncryption(header, offered)
        guard keyID == nil || header["kid"] == keyID.map(JSONValue.string) else { throw .keyID }
        ephemeralKey = try Self.ephemeralKey(header["epk"])
        guard parts[1].isEmpty, parts[2].count == 12, parts[4].count == 16 else { throw .lengths }
        (authenticated, nonce, ciphertext, tag) = (Array(texts[0]), parts[2], parts[3], parts[4])
    }

    private static func decoded(_ parts: [ArraySlice<UInt8>]) throws(EncryptedTokenFault) -> [[UInt8]] {
        var decoded: [[UInt8]] = []
        for part in parts {
            do { decoded.append(try Base64URL.decode(Array(part))) } catch { throw .encoding(error) }
        }
        return decoded
    }

    private static func checkedEncryption(
        _ header: JSONObject, _ offered: [ContentEncryption]
    ) throws(EncryptedTokenFault) -> ContentEncryption {
        guard header["alg"] == .string("ECDH-ES") else { throw .algorithm }
        guard header["crit"] == nil else { throw .critical }
        guard header["zip"] == nil else { throw .compressed }
        guard let encryption = offered.first(where: { header["enc"] == .string(JSONText($0.rawValue)) }) else {
            throw .encryption
        }
        return encryption
    }

    private static func ephemeralKey(_ value: JSONValue?) throws(EncryptedTokenFault) -> WebKey {
        guard let object = value?.object else { throw .ephemeralKey(.anotherKind) }
        do { return try WebKey(object) } catch { throw .ephemeralKey(error) }
    }

    /// The contents.
    ///
    /// - Throws: ``EncryptedTokenFault/tag``: encrypted to another key, or changed since. A retry cannot help.
    ///
    /// Security: says nothing about who encrypted: anyone who knows the public key can.
    public func open(with key: P256.KeyAgreement.PrivateKey) throws(EncryptedTokenFault) -> [UInt8] {
        guard let peer = ephemeralKey.agreementKey, let secret = try? key.sharedSecretFromKeyAgreement(with: peer),
            let parties = PartyInfo(header)
        else { throw .tag }
        let contentKey = parties.contentKey(secret, encryption)
        guard let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag),
            let contents = try? AES.GCM.open(box, using: contentKey, authenticating: authenticated)
        else { throw .tag }
        return Array(contents)
    }
}

/// Why bytes are not a token that a key opens. None is worth a retry.
public enum EncryptedTokenFault: Error, Hashable, Sendable {
    /// More bytes than the limit.
    case tooLong(Int)
    /// This many parts where there must be five.
    case parts(Int)
    /// A part that is not base64url without padding.
    case encoding(CanonicalCodingError)
    /// A header that is not a JSON object.
    case header(JSONFault)
    /// Another way to carry the key than `ECDH-ES`.
    case algorithm
    /// An extension that the reader must understand.
    case critical
    /// Compressed contents, whose length would say something of them.
    case compressed
    /// An encryption that was not offered.
    case encryption
    /// The name of another key, or none.
    case keyID
    /// No public P-256 key, or one that is not a point of the curve.
    case ephemeralKey(WebKeyFault)
    /// An encrypted key where there must be none, a nonce other than 12 bytes, or a tag other than 16.
    case lengths
    /// Encrypted to another key, or changed since; also when what the parties say of themselves is not base64url.
    case tag
}

/// What both parties say of themselves, and how a key is made of their secret.
///
/// Spec: RFC 7518, section 4.6.2; NIST SP 800-56A, section 5.8.1 (Concat KDF).
struct PartyInfo {
    let producer: [UInt8]
    let consumer: [UInt8]

    init(producer: [UInt8], consumer: [UInt8]) {
        self.producer = producer
        self.consumer = consumer
    }

    /// Nil when one of them is not base64url.
    init?(_ header: JSONObject) {
        guard let producer = Self.decoded(header["apu"]), let consumer = Self.decoded(header["apv"]) else { return nil }
        self.init(producer: producer, consumer: consumer)
    }

    private static func decoded(_ value: JSONValue?) -> [UInt8]? {
        guard let value else { return [] }
        return value.string.flatMap { try? Base64URL.decode($0.utf8) }
    }

    func contentKey(_ secret: SharedSecret, _ encryption: ContentEncryption) -> SymmetricKey {
        var hash = SHA256()
        hash.update(data: [0, 0, 0, 1])
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        for field in [Array(encryption.rawValue.utf8), producer, consumer] {
            hash.update(data: Self.number(field.count) + field)
        }
        hash.update(data: Self.number(encryption.keyByteCount * 8))
        return hash.finalize().withUnsafeBytes { SymmetricKey(data: $0.prefix(encryption.keyByteCount)) }
    }

    private static func number(_ value: Int) -> [UInt8] {
        let value = UInt32(truncatingIfNeeded: value)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
