// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// X-Wing in its two halves, and HPKE over it, written for the tests: opens a message with each half of the key by itself in
/// hand, so that a test can be who has broken one of them.
///
/// Spec: draft-connolly-cfrg-xwing-kem; RFC 9180, sections 4 and 5.1 in base mode, with HKDF-SHA256.
struct HybridHalves {
    /// AES-256-GCM or ChaCha20-Poly1305, by its number in RFC 9180.
    enum Cipher: UInt8 {
        case aes256GCM = 2
        case chaChaPoly = 3
    }

    static let latticeByteCount = 1088
    var lattice: MLKEM768.PrivateKey
    var curve: Curve25519.KeyAgreement.PrivateKey

    /// The halves of the private key of a seed of 32 bytes.
    init(seed: [UInt8]) throws {
        let expanded = Data(SHAKE256.bytes(of: seed, count: 96))
        lattice = try MLKEM768.PrivateKey(seedRepresentation: expanded.prefix(64), publicKey: nil)
        curve = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: expanded.suffix(32))
    }

    /// As the recipient publishes it: 1184 bytes and 32.
    var publicKey: [UInt8] { Array(lattice.publicKey.rawRepresentation + curve.publicKey.rawRepresentation) }

    /// Encapsulation of 1088 bytes and 32, ciphertext and tag.
    ///
    /// - Throws: what the cipher throws when this is not the key to which it was sealed.
    func open(_ sealed: [UInt8], info: [UInt8], context: [UInt8], cipher: Cipher = .aes256GCM) throws -> [UInt8] {
        let schedule = HPKESchedule(
            secret: try sharedSecret(Data(sealed.prefix(1120))), info: info,
            suite: [0x64, 0x7A, 0, 1, 0, cipher.rawValue])
        let (text, tag) = (Data(sealed.dropFirst(1120).dropLast(16)), Data(sealed.suffix(16)))
        switch cipher {
        case .aes256GCM:
            let box = try AES.GCM.SealedBox(nonce: .init(data: schedule.nonce), ciphertext: text, tag: tag)
            return Array(try AES.GCM.open(box, using: schedule.key, authenticating: context))
        case .chaChaPoly:
            let box = try ChaChaPoly.SealedBox(nonce: .init(data: schedule.nonce), ciphertext: text, tag: tag)
            return Array(try ChaChaPoly.open(box, using: schedule.key, authenticating: context))
        }
    }

    private func sharedSecret(_ encapsulated: Data) throws -> SymmetricKey {
        let point = Data(encapsulated.suffix(32))
        let ofLattice = try lattice.decapsulate(Data(encapsulated.prefix(Self.latticeByteCount)))
        let ofCurve = try curve.sharedSecretFromKeyAgreement(with: .init(rawRepresentation: point))
        var hash = SHA3_256()
        ofLattice.withUnsafeBytes { hash.update(bufferPointer: $0) }
        ofCurve.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: point)
        hash.update(data: curve.publicKey.rawRepresentation)
        hash.update(data: Data(#"\.//^\"#.utf8))
        return SymmetricKey(data: hash.finalize())
    }
}

/// Key and nonce of the first message of an HPKE context in base mode.
private struct HPKESchedule {
    let key: SymmetricKey
    let nonce: Data

    init(secret: SymmetricKey, info: [UInt8], suite: [UInt8]) {
        let prefix = Data("HPKE-v1HPKE".utf8) + suite
        func extract(_ label: String, _ input: Data, salt: Data = Data()) -> SymmetricKey {
            let input = SymmetricKey(data: prefix + Data(label.utf8) + input)
            return SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: input, salt: salt))
        }
        func data(_ key: SymmetricKey) -> Data { key.withUnsafeBytes { Data($0) } }
        let context = Data([0]) + data(extract("psk_id_hash", Data())) + data(extract("info_hash", Data(info)))
        let root = extract("secret", Data(), salt: data(secret))
        func expand(_ label: String, _ count: UInt8) -> SymmetricKey {
            HKDF<SHA256>.expand(
                pseudoRandomKey: root, info: Data([0, count]) + prefix + Data(label.utf8) + context,
                outputByteCount: Int(count))
        }
        key = expand("key", 32)
        nonce = data(expand("base_nonce", 12))
    }
}

/// SHAKE256 of FIPS 202 for at most 135 bytes, of which at most 136 are wanted: one permutation.
private enum SHAKE256 {
    private static let rate = 136

    static func bytes(of input: [UInt8], count: Int) -> [UInt8] {
        var block = input + [0x1F] + [UInt8](repeating: 0, count: rate - 1 - input.count)
        block[rate - 1] ^= 0x80
        var lanes = [UInt64](repeating: 0, count: 25)
        for (place, byte) in block.enumerated() { lanes[place / 8] |= UInt64(byte) << UInt64(place % 8 * 8) }
        for constant in constants { permute(&lanes, constant) }
        return (0..<count).map { UInt8(truncatingIfNeeded: lanes[$0 / 8] >> UInt64($0 % 8 * 8)) }
    }

    private static func permute(_ lanes: inout [UInt64], _ constant: UInt64) {
        let columns = (0..<5).map { x in (0..<5).reduce(UInt64(0)) { $0 ^ lanes[x + 5 * $1] } }
        for place in 0..<25 {
            lanes[place] ^= columns[(place + 4) % 5] ^ rotated(columns[(place + 1) % 5], by: 1)
        }
        var (x, y, moved) = (1, 0, lanes[1])
        for step in 0..<24 {
            (x, y) = (y, (2 * x + 3 * y) % 5)
            (moved, lanes[x + 5 * y]) = (lanes[x + 5 * y], rotated(moved, by: (step + 1) * (step + 2) / 2 % 64))
        }
        for start in stride(from: 0, to: 25, by: 5) {
            let row = Array(lanes[start..<start + 5])
            for x in 0..<5 { lanes[start + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]) }
        }
        lanes[0] ^= constant
    }

    private static func rotated(_ lane: UInt64, by count: Int) -> UInt64 {
        count == 0 ? lane : lane << UInt64(count) | lane >> UInt64(64 - count)
    }

    private static let constants: [UInt64] = [
        0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808A, 0x8000_0000_8000_8000,
        0x0000_0000_0000_808B, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
        0x0000_0000_0000_008A, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000A,
        0x0000_0000_8000_808B, 0x8000_0000_0000_008B, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
        0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800A, 0x8000_0000_8000_000A,
        0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
    ]
}
