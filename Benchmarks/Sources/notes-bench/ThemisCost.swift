import Crypto
import Measuring
import SecureCell

/// What else of Themis there is, beside what Themis 0.15 took for it on another machine of the same kind.
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
        // Name, work, median of Themis' own processor time in µs.
        let rows: [(String, () throws -> Void, Double)] = [
            ("Context Imprint, 64 KiB", { keep(try ContextImprint.imprint(block, key: key, context: context)) }, 10.8),
            (
                "message encrypted, P-256, 32 bytes",
                { keep(try EncryptedMessage.encrypt(message, from: sender, to: recipient.publicKey)) }, 141
            ),
            (
                "message decrypted",
                { keep(try EncryptedMessage.decrypt(encrypted, by: recipient, from: sender.publicKey)) }, 142
            ),
            ("message signed", { keep(try SignedMessage.sign(message, by: sender)) }, 36),
            ("message verified", { keep(try SignedMessage.verify(signed, by: sender.publicKey)) }, 82),
        ]
        let timings = try interleaved(rounds: 30, repetitions: 20, rows.map { Candidate($0.0, $0.1) })
        let stretching = try interleaved(
            rounds: 5, repetitions: 1,
            [
                Candidate("Seal with a passphrase, 1 KiB") {
                    keep(try PassphraseSeal.seal([UInt8](repeating: 1, count: 1024), passphrase: passphrase.span))
                }
            ])
        Report.title("Other things of Themis, µs; Themis 0.15 with OpenSSL 3.0 took this long, measured elsewhere")
        for (place, row) in rows.enumerated() {
            Report.line("\(row.0), fastest round; Themis \(row.2)", timings.fastest(place) / 1000, "µs")
        }
        Report.line("\(stretching.names[0]); Themis 69000", stretching.fastest(0) / 1000, "µs")
    }
}
