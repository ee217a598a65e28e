// SPDX-License-Identifier: Apache-2.0

import Crypto

@testable import SecureCell

@Sendable func cellParsers() -> [Parser] {
    let key = SymmetricKey(data: [UInt8](repeating: 1, count: 32))
    return ReadingMode.allCases.flatMap { mode in
        [
            Parser("cell, \(mode)") { (try? Seal.open($0, key: key, reading: mode)) != nil },
            Parser("token, \(mode)") { bytes in
                guard let count = bytes.first, bytes.count > count else { return false }
                let (ciphertext, token) = (bytes[1...].prefix(Int(count)), bytes.dropFirst(1 + Int(count)))
                let parts = TokenProtect.Parts(token: Array(token), ciphertext: Array(ciphertext))
                return (try? TokenProtect.open(parts, key: key, reading: mode)) != nil
            },
        ]
    } + [
        .canonical("percent-base64", { try PercentBase64.decode($0) }, PercentBase64.encode),
        .settled(
            "percent-base64, compatible", { try PercentBase64.decode($0, reading: .compatible) }, PercentBase64.encode),
        .canonical("key container", KeyContainer.init(decoding:), { $0.withEncoded { $0 } }),
        Parser("key container, checksum made") { bytes in
            guard let container = try? KeyContainer(decoding: withChecksum(bytes)) else { return false }
            let keys: [Any?] = [
                try? ECPublicKey(container), try? ECPrivateKey(container), try? RSAPublicKey(container),
                try? RSAPrivateKey(container),
            ]
            return keys.contains { $0 != nil }
        },
    ]
}

/// What costs a signature or an agreement of keys for each input.
@Sendable func cellMessageParsers() -> [Parser] {
    let own = needed { try cellKey() }
    return ReadingMode.allCases.flatMap { mode in
        [
            Parser("signed message, \(mode)") {
                (try? SignedMessage.verify($0, by: own.publicKey, reading: mode)) != nil
            },
            Parser("encrypted message, \(mode)") {
                (try? EncryptedMessage.decrypt($0, by: own, from: own.publicKey, reading: mode)) != nil
            },
        ]
    }
}

/// The container with the size and the checksum that it must have, which no mutation would find.
private func withChecksum(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 12 else { return bytes }
    let size = (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) }
    var checksum = CRC32C()
    for part in [Array(bytes[..<4]) + size, [0, 0, 0, 0], Array(bytes[12...])] { checksum.update(part) }
    let code = (0..<4).map { UInt8(truncatingIfNeeded: checksum.value >> (8 * $0)) }
    return bytes[..<4] + size + code + bytes[12...]
}
