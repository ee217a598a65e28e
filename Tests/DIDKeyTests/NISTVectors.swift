// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation

/// The documents of the did:key method's test vectors for the NIST curves: `did-key/nist-curves.json`.
struct NISTVectors {
    struct Entry {
        let did: String
        let method: [String: Any]
        let document: NSDictionary

        /// The x and y of its JSON Web Key.
        var coordinates: (x: [UInt8], y: [UInt8])? {
            guard let key = method["publicKeyJwk"] as? [String: String], let x = key["x"], let y = key["y"],
                let xBytes = try? Base64URL.decode(Array(x.utf8)), let yBytes = try? Base64URL.decode(Array(y.utf8))
            else { return nil }
            return (xBytes, yBytes)
        }

        var curve: String? { (method["publicKeyJwk"] as? [String: String])?["crv"] }
        var base58: String? { method["publicKeyBase58"] as? String }
    }

    static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors/did-key/nist-curves.json").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path()) }

    static func load() throws -> [Entry] {
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        return (json as? [String: [String: Any]] ?? [:]).sorted { $0.key < $1.key }.map { did, entry in
            Entry(
                did: did, method: entry["verificationMethod"] as? [String: Any] ?? [:],
                document: entry["didDocument"] as? NSDictionary ?? [:])
        }
    }
}

func json(_ bytes: [UInt8]) throws -> NSDictionary {
    try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary ?? [:]
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
