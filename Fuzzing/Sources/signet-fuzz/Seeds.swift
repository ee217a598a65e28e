// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Values of formats for `Scripts/fuzz` to begin with: whatever no file in Vectors has.
func seeds() throws -> [[UInt8]] {
    try formatSeeds() + cellSeeds() + logSeeds() + directorySeeds() + evidenceSeeds() + submissionSeeds() + callSeeds()
        + messageSeeds() + noteSeeds() + noteBodySeeds() + pinSeeds() + siteSeeds() + recoverySeeds()
        + recoveryBodySeeds() + jsonSeeds() + cardSeeds() + mobileDocumentSeeds() + meetingSeeds()
}

func bytes(_ value: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Keys of whoever signs or opens, the same in each run: what one run seals as a seed, the next one opens.
struct Party {
    let identity: P256.Signing.PrivateKey
    let device: Curve25519.Signing.PrivateKey
    let agreement: P256.KeyAgreement.PrivateKey
    let sealing: XWingMLKEM768X25519.PrivateKey

    init(_ number: UInt8) throws {
        let seed = bytes(number, 32)
        identity = try P256.Signing.PrivateKey(rawRepresentation: seed)
        device = try Curve25519.Signing.PrivateKey(rawRepresentation: seed)
        agreement = try P256.KeyAgreement.PrivateKey(rawRepresentation: seed)
        sealing = try XWingMLKEM768X25519.PrivateKey(seedRepresentation: seed, publicKey: nil)
    }

    /// The identity key, 33 bytes.
    var identityKey: [UInt8] { Array(identity.publicKey.compressedRepresentation) }
    /// The device's signing key, 32 bytes.
    var deviceKey: [UInt8] { Array(device.publicKey.rawRepresentation) }
    /// The device's X-Wing key, 1216 bytes.
    var sealingKey: [UInt8] { Array(sealing.publicKey.rawRepresentation) }

    func identitySignature(_ message: [UInt8]) throws -> [UInt8] {
        Array(try identity.signature(for: message).rawRepresentation)
    }

    func deviceSignature(_ message: [UInt8]) throws -> [UInt8] { Array(try device.signature(for: message)) }
}
