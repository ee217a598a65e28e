// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import DIDKey
import Foundation

/// Documents of the did:key method's own test vectors: an object from identifier to its verification method.
struct DIDKeySuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "did-key",
        abstract: "did:key: each identifier is read to the key its document names, and printed again.",
        discussion: """
            An identifier of a key kind that Signet does not speak passes when it is refused by its codec, one with \
            "valid": false when it is refused at all.
            """)

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let entries: [String: Entry] = try VectorFile(path).json()
        guard !entries.isEmpty else { throw .noCases(path: path) }
        for (did, entry) in entries.sorted(by: { $0.key < $1.key }) {
            report.add(did, failure: entry.failure(for: Array(did.utf8)))
        }
    }

    struct Entry: Decodable {
        /// Absent where there must be none.
        let verificationMethod: Method?
        /// False for an identifier that must be refused.
        let valid: Bool?

        /// What is wrong with our reading; nil when it is the expected one.
        func failure(for text: [UInt8]) -> String? {
            if valid == false { return (try? KeyDID(decoding: text)) == nil ? nil : "accepted, must be refused" }
            guard let verificationMethod else { return "has no verification method to compare with" }
            do throws(KeyDIDError) {
                let did = try KeyDID(decoding: text)
                guard did.encoded == text else { return "prints another text" }
                guard verificationMethod.isSpoken else { return "accepted, of a kind we do not speak" }
                return verificationMethod.names(did) ? nil : "reads another key than its document names"
            } catch {
                if case .unsupportedCodec = error, !verificationMethod.isSpoken { return nil }
                return "refused: \(error)"
            }
        }
    }

    struct Method: Decodable {
        let publicKeyJwk: WebKey?
        let publicKeyBase58: String?

        var isSpoken: Bool {
            publicKeyJwk.map { ["P-256", "P-384", "Ed25519", "X25519"].contains($0.crv) } ?? true
        }

        func names(_ did: KeyDID) -> Bool {
            if let publicKeyBase58 { return (try? Base58.decode(Array(publicKeyBase58.utf8))) == did.publicKey }
            guard let ours = try? JSONDecoder().decode(WebKey.self, from: Data(did.jsonWebKey)) else { return false }
            return ours == publicKeyJwk
        }
    }

    struct WebKey: Decodable, Equatable {
        let kty: String
        let crv: String
        let x: String
        let y: String?
    }
}
