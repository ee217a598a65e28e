// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecretMemory
public import SignetAPI
public import SignetClient

/// Twelve digits by which a person sees that two devices have the same in hand: first the card that the new one made, then the
/// account to which the other one added it.
///
/// Argon2id (2 passes, 19 MiB) over a SHA-256; the salt is the first 16 bytes of SHA-256 over `signet-link-salt/v1` LF and the
/// 32-byte root of the log that the card carries; of the key the first 64 bits, modulo 10^12. An attacker who looks for
/// another card or account with the same digits cannot begin before the card is made, pays for each try as for a guess
/// at a passphrase, and has the hour or two for which a card is good. At 20 ms a try, 10,000 cores find one within that
/// hour with a chance of 1 in 500; a table made beforehand is of no use.
public struct LinkCode: Hashable, Sendable {
    /// `1234 5678 9012`.
    public let text: String

    /// The digits of a card: the new device shows them, and they are typed on the device that adds it.
    ///
    /// SHA-256 over `signet-link-code/v2` LF and the 32-byte hash of the card.
    ///
    /// - Throws: `KeystoreError`: there is not enough memory.
    public init(of card: LinkCard) throws(KeystoreError) {
        try self.init("signet-link-code/v2\n", [card.hash], saltedBy: card)
    }

    /// The digits of an account that was changed for a card: the device that added it shows them, and they are typed on the new
    /// device before it accepts anything.
    ///
    /// SHA-256 over `signet-link-account/v1` LF, the 32-byte hash of the card, the identity key, 33 bytes, and the state's hash,
    /// 32 bytes.
    ///
    /// - Throws: `KeystoreError`: there is not enough memory.
    public init(
        confirming card: LinkCard, identityKey: [UInt8], stateHash: [UInt8]
    ) throws(KeystoreError) {
        try self.init("signet-link-account/v1\n", [card.hash, identityKey, stateHash], saltedBy: card)
    }

    private init(
        _ label: String, _ parts: [[UInt8]], saltedBy card: LinkCard
    ) throws(KeystoreError) {
        let digest = SHA256.hash(data: Array(label.utf8) + parts.flatMap { $0 })
        let salt = SHA256.hash(data: Array("signet-link-salt/v1\n".utf8) + card.logRoot)
        let key = try PassphraseKey.derive(
            from: SecretBytes(copying: Array(digest)), salt: Array(salt.prefix(16)), cost: .minimum)
        let number = key.withUnsafeBytes { $0.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        let digits = String(number % 1_000_000_000_000 + 1_000_000_000_000).dropFirst()
        text = [digits.prefix(4), digits.dropFirst(4).prefix(4), digits.suffix(4)].joined(separator: " ")
    }

    /// Whether a person typed this code, with any spaces.
    public func matches(typed: String) -> Bool {
        typed.filter { !$0.isWhitespace } == text.filter { !$0.isWhitespace }
    }
}
