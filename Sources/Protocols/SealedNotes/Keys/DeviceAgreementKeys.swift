// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import KeyTransparency
public import NoteLog

/// The private halves with which a device opens wraps, and what the directory lists of it.
public struct DeviceAgreementKeys: Sendable {
    /// Whose device.
    public let author: Author
    /// `DeviceKeys.hash`, 32 bytes.
    public let publicHash: [UInt8]
    let agreement: P256.KeyAgreement.PrivateKey
    let kem: XWingMLKEM768X25519.PrivateKey

    /// The keys of one device.
    ///
    /// - Parameter keys: the public keys as the directory lists them.
    /// - Throws: ``SealedNoteError/unusableKey``: private and public halves do not match.
    public init(
        handle: Handle, keys: DeviceKeys, agreement: P256.KeyAgreement.PrivateKey,
        kem: XWingMLKEM768X25519.PrivateKey
    ) throws(SealedNoteError) {
        guard Array(agreement.publicKey.compressedRepresentation) == keys.agreement,
            Array(kem.publicKey.rawRepresentation) == keys.kem
        else { throw .unusableKey }
        author = Author(handle: handle, device: keys.signing)
        publicHash = keys.hash
        self.agreement = agreement
        self.kem = kem
    }
}
