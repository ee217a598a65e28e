// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Crypto
import Foundation

/// HPKE in the schema of RFC 9180's test vectors: the two suites that wraps use, and their relatives.
struct HPKESuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "hpke",
        abstract: "HPKE base mode with DHKEM(P-256) and X-Wing under HKDF-SHA256: messages open, secrets are exported.",
        discussion: "Entries of other modes and suites are noted as not applicable.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let entries: [Entry] = try VectorFile(path).json()
        guard !entries.isEmpty else { throw .noCases(path: path) }
        var others = 0
        for (number, entry) in entries.enumerated() {
            guard let suite = entry.suite else {
                others += 1
                continue
            }
            entry.check("\(number)/kem \(entry.kem_id)/aead \(entry.aead_id)", suite, &report)
        }
        if others > 0 { report.remark("\(others) entries of other modes or suites: not applicable") }
    }

    struct Entry: Decodable {
        struct Encryption: Decodable { let aad, ct, pt: HexField }
        struct Export: Decodable {
            let exporter_context, exported_value: HexField
            let L: Int
        }

        let mode, kem_id, kdf_id, aead_id: Int
        let info, skRm, pkRm, enc: HexField
        let encryptions: [Encryption]
        let exports: [Export]?
        /// False when the encapsulated key or the first message must be refused.
        let valid: Bool?

        /// RFC 9180, section 7; X-Wing of draft-connolly-cfrg-xwing-kem.
        var suite: HPKE.Ciphersuite? {
            guard mode == 0, kdf_id == 1 else { return nil }
            let kem: HPKE.KEM? =
                switch kem_id {
                case 0x0010: .P256_HKDF_SHA256
                case 0x647A: .XWingMLKEM768X25519
                default: nil
                }
            let aead: HPKE.AEAD? =
                switch aead_id {
                case 1: .AES_GCM_128
                case 2: .AES_GCM_256
                case 3: .chaChaPoly
                default: nil
                }
            guard let kem, let aead else { return nil }
            return HPKE.Ciphersuite(kem: kem, kdf: .HKDF_SHA256, aead: aead)
        }

        func check(_ name: String, _ suite: HPKE.Ciphersuite, _ report: inout VectorReport) {
            if valid == false { return report.add(name, valid: false, refusal: refusal(suite)) }
            do {
                var recipient = try recipient(suite, name, &report)
                for (number, encryption) in encryptions.enumerated() {
                    let opened = try recipient.open(encryption.ct.bytes, authenticating: encryption.aad.bytes)
                    let isSame = Array(opened) == encryption.pt.bytes
                    report.add("\(name)/\(number)", failure: isSame ? nil : "opens to another message")
                }
                for (number, export) in (exports ?? []).enumerated() {
                    let secret = try recipient.exportSecret(
                        context: export.exporter_context.bytes, outputByteCount: export.L)
                    let isSame = secret.withUnsafeBytes { Array($0) } == export.exported_value.bytes
                    report.add("\(name)/export \(number)", failure: isSame ? nil : "exports another secret")
                }
            } catch {
                report.add(name, failure: "refused, must be accepted: \(error)")
            }
        }

        /// Why the first message does not open; nil when it does.
        private func refusal(_ suite: HPKE.Ciphersuite) -> String? {
            var unused = VectorReport()
            do {
                var recipient = try recipient(suite, "", &unused)
                guard let first = encryptions.first else { return nil }
                _ = try recipient.open(first.ct.bytes, authenticating: first.aad.bytes)
                return nil
            } catch { return "\(error)" }
        }

        private func recipient(
            _ suite: HPKE.Ciphersuite, _ name: String, _ report: inout VectorReport
        ) throws -> HPKE.Recipient {
            if kem_id == 0x0010 {
                let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: skRm.bytes)
                let isPair = Array(key.publicKey.x963Representation) == pkRm.bytes
                report.add("\(name)/key", failure: isPair ? nil : "another public key")
                return try HPKE.Recipient(
                    privateKey: key, ciphersuite: suite, info: Data(info.bytes), encapsulatedKey: Data(enc.bytes))
            }
            let key = try XWingMLKEM768X25519.PrivateKey(seedRepresentation: skRm.bytes, publicKey: nil)
            let isPair = Array(key.publicKey.rawRepresentation) == pkRm.bytes
            report.add("\(name)/key", failure: isPair ? nil : "another public key")
            return try HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: Data(info.bytes), encapsulatedKey: Data(enc.bytes))
        }
    }
}
