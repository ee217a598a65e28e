// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// One signature line of a note, as it claims to be; nothing says yet that it verifies.
///
/// Spec: C2SP signed-note, "Signatures".
public struct NoteSignature: Hashable, Sendable {
    /// The name of the key that is said to have signed.
    public let name: KeyName
    /// The identifier of that key.
    public let keyID: KeyID
    /// What follows the key ID, at least one byte: 64 for Ed25519, 72 for a cosignature, 2428 for one of ML-DSA-44.
    public let blob: [UInt8]

    /// A signature line. An empty `blob` is refused when a note is made of it.
    public init(name: KeyName, keyID: KeyID, blob: [UInt8]) {
        self.name = name
        self.keyID = keyID
        self.blob = blob
    }

    /// Whether name and key ID are those of `key`; neither alone is enough.
    public func isClaimed(by key: VerifierKey) -> Bool { keyID == key.keyID && name == key.name }

    /// The line: em dash, space, name, space, base64 of key ID and blob, LF.
    public var encoded: [UInt8] {
        Self.dash + name.bytes + [0x20] + Base64.encode(keyID.bytes + blob) + [0x0A]
    }

    /// U+2014 and a space.
    static let dash: [UInt8] = [0xE2, 0x80, 0x94, 0x20]

    /// Reads a line without its LF. `number` counts the signature lines from zero.
    init(decoding line: ArraySlice<UInt8>, number: Int) throws(NoteError) {
        guard line.starts(with: Self.dash) else { throw .malformedSignatureLine(line: number) }
        let fields = line.dropFirst(Self.dash.count)
            .split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        guard fields.count == 2, let bytes = try? Base64.decode(fields[1]) else {
            throw .malformedSignatureLine(line: number)
        }
        guard bytes.count > 4 else { throw .signatureTooShort(line: number) }
        name = try KeyName(fields[0])
        keyID = KeyID(rawValue: bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) })
        blob = Array(bytes[4...])
    }
}
