// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import SecureCell

extension ThemisRecord {
    /// What is wrong with reading and printing a container; nil when nothing is.
    func containerFailure(_ field: Base64Field?) -> String? {
        guard let bytes = field?.bytes else { return "a field is missing" }
        guard let container = try? KeyContainer(decoding: bytes) else { return "refused, must be accepted" }
        return container.withEncoded { $0 == bytes } ? nil : "prints another container"
    }

    /// Whether the private key is the one of the public key, and both are what the record says.
    var pairVerdict: ThemisVerdict {
        do {
            switch (try ThemisKey(private_b64), try ThemisKey(public_b64)) {
            case (.ecPrivate(let secret), .ecPublic(let point)):
                guard secret.publicKey.compressed == point.compressed else { return .failed("no pair") }
                if let x963 = x963_hex?.bytes, x963[1...].prefix(point.compressed.count - 1) != point.compressed[1...] {
                    return .failed("another point")
                }
                return .passed
            case (.rsaPrivate(let secret), .rsaPublic(let key)):
                return ThemisVerdict(failure: secret.publicKey == key ? nil : "no pair")
            default: return .failed("not a private and a public key of one kind")
            }
        } catch { return ThemisVerdict(error) }
    }

    func signedVerdict(_ signer: ThemisRecord) -> ThemisVerdict {
        guard let signed = signed_b64?.bytes, let plaintext else { return .failed("a field is missing") }
        do {
            let key = try ThemisKey(signer.public_b64)
            for reading in ReadingMode.allCases {
                guard plaintext.isSame(try key.verify(signed, reading)) else { return .failed("another message") }
            }
            guard case .ecPrivate(let secret) = try ThemisKey(signer.private_b64), let message = plaintext.b64?.bytes
            else { return .passed }
            let ours = try SignedMessage.sign(message, by: secret)
            return ThemisVerdict(failure: try key.verify(ours, .strict) == message ? nil : "signs another message")
        } catch { return ThemisVerdict(error) }
    }

    func encryptedVerdict(from sender: ThemisRecord, to recipient: ThemisRecord) -> ThemisVerdict {
        guard let encrypted = encrypted_b64?.bytes, let plaintext else { return .failed("a field is missing") }
        do {
            let (secret, peer) = (try ThemisKey(recipient.private_b64), try ThemisKey(sender.public_b64))
            for reading in ReadingMode.allCases {
                let opened = try secret.decrypt(encrypted, from: peer, reading)
                guard plaintext.isSame(opened) else { return .failed("another message") }
            }
            guard let message = plaintext.b64?.bytes,
                case (.ecPrivate(let from), .ecPublic(let to)) = (
                    try ThemisKey(sender.private_b64), try ThemisKey(recipient.public_b64)
                )
            else { return .passed }
            let again = try EncryptedMessage.encrypt(message, from: from, to: to, iv: Array(encrypted[24..<36]))
            return ThemisVerdict(failure: again == encrypted ? nil : "encrypted again it is another message")
        } catch { return ThemisVerdict(error) }
    }

    func sharedNoteFailure(from sender: ThemisRecord, to recipient: ThemisRecord) -> String? {
        guard let wrapped = wrapped_key_b64?.bytes, let cell = sealed_note_b64?.bytes, let note_utf8, let key_b64
        else { return "a field is missing" }
        do {
            for reading in ReadingMode.allCases {
                let key = try ThemisKey(recipient.private_b64)
                    .decrypt(wrapped, from: ThemisKey(sender.public_b64), reading)
                guard key == key_b64.bytes else { return "unwraps another key" }
                let note = try Seal.open(cell, key: SymmetricKey(data: key), reading: reading)
                guard note == Array(note_utf8.utf8) else { return "opens to another note" }
            }
            return nil
        } catch { return "refused, must be accepted: \(error)" }
    }
}

/// A key of any kind.
enum ThemisKey {
    case ecPublic(ECPublicKey)
    case ecPrivate(ECPrivateKey)
    case rsaPublic(RSAPublicKey)
    case rsaPrivate(RSAPrivateKey)

    init(_ field: Base64Field?) throws {
        let container = try KeyContainer(decoding: field?.bytes ?? [])
        switch container.kind {
        case .ecPublic: self = .ecPublic(try ECPublicKey(container))
        case .ecPrivate: self = .ecPrivate(try ECPrivateKey(container))
        case .rsaPublic: self = .rsaPublic(try RSAPublicKey(container))
        case .rsaPrivate: self = .rsaPrivate(try RSAPrivateKey(container))
        }
    }

    func verify(_ signed: [UInt8], _ reading: ReadingMode) throws -> [UInt8] {
        switch self {
        case .ecPublic(let key): try SignedMessage.verify(signed, by: key, reading: reading)
        case .rsaPublic(let key): try SignedMessage.verify(signed, by: key, reading: reading)
        default: throw KeyError.wrongKind
        }
    }

    func decrypt(_ encrypted: [UInt8], from sender: ThemisKey, _ reading: ReadingMode) throws -> [UInt8] {
        switch (self, sender) {
        case (.ecPrivate(let key), .ecPublic(let sender)):
            try EncryptedMessage.decrypt(encrypted, by: key, from: sender, reading: reading)
        case (.rsaPrivate(let key), .rsaPublic): try EncryptedMessage.decrypt(encrypted, by: key, reading: reading)
        default: throw KeyError.wrongKind
        }
    }
}

extension ThemisVerdict {
    /// RSA-1024 is refused by choice; every other error on a record that must be accepted is a failure.
    fileprivate init(_ error: any Error) {
        self =
            error as? KeyError == .modulusTooSmall
            ? .refusedByChoice("RSA-1024") : .failed("refused, must be accepted: \(error)")
    }
}
