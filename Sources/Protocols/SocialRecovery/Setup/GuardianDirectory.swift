// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
import SecretMemory
import SecretSharing

/// Who the guardians are, and what their parts are checked with, for a person who lost the list: sealed in the bundle under
/// a key of which every guardian has a part.
///
/// Two guardians' parts open it. Neither the server, nor one guardian, nor both together learn from it who the guardians are,
/// how many there are, or how many are needed. Plaintext, 6144 bytes: u8 threshold and so many points of 33 bytes; u8
/// count, for each guardian u8 length, handle and 32-byte hash of their part; zeros. AES-256-GCM with a 12-byte nonce before
/// and a 16-byte tag after it, the scope as additional data.
public struct GuardianDirectory: Hashable, Sendable {
    static let plaintextByteCount = 6144
    static let sealedByteCount = 12 + plaintextByteCount + 16
    let sealed: [UInt8]

    /// What is inside.
    struct Contents: Hashable, Sendable {
        /// What shares are checked with; the first is the recovery key.
        let commitments: ShareCommitments
        /// The guardians, in the order the owner chose them, each with the hash of their part.
        let guardians: [(handle: Handle, part: [UInt8])]

        static func == (a: Contents, b: Contents) -> Bool { a.encoded == b.encoded }
        func hash(into hasher: inout Hasher) { hasher.combine(encoded) }

        var encoded: [UInt8] {
            var writer = ByteWriter()
            writer.write(UInt8(truncatingIfNeeded: commitments.threshold))
            writer.write(commitments.encoded)
            writer.write(UInt8(truncatingIfNeeded: guardians.count))
            for guardian in guardians {
                writer.short(guardian.handle.bytes)
                writer.write(guardian.part)
            }
            return writer.bytes.padded(toMultipleOf: GuardianDirectory.plaintextByteCount)
        }
    }

    init(sealed: [UInt8]) { self.sealed = sealed }

    /// Nil when the key is not 32 bytes.
    init?(_ contents: Contents, under key: SecretBytes, scope: RecoveryScope) {
        let key = key.symmetricKey
        guard let box = try? AES.GCM.seal(contents.encoded, using: key, authenticating: scope.encoded),
            let combined = box.combined
        else { return nil }
        sealed = Array(combined)
    }

    /// What is inside; nil when the key is not this list's.
    func open(with key: SecretBytes, scope: RecoveryScope) -> Contents? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let plaintext = try? AES.GCM.open(box, using: key.symmetricKey, authenticating: scope.encoded)
        else { return nil }
        return try? Contents(decoding: Array(plaintext))
    }

    /// What is inside, with the parts of two guardians; nil when one of them is not of this list.
    func open(with first: GuardianParts, _ second: GuardianParts, scope: RecoveryScope) -> Contents? {
        SecretBytes.combined(from: [first.directory, second.directory]).flatMap { open(with: $0, scope: scope) }
    }
}

extension GuardianDirectory.Contents {
    init(decoding bytes: [UInt8]) throws(RecoveryFormatError) {
        self = try RecoveryFormat.read(bytes, "") { reader in
            let threshold = Int(try reader.uint8())
            let commitments = try ShareCommitments(decoding: reader.array(threshold * CurvePoint.byteCount))
            var guardians: [(handle: Handle, part: [UInt8])] = []
            for _ in 0..<(try reader.uint8()) { guardians.append((try reader.handle(), try reader.array(32))) }
            try reader.padding()
            return Self(commitments: commitments, guardians: guardians)
        }
    }
}

extension SecretBytes {
    var symmetricKey: SymmetricKey {
        withSpan { bytes in
            bytes.withUnsafeBufferPointer { SymmetricKey(data: UnsafeRawBufferPointer($0)) }
        }
    }
}
