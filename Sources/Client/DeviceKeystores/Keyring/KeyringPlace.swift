// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DeviceIdentity
public import SecretMemory
public import SignetClient

/// A keystore's part in the desktop's keyring: a secret without which the file and the passphrase open nothing. The private keys
/// themselves are in the file.
///
/// Security: while the person is logged in, every program of theirs can read the keyring. It protects against a thief
/// of the file and against guessed passphrases, but it is not a chip.
public struct KeyringPlace: KeystorePlace {
    private let tools: ToolRunner

    /// The keyring of the user who is logged in.
    public init() { self.init(through: .system()) }

    package init(through tools: ToolRunner) { self.tools = tools }

    /// The keyring.
    public var kind: KeystorePlaceKind { .keyring }

    /// Makes a secret.
    public func make(
        named name: [UInt8], pin: SecretBytes, withIdentity: Bool
    ) throws(KeystoreError) -> KeystorePart {
        let secret = SecretBytes(randomCount: 32)
        try asking { () throws(PrivateKeyStoreError) in try items(name).add(0, secret, named: "secret") }
        return KeystorePart(secret: secret, identity: nil)
    }

    /// Gives the secret back.
    public func part(named name: [UInt8], pin: SecretBytes) throws(KeystoreError) -> KeystorePart {
        try asking { () throws(PrivateKeyStoreError) in
            guard let (kind, secret) = try items(name).item(named: "secret") else { throw .noSuchKey }
            guard kind == nil, secret.count == 32 else { throw .damaged }
            return KeystorePart(secret: secret, identity: nil)
        }
    }

    private func items(_ name: [UInt8]) -> KeyringItems {
        KeyringItems(store: "account " + String(decoding: Hex.encode(name), as: UTF8.self), tools: tools)
    }
}
