// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import SecureCell

// Each gives what is wrong with our answers in either reading; nil when nothing is.
extension ThemisRecord {
    var sealFailure: String? {
        guard let cell = sealed_b64?.bytes, let plaintext else { return "a field is missing" }
        for reading in ReadingMode.allCases {
            guard let opened = try? Seal.open(cell, key: key, context: context, reading: reading) else {
                return "refused, must be accepted (\(reading))"
            }
            guard plaintext.isSame(opened) else { return "opens to another message (\(reading))" }
            let again = try? Seal.seal(opened, key: key, context: context, iv: Array(cell[16..<28]))
            guard again == cell else { return "sealed again it is another cell" }
        }
        return nil
    }

    var passphraseFailure: String? {
        guard let cell = sealed_b64?.bytes, let plaintext, let iterations else { return "a field is missing" }
        for reading in ReadingMode.allCases {
            let opened = try? PassphraseSeal.open(
                cell, passphrase: passphrase.span, context: context, reading: reading)
            guard let opened else { return "refused, must be accepted (\(reading))" }
            guard plaintext.isSame(opened) else { return "opens to another message (\(reading))" }
            guard reading == .strict else { continue }
            let again = try? PassphraseSeal.seal(
                opened, passphrase: passphrase.span, context: context, iterations: iterations,
                iv: Array(cell[20..<32]), salt: Array(cell[54..<70]))
            guard again == cell else { return "sealed again it is another cell" }
        }
        return nil
    }

    var tokenFailure: String? {
        guard let token = token_b64?.bytes, let ciphertext = encrypted_b64?.bytes, let plaintext else {
            return "a field is missing"
        }
        let parts = TokenProtect.Parts(token: token, ciphertext: ciphertext)
        for reading in ReadingMode.allCases {
            guard let opened = try? TokenProtect.open(parts, key: key, context: context, reading: reading) else {
                return "refused, must be accepted (\(reading))"
            }
            guard plaintext.isSame(opened) else { return "opens to another message (\(reading))" }
            let again = try? TokenProtect.protect(opened, key: key, context: context, iv: Array(token[16..<28]))
            guard again == parts else { return "protected again it is another token or ciphertext" }
        }
        return nil
    }

    var imprintFailure: String? {
        guard let plaintext else { return "a field is missing" }
        if let imprint = encrypted_b64?.bytes {
            let restored = try? ContextImprint.restore(imprint, key: key, context: context)
            guard let restored, plaintext.isSame(restored) else { return "restores to another message" }
            guard Array(SHA256.hash(data: imprint)) == encrypted_sha256?.bytes else { return "not its own hash" }
        }
        guard let message = plaintext.b64?.bytes else { return nil }
        guard let made = try? ContextImprint.imprint(message, key: key, context: context) else {
            return "not made, must be made"
        }
        return Array(SHA256.hash(data: made)) == encrypted_sha256?.bytes ? nil : "makes another imprint"
    }

    /// A post of the seed's app: its own text encoding, and a key that is made of the public user name.
    var seedPostFailure: String? {
        guard let text = body_field, let plaintext_utf8, let key_utf8 else { return "a field is missing" }
        for reading in ReadingMode.allCases {
            guard let cell = try? PercentBase64.decode(Array(text.utf8), reading: reading) else {
                return "the text is refused (\(reading))"
            }
            guard PercentBase64.encode(cell) == Array(text.utf8) else { return "prints another text" }
            let key = SymmetricKey(data: Array(key_utf8.utf8))
            guard let opened = try? Seal.open(cell, key: key, reading: reading) else {
                return "refused, must be accepted (\(reading))"
            }
            guard opened == Array(plaintext_utf8.utf8) else { return "opens to another post (\(reading))" }
        }
        return nil
    }
}
