// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DeviceIdentity
import Foundation
public import SecretMemory
public import SignetClient

/// A keystore's part in the machine's TPM 2.0: the chip holds a secret that opens the keystore, makes the account's identity key, and
/// signs with it. The passphrase is the chip's PIN, stretched: after a few wrong ones the chip itself refuses for a while.
///
/// In the folder are files that the chip has wrapped, useless on another machine. See `TPMKeystore` for what stands on the bus.
public struct TPMPlace: KeystorePlace {
    private let folder: String
    private let chip: TPMTools

    /// - Parameter folder: for the wrapped files; made when the first is.
    public init(in folder: String) { self.init(in: folder, through: .system()) }

    package init(in folder: String, through tools: ToolRunner) {
        self.folder = folder
        chip = TPMTools(tools)
    }

    /// The chip.
    public var kind: KeystorePlaceKind { .tpm }

    /// Makes a secret and, on an account's first device, an identity key.
    public func make(
        named name: [UInt8], pin: SecretBytes, withIdentity: Bool
    ) throws(KeystoreError) -> KeystorePart {
        let pin = TPMTools.authorization(of: pin)
        let secret = SecretBytes(randomCount: 32)
        return try asking { () throws(PrivateKeyStoreError) in
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .unavailable }
            try chip.seal(secret, pin).create(in: file(name, .secret))
            guard withIdentity else { return KeystorePart(secret: secret, identity: nil) }
            let blob = try chip.create(.p256Signing, pin)
            guard let signer = TPMIdentity(blob, pin, chip) else { throw .damaged }
            try blob.create(in: file(name, .identity))
            return KeystorePart(secret: secret, identity: signer)
        }
    }

    /// Has the chip unseal the secret.
    public func part(named name: [UInt8], pin: SecretBytes) throws(KeystoreError) -> KeystorePart {
        let pin = TPMTools.authorization(of: pin)
        return try asking { () throws(PrivateKeyStoreError) in
            guard let sealed = try TPMBlob(in: file(name, .secret)) else { throw .noSuchKey }
            guard sealed.kind == nil else { throw .damaged }
            let identity = try TPMBlob(in: file(name, .identity))
            return KeystorePart(
                secret: try chip.unseal(sealed, pin), identity: identity.flatMap { TPMIdentity($0, pin, chip) })
        }
    }

    private enum Use: String { case secret, identity }

    private func file(_ name: [UInt8], _ use: Use) -> DurableFile {
        let name = String(decoding: Hex.encode(name), as: UTF8.self)
        return TPMBlob.file(in: folder, named: "\(name)-\(use.rawValue)")
    }
}

/// An identity key that the chip made. The chip asks for the PIN at each signature.
private struct TPMIdentity: IdentitySigner {
    let publicKey: [UInt8]
    private let blob: TPMBlob
    private let pin: SecretBytes
    private let chip: TPMTools

    init?(_ blob: TPMBlob, _ pin: SecretBytes, _ chip: TPMTools) {
        guard blob.kind == .p256Signing, let publicKey = blob.publicKey else { return nil }
        (self.publicKey, self.blob, self.pin, self.chip) = (publicKey, blob, pin, chip)
    }

    func sign(_ message: [UInt8]) throws(KeystoreError) -> [UInt8] {
        do throws(PrivateKeyStoreError) { return try chip.sign(message, with: blob, pin) } catch {
            throw KeystoreError(error, of: .tpm)
        }
    }
}
