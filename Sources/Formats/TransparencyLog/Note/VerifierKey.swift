import CanonicalCoding

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
    /// The public key does not have 32 bytes.
    case wrongKeyLength(Int)
    /// The key ID is not the one that the name and the key give.
    case keyIDMismatch(expected: KeyID)
}

/// A named public key that verifies notes: what the tlog formats call a vkey.
///
/// Spec: C2SP signed-note, "Verifier keys"; tlog-cosignature, "Format".
public struct VerifierKey: Hashable, Sendable {
    /// The signature types we verify.
    public enum Algorithm: UInt8, Hashable, Sendable, CaseIterable {
        /// Plain Ed25519 over the note text: what a log signs with.
        case ed25519 = 0x01
        /// Ed25519 over a time and the note text: what a witness signs with.
        case cosignatureV1 = 0x04
    }

    /// The key's name.
    public let name: KeyName
    /// The identifier, computed from the other three.
    public let keyID: KeyID
    /// What the key signs.
    public let algorithm: Algorithm
    /// The Ed25519 public key, 32 bytes.
    public let publicKey: [UInt8]

    /// The verifier key of a public key.
    ///
    /// - Throws: ``VerifierKeyError/wrongKeyLength(_:)``: not 32 bytes.
    public init(name: KeyName, algorithm: Algorithm, publicKey: [UInt8]) throws(VerifierKeyError) {
        guard publicKey.count == 32 else { throw .wrongKeyLength(publicKey.count) }
        self.name = name
        self.algorithm = algorithm
        self.publicKey = publicKey
        keyID = KeyID(name: name, keyMaterial: [algorithm.rawValue] + publicKey)
    }

    /// Reads `name+id+key`: 8 lower-case hexadecimal digits, and base64 of the type byte and the key.
    ///
    /// - Throws: ``VerifierKeyError``: not canonical, of another type, or an ID that does not fit.
    public init(decoding text: [UInt8]) throws(VerifierKeyError) {
        let parts = text.split(separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed }
        let keyID = try Self.keyID(decoding: Array(parts[1]))
        let material = try Self.material(decoding: parts[2])
        guard let algorithm = Algorithm(rawValue: material[0]) else {
            throw .unsupportedAlgorithm(material[0])
        }
        let name: KeyName
        do throws(NoteError) { name = try KeyName(parts[0]) } catch { throw .name(error) }
        try self.init(name: name, algorithm: algorithm, publicKey: Array(material.dropFirst()))
        guard keyID == self.keyID else { throw .keyIDMismatch(expected: self.keyID) }
    }

    /// The text form, `name+id+key`.
    public var encoded: [UInt8] {
        let plus = UInt8(ascii: "+")
        return name.bytes + [plus] + Hex.encode(keyID.bytes) + [plus]
            + Base64.encode([algorithm.rawValue] + publicKey)
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
