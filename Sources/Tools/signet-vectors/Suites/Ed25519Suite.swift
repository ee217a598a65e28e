// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Crypto

/// Signatures in the schema of Wycheproof's ed25519_test.json.
struct Ed25519Suite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "ed25519", abstract: "Ed25519 verification (Wycheproof eddsa_verify JSON).")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let file: File = try VectorFile(path).json()
        guard file.testGroups.contains(where: { !$0.tests.isEmpty }) else { throw .noCases(path: path) }
        for group in file.testGroups {
            for test in group.tests {
                let name = "tcId \(test.tcId)"
                guard let expected = test.expected else {
                    report.add(name, failure: "unknown result \"\(test.result)\"")
                    continue
                }
                let refusal = group.accepts(test) ? nil : "the signature does not verify"
                if let valid = expected {
                    report.add(name, valid: valid, refusal: refusal, about: test.comment)
                } else {
                    report.add(name, failure: nil)
                }
            }
        }
    }

    struct File: Decodable { let testGroups: [Group] }

    struct Group: Decodable {
        struct Key: Decodable { let pk: HexField }
        let publicKey: Key?
        let key: Key?
        let tests: [Test]

        private enum CodingKeys: CodingKey { case publicKey, key, tests }

        /// Older editions of the file call the key `key`; one of the two must be there.
        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            key = try fields.decodeIfPresent(Key.self, forKey: .key)
            publicKey = key == nil ? try fields.decode(Key.self, forKey: .publicKey) : nil
            tests = try fields.decode([Test].self, forKey: .tests)
        }

        func accepts(_ test: Test) -> Bool {
            guard let bytes = (publicKey ?? key)?.pk.bytes,
                let verifier = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
            else { return false }
            return verifier.isValidSignature(test.sig.bytes, for: test.msg.bytes)
        }
    }

    struct Test: Decodable {
        let tcId: Int
        let comment: String?
        let msg: HexField
        let sig: HexField
        let result: String

        /// True for valid, false for invalid, an inner nil where both are allowed, nil for another word.
        var expected: Bool?? {
            switch result {
            case "valid": .some(true)
            case "invalid": .some(false)
            case "acceptable": .some(nil)
            default: nil
            }
        }
    }
}
