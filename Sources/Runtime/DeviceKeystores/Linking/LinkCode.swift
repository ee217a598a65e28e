import Crypto
public import SignetAPI
public import SignetClient

/// Twelve digits by which a person sees that the card on one device is the one that the other device made.
///
/// Argon2id (2 passes, 19 MiB) over the SHA-256 of the card, so that whoever carries the card cannot look for another one
/// with the same code: a card is good for an hour, and each try costs as much as a guess at a passphrase.
public struct LinkCode: Hashable, Sendable {
    /// `1234 5678 9012`.
    public let text: String

    /// The code of a card.
    ///
    /// - Throws: `KeystoreError`: there is not enough memory.
    public init(of card: DeviceCard) throws(KeystoreError) {
        let digest = SHA256.hash(data: Array("signet-link-code/v1\n".utf8) + card.encoded)
        let key = try PassphraseKey.derive(
            from: SecretBytes(copying: Array(digest)), salt: Array("signet-link-code".utf8), cost: .minimum)
        let number = key.withUnsafeBytes { $0.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        let digits = String(number % 1_000_000_000_000 + 1_000_000_000_000).dropFirst()
        text = [digits.prefix(4), digits.dropFirst(4).prefix(4), digits.suffix(4)].joined(separator: " ")
    }

    /// Whether a person typed this code, with whatever spaces.
    public func matches(typed: String) -> Bool {
        typed.filter { !$0.isWhitespace } == text.filter { !$0.isWhitespace }
    }
}
