// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecretMemory

/// The cipher between a secret and what is shared of it. A wrong passphrase gives another secret, and no error.
///
/// Spec: SLIP-0039, section "Encryption of the master secret": four Feistel rounds with PBKDF2 (RFC 8018, 5.2).
struct PassphraseCipher {
    /// 10,000 · 2^exponent iterations of HMAC-SHA-256 in all.
    let iterationExponent: UInt8
    /// What precedes the half in the salt: `shamir` and the identifier, or nothing for an extendable set.
    let saltPrefix: [UInt8]
    let passphrase: [UInt8]

    init(identifier: UInt16, isExtendable: Bool, iterationExponent: UInt8, passphrase: [UInt8]) {
        self.iterationExponent = iterationExponent
        self.passphrase = passphrase
        let bytes = [UInt8(identifier >> 8), UInt8(identifier & 255)]
        saltPrefix = isExtendable ? [] : Array("shamir".utf8) + bytes
    }

    func encrypt(_ secret: SecretBytes) -> SecretBytes { run(secret, rounds: [0, 1, 2, 3]) }

    func decrypt(_ secret: SecretBytes) -> SecretBytes { run(secret, rounds: [3, 2, 1, 0]) }

    private func run(_ secret: SecretBytes, rounds: [UInt8]) -> SecretBytes {
        let half = secret.count / 2
        var (left, right) = secret.withBytes { (Array($0.prefix(half)), Array($0.suffix(half))) }
        for round in rounds {
            var mask = pad(round, right)
            for index in mask.indices { mask[index] ^= left[index] }
            left.wipe()
            (left, right) = (right, mask)
        }
        defer {
            left.wipe()
            right.wipe()
        }
        return SecretBytes(count: secret.count) { memory in
            for index in 0..<half { (memory[index], memory[half + index]) = (right[index], left[index]) }
        }
    }

    /// PBKDF2 with one block of output, cut to the length of the half (at most 32 bytes).
    private func pad(_ round: UInt8, _ half: [UInt8]) -> [UInt8] {
        let keyed = HMAC<SHA256>(key: SymmetricKey(data: [round] + passphrase))
        var block = authenticate(saltPrefix + half + [0, 0, 0, 1], keyed)
        var sum = block
        for _ in 1..<(2500 << Int(iterationExponent)) {
            block = authenticate(block, keyed)
            for index in sum.indices { sum[index] ^= block[index] }
        }
        return Array(sum.prefix(half.count))
    }

    private func authenticate(_ bytes: [UInt8], _ keyed: HMAC<SHA256>) -> [UInt8] {
        var copy = keyed
        copy.update(data: bytes)
        return Array(copy.finalize())
    }
}
