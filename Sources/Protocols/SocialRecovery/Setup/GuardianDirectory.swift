import CanonicalCoding
import Crypto
import KeyTransparency
import SecretSharing

/// Who the guardians are, for a person who lost the list: sealed in the bundle under a key that each guardian has.
///
/// Neither the server alone nor a guardian alone can read it. Plaintext, 4096 bytes: u8 count, handles each behind a u8
/// length, zeros; AES-256-GCM with a 12-byte nonce before and a 16-byte tag after it, the scope as additional data.
public struct GuardianDirectory: Hashable, Sendable {
    static let plaintextByteCount = 4096
    static let sealedByteCount = 12 + plaintextByteCount + 16
    let sealed: [UInt8]

    init(sealed: [UInt8]) { self.sealed = sealed }

    /// Nil when the key is not 32 bytes.
    init?(_ handles: [Handle], under key: SecretOctets, scope: RecoveryScope) {
        var writer = ByteWriter()
        writer.write(UInt8(truncatingIfNeeded: handles.count))
        for handle in handles { writer.short(handle.bytes) }
        let plaintext = writer.bytes.padded(toMultipleOf: Self.plaintextByteCount)
        let key = key.symmetricKey
        guard let box = try? AES.GCM.seal(plaintext, using: key, authenticating: scope.encoded),
            let combined = box.combined
        else { return nil }
        sealed = Array(combined)
    }

    /// The guardians, in the order the owner chose them; nil when the key is not this list's.
    func open(with key: SecretOctets, scope: RecoveryScope) -> [Handle]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let plaintext = try? AES.GCM.open(box, using: key.symmetricKey, authenticating: scope.encoded)
        else { return nil }
        var reader = ByteReader(Array(plaintext))
        guard let count = try? reader.uint8() else { return nil }
        var handles: [Handle] = []
        for _ in 0..<count {
            guard let handle = try? reader.handle() else { return nil }
            handles.append(handle)
        }
        return handles
    }
}

extension SecretOctets {
    var symmetricKey: SymmetricKey {
        withBytes { bytes in
            bytes.withUnsafeBufferPointer { SymmetricKey(data: UnsafeRawBufferPointer($0)) }
        }
    }
}
