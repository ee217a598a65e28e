// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding

/// Why bytes are not a verifier key. None is worth a retry.
public enum VerifierKeyError: Error, Hashable, Sendable {
    /// Not three parts with a plus sign between them.
    case malformed
    /// The name is not a key name.
    case name(NoteError)
    /// The key ID is not 8 lower-case hexadecimal digits.
    case malformedKeyID
    /// The key is not canonical base64 of at least one byte.
    case malformedKey
    /// A signature type that this module does not verify.
    case unsupportedAlgorithm(UInt8)
    /// The public key has another length than keys of its type, in bytes.
    case wrongKeyLength(Int)
    /// Bytes for which anyone can sign, or a second spelling of a key.
    case ed25519(Ed25519KeyError)
    /// The key ID is not the one that the name and the key give.
    case keyIDMismatch(expected: KeyID)
}

/// A named public key that verifies notes: what the tlog formats call a vkey.
///
/// Spec: C2SP signed-note, "Verifier keys"; tlog-cosignature, "Format".
public struct VerifierKey: Hashable, Sendable {
    /// A signature type.
    ///
    /// Spec: C2SP signed-note, "Signature types".
    public enum Algorithm: Hashable, Sendable {
        /// 0x01, plain Ed25519 over the note text: what a log signs with.
        case ed25519
        /// 0x04, Ed25519 over a time and the note text: what a witness signs with.
        case cosignatureV1
        /// 0x06, ML-DSA-44 over a name, a time and the tree: what a log or a witness signs with that is to withstand
        /// quantum computers.
        case mlDSA44
        /// A type that we do not verify. Only a ``Policy`` holds keys of such a type.
        case other(UInt8)
    }

    /// The key's name.
    public let name: KeyName
    /// The identifier, computed from the other three.
    public let keyID: KeyID
    /// What the key signs.
    public let algorithm: Algorithm
    /// The public key: Ed25519, 32 bytes; ML-DSA-44, 1312 bytes.
    public let publicKey: [UInt8]

    /// The verifier key of a public key.
    ///
    /// - Throws: ``VerifierKeyError/wrongKeyLength(_:)``, ``VerifierKeyError/ed25519(_:)``,
    ///   ``VerifierKeyError/unsupportedAlgorithm(_:)``.
    public init(name: KeyName, algorithm: Algorithm, publicKey: [UInt8]) throws(VerifierKeyError) {
        guard let count = algorithm.publicKeyByteCount else { throw .unsupportedAlgorithm(algorithm.rawValue) }
        guard publicKey.count == count else { throw .wrongKeyLength(publicKey.count) }
        if algorithm != .mlDSA44 { try Self.checkEd25519(publicKey) }
        self.name = name
        self.algorithm = algorithm
        self.publicKey = publicKey
        keyID = KeyID(name: name, keyMaterial: [algorithm.rawValue] + publicKey)
    }

    /// A key of a type that we know nothing of, with the key ID that it came with.
    private init(name: KeyName, keyID: KeyID, otherMaterial material: [UInt8]) {
        self.name = name
        self.keyID = keyID
        algorithm = Algorithm(rawValue: material[0])
        publicKey = Array(material.dropFirst())
    }

    /// Reads `name+id+key`: 8 lower-case hexadecimal digits, and base64 of the type byte and the key.
    ///
    /// - Throws: ``VerifierKeyError``: not canonical, of a type that we do not verify, or an ID that does not fit.
    public init(decoding text: [UInt8]) throws(VerifierKeyError) {
        try self.init(decodingAnyType: text)
        guard algorithm.isVerified else { throw .unsupportedAlgorithm(algorithm.rawValue) }
    }

    /// Reads a key of any type, as a policy holds it. Of a type that we know nothing of, any bytes pass and any key ID.
    ///
    /// - Throws: ``VerifierKeyError``, but not for the type.
    init(decodingAnyType text: [UInt8]) throws(VerifierKeyError) {
        let parts = text.split(separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed }
        let keyID = try Self.keyID(decoding: Array(parts[1]))
        let material = try Self.material(decoding: parts[2])
        let name: KeyName
        do throws(NoteError) { name = try KeyName(parts[0]) } catch { throw .name(error) }
        let algorithm = Algorithm(rawValue: material[0])
        if case .other = algorithm {
            self.init(name: name, keyID: keyID, otherMaterial: material)
            return
        }
        try self.init(name: name, algorithm: algorithm, publicKey: Array(material.dropFirst()))
        guard keyID == self.keyID else { throw .keyIDMismatch(expected: self.keyID) }
    }

    /// The text form, `name+id+key`.
    public var encoded: [UInt8] {
        let plus = UInt8(ascii: "+")
        return name.bytes + [plus] + Hex.encode(keyID.bytes) + [plus]
            + Base64.encode([algorithm.rawValue] + publicKey)
    }

    private static func checkEd25519(_ key: [UInt8]) throws(VerifierKeyError) {
        do throws(Ed25519KeyError) { try Ed25519Key.check(key) } catch { throw .ed25519(error) }
    }

    private static func keyID(decoding text: [UInt8]) throws(VerifierKeyError) -> KeyID {
        guard text.count == 8, let bytes = try? Hex.decode(text) else { throw .malformedKeyID }
        return KeyID(rawValue: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    }

    private static func material(decoding text: ArraySlice<UInt8>) throws(VerifierKeyError) -> [UInt8] {
        guard let bytes = try? Base64.decode(text), !bytes.isEmpty else { throw .malformedKey }
        return bytes
    }
}

extension VerifierKey.Algorithm {
    /// The type with this byte.
    public init(rawValue: UInt8) {
        self =
            switch rawValue {
            case 0x01: .ed25519
            case 0x04: .cosignatureV1
            case 0x06: .mlDSA44
            default: .other(rawValue)
            }
    }

    /// The byte that stands before the public key.
    public var rawValue: UInt8 {
        switch self {
        case .ed25519: 0x01
        case .cosignatureV1: 0x04
        case .mlDSA44: 0x06
        case .other(let type): type
        }
    }

    /// Whether this build verifies signatures of this type: ML-DSA-44 needs the BoringSSL inside swift-crypto, which Apple's
    /// platforms do not use.
    public var isVerified: Bool {
        switch self {
        case .ed25519, .cosignatureV1: true
        case .mlDSA44: MLDSA44.isAvailable
        case .other: false
        }
    }

    /// Nil for a type that we know nothing of.
    var publicKeyByteCount: Int? {
        switch self {
        case .ed25519, .cosignatureV1: 32
        case .mlDSA44: MLDSA44.publicKeyByteCount
        case .other: nil
        }
    }
}
