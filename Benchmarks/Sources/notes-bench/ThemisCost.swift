// SPDX-License-Identifier: Apache-2.0

import Crypto
import Measuring
import SecureCell

/// What else of Themis' formats there is.
struct ThemisCost {
    private let key = SymmetricKey(size: .bits256)
    private let context = [UInt8](repeating: 7, count: 32)
    private let passphrase = Array("a passphrase".utf8)
    private let sender, recipient: ECPrivateKey
    private let message = [UInt8](repeating: 1, count: 32)
    private let block = [UInt8](repeating: 1, count: 65_536)

    init() throws {
        sender = try ECPrivateKey.generate()
        recipient = try ECPrivateKey.generate()
    }

    func report() throws {
        let encrypted = try EncryptedMessage.encrypt(message, from: sender, to: recipient.publicKey)
        let signed = try SignedMessage.sign(message, by: sender)
        let timings = try interleaved(
            rounds: 30, repetitions: 20,
            [
                Candidate("Context Imprint, 64 KiB") {
                    keep(try ContextImprint.imprint(block, key: key, context: context))
                },
                Candidate("message encrypted, P-256, 32 bytes") {
                    keep(try EncryptedMessage.encrypt(message, from: sender, to: recipient.publicKey))
                },
                Candidate("message decrypted") {
                    keep(try EncryptedMessage.decrypt(encrypted, by: recipient, from: sender.publicKey))
                },
                Candidate("message signed") { keep(try SignedMessage.sign(message, by: sender)) },
                Candidate("message verified") { keep(try SignedMessage.verify(signed, by: sender.publicKey)) },
            ])
        let stretching = try interleaved(
            rounds: 5, repetitions: 1,
            [
                Candidate("Seal with a passphrase, 1 KiB") {
                    keep(try PassphraseSeal.seal([UInt8](repeating: 1, count: 1024), passphrase: passphrase.span))
                }
            ])
        Report.title("Other formats of Themis")
        for timing in [timings, stretching] {
            for place in timing.names.indices {
                Report.line("\(timing.names[place]), fastest round", timing.fastest(place) / 1000, "µs")
            }
        }
    }
}
