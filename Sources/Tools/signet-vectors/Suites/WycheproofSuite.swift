// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Crypto
import CryptoExtras
import Foundation
import SFrame
import TransparencyLog

/// Wycheproof's files about what the project uses, put to what the project uses.
struct WycheproofSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "wycheproof",
        abstract: "Wycheproof: AES-GCM, ECDH and ECDSA of P-256, HKDF, PBKDF2, RSA-OAEP, ML-DSA-44 (its JSON).",
        discussion: "Cases of other sizes, encodings and contexts than we use are noted as not applicable.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let file: File = try VectorFile(path).json()
        guard file.testGroups.contains(where: { !$0.tests.isEmpty }) else { throw .noCases(path: path) }
        var others = 0
        for group in file.testGroups {
            for test in group.tests {
                let name = "tcId \(test.tcId)"
                guard ["valid", "invalid", "acceptable"].contains(test.result) else {
                    report.add(name, failure: "unknown result \"\(test.result)\"")
                    continue
                }
                switch group.verdict(of: test) {
                case nil: others += 1
                case _? where test.result == "acceptable": report.add(name, failure: nil)
                case .right: report.add(name, valid: test.result == "valid", refusal: nil, about: test.comment)
                case .wrong(let why):
                    report.add(name, valid: test.result == "valid", refusal: why, about: test.comment)
                }
            }
        }
        if others > 0 { report.remark("\(others) cases of other sizes, encodings or contexts: not applicable") }
    }

    struct File: Decodable { let testGroups: [Group] }

    /// What our code says of a case.
    enum Verdict {
        case right
        case wrong(String)

        init(_ holds: Bool, _ why: String) { self = holds ? .right : .wrong(why) }
    }

    struct Group: Decodable {
        let type: String
        let ivSize: Int?
        let tagSize: Int?
        let sha: String?
        let mgfSha: String?
        let publicKey: Key?
        let privateKeyPem: String?
        let tests: [Test]

        /// Nil for what we do not use.
        func verdict(of test: Test) -> Verdict? {
            switch type {
            case "AeadTest": test.aead(ivSize, tagSize)
            case "EcdhTest": test.agreement
            case "EcdsaP1363Verify": publicKey?.uncompressed.flatMap { test.signature(under: $0.bytes) }
            case "HkdfTest": test.hkdf
            case "PbkdfTest": test.pbkdf2
            case "RsaesOaepDecrypt": sha == "SHA-256" && mgfSha == sha ? test.oaep(privateKeyPem) : nil
            case "MlDsaVerify": publicKey?.raw.flatMap { test.latticeSignature(under: $0.bytes) }
            default: nil
            }
        }
    }

    /// A public key: hexadecimal, or an object with the uncompressed point.
    struct Key: Decodable {
        let raw: HexField?
        let uncompressed: HexField?

        private enum CodingKeys: CodingKey { case uncompressed }

        init(from decoder: any Decoder) throws {
            raw = try? HexField(from: decoder)
            uncompressed =
                raw == nil
                ? try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(HexField.self, forKey: .uncompressed)
                : nil
        }
    }

    struct Test: Decodable {
        let tcId: Int
        let comment: String?
        let result: String
        let key, iv, aad, msg, ct, tag, sig, ctx, label: HexField?
        let `public`, `private`, shared, ikm, salt, info, okm, password, dk: HexField?
        let size, iterationCount, dkLen: Int?
    }
}

extension WycheproofSuite.Test {
    typealias Verdict = WycheproofSuite.Verdict

    /// By the ciphers of SFrame, which are AES-GCM with nonces of 96 bits and tags of 128.
    func aead(_ ivSize: Int?, _ tagSize: Int?) -> Verdict? {
        guard ivSize == 96, tagSize == 128, let key, let iv, let aad, let msg, let ct, let tag else { return nil }
        let suite: CipherSuite? =
            switch key.bytes.count {
            case 16: .aes128GCM
            case 32: .aes256GCM
            default: nil
            }
        guard let suite, let cipher = try? suite.makeCipher(key: SymmetricKey(data: key.bytes)) else { return nil }
        let sealed = ct.bytes + tag.bytes
        let opened = try? cipher.open(sealed[...], nonce: iv.bytes, authenticating: aad.bytes)
        guard let opened else { return .wrong("does not open") }
        var again: [UInt8] = []
        try? cipher.seal(msg.bytes[...], nonce: iv.bytes, authenticating: aad.bytes, into: &again)
        return Verdict(opened == msg.bytes && again == sealed, "opens to another message, or seals otherwise")
    }

    /// Points as we carry them: uncompressed, after the one prefix that names the curve.
    var agreement: Verdict? {
        let prefix: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        guard let `public`, let `private`, let shared, `public`.bytes.starts(with: prefix) else { return nil }
        let scalar = [UInt8](repeating: 0, count: 32) + `private`.bytes
        let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: Array(scalar.suffix(32)))
        guard let key else { return nil }
        let point = Array(`public`.bytes.dropFirst(prefix.count))
        guard let peer = try? P256.KeyAgreement.PublicKey(x963Representation: point),
            let secret = try? key.sharedSecretFromKeyAgreement(with: peer)
        else { return .wrong("no point") }
        return Verdict(secret.withUnsafeBytes { Array($0) } == shared.bytes, "agrees on another secret")
    }

    func signature(under key: [UInt8]) -> Verdict? {
        guard let msg, let sig, let key = try? P256.Signing.PublicKey(x963Representation: key) else { return nil }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: sig.bytes) else {
            return .wrong("no signature")
        }
        return Verdict(key.isValidSignature(signature, for: msg.bytes), "does not verify")
    }

    var hkdf: Verdict? {
        guard let ikm, let salt, let info, let okm, let size else { return nil }
        // RFC 5869, section 2.3: at most 255 blocks. Our own callers ask for constants.
        guard size <= 255 * 32 else { return .wrong("too long") }
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: ikm.bytes), salt: salt.bytes, info: info.bytes, outputByteCount: size)
        return Verdict(key.withUnsafeBytes { Array($0) } == okm.bytes, "derives otherwise")
    }

    var pbkdf2: Verdict? {
        guard let password, let salt, let dk, let iterationCount, let dkLen else { return nil }
        let key = try? KDF.Insecure.PBKDF2.deriveKey(
            from: password.bytes, salt: salt.bytes, using: .sha256, outputByteCount: dkLen,
            unsafeUncheckedRounds: iterationCount)
        return Verdict(key?.withUnsafeBytes { Array($0) } == dk.bytes, "derives otherwise")
    }

    func oaep(_ pem: String?) -> Verdict? {
        guard let pem, let msg, let ct, label?.bytes.isEmpty != false,
            let key = try? _RSA.Encryption.PrivateKey(pemRepresentation: pem)
        else { return nil }
        let opened = try? key.decrypt(ct.bytes, padding: .PKCS1_OAEP_SHA256)
        guard let opened else { return .wrong("does not open") }
        return Verdict(Array(opened) == msg.bytes, "opens to another message")
    }

    func latticeSignature(under key: [UInt8]) -> Verdict? {
        guard let msg, let sig, ctx?.bytes.isEmpty != false else { return nil }
        return Verdict(MLDSA44.isValid(sig.bytes, for: msg.bytes, under: key), "does not verify")
    }
}
