// SPDX-License-Identifier: Apache-2.0

import Crypto
import SignetClient

/// What a device remembers beside a record of having checked its signature: a code over the record under a key that only the device's
/// keystore gives. At each opening the code is checked instead, which costs a tenth.
///
/// Security: an attacker who can write the file but not open the keystore cannot make a code, for other bytes or for
/// the same ones as another kind; without a code, or with a wrong one, the signature is checked. So a code says what
/// the signature says, and nothing more: not that the record was believed.
struct StoreSeal: Sendable {
    private static let info = Array("signet-notes-store/v1".utf8)
    private let key: SymmetricKey

    /// Of one device: HKDF-SHA256 of the seed of its X-Wing key.
    init(_ secrets: DeviceSecrets) throws(NotesError) {
        do {
            key = try secrets.withAgreementKeys { _, kem in
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: SymmetricKey(data: kem.seedRepresentation), info: Self.info, outputByteCount: 32)
            }
        } catch { throw .client(.keystore(error)) }
    }

    /// 32 bytes: HMAC-SHA-256 over a byte of the kind and the record.
    func code(of bytes: [UInt8], _ kind: RecordKind) -> [UInt8] {
        Array(own(bytes, kind))
    }

    /// Whether this device has made the code, of these bytes as this kind.
    func isCode(_ code: [UInt8], of bytes: [UInt8], _ kind: RecordKind) -> Bool {
        own(bytes, kind) == code
    }

    /// `HashedAuthenticationCode` compares in constant time.
    private func own(_ bytes: [UInt8], _ kind: RecordKind) -> HMAC<SHA256>.MAC {
        var code = HMAC<SHA256>(key: key)
        code.update(data: [UInt8(truncatingIfNeeded: kind.rawValue)])
        code.update(data: bytes)
        return code.finalize()
    }
}
