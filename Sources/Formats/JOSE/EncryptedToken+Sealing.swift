// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import StrictJSON

/// To whom contents are encrypted, and how.
public struct EncryptionTarget: Sendable {
    /// The key of the one who opens.
    public let key: WebKey
    /// The key's name, which the header repeats.
    public let keyID: JSONText?
    /// How the contents are encrypted.
    public let encryption: ContentEncryption

    /// A target.
    public init(key: WebKey, keyID: JSONText?, encryption: ContentEncryption) {
        self.key = key
        self.keyID = keyID
        self.encryption = encryption
    }
}

extension EncryptedToken {
    /// Encrypts to a key, with a key pair and a nonce that are used for this token alone.
    ///
    /// - Returns: the compact form, or nil if the target's key cannot be agreed with, which no point of the curve causes.
    public static func sealed(_ contents: [UInt8], to target: EncryptionTarget) -> [UInt8]? {
        let ephemeral = P256.KeyAgreement.PrivateKey()
        guard let peer = target.key.agreementKey,
            let secret = try? ephemeral.sharedSecretFromKeyAgreement(with: peer)
        else { return nil }
        let header = Base64URL.encode(header(of: WebKey(ephemeral.publicKey), target).encoded)
        let key = PartyInfo(producer: [], consumer: []).contentKey(secret, target.encryption)
        guard let box = try? AES.GCM.seal(contents, using: key, authenticating: header) else { return nil }
        let parts = [header, [], Array(box.nonce), Array(box.ciphertext), Array(box.tag)]
        let texts = [parts[0]] + parts.dropFirst().map { Base64URL.encode($0) }
        return Array(texts.joined(separator: [UInt8(ascii: ".")]))
    }

    private static func header(of ephemeral: WebKey, _ target: EncryptionTarget) -> JSONObject {
        var header: JSONObject = [
            "alg": .string("ECDH-ES"), "enc": .string(JSONText(target.encryption.rawValue)),
            "epk": .object(ephemeral.object),
        ]
        header["kid"] = target.keyID.map(JSONValue.string)
        return header
    }
}
