// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation

/// The working group's vectors, in a folder beside the package; absent in a bare checkout.
struct SharedVectors: Decodable {
    let header: [Header]
    let aes_ctr_hmac: [Cipher]
    let aes_256_ctr_hmac: [Cipher]
    let sframe: [Frame]

    static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors/sframe/rfc9605.json").standardized

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file.path()) }

    static func load() throws -> SharedVectors {
        try JSONDecoder().decode(SharedVectors.self, from: Data(contentsOf: file))
    }

    struct Header: Decodable {
        let kid: UInt64
        let ctr: UInt64
        let encoded: HexText
    }

    struct Cipher: Decodable {
        let cipher_suite: UInt16
        let key: HexText
        let nonce: HexText
        let aad: HexText
        let pt: HexText
        let ct: HexText
    }

    struct Frame: Decodable {
        let cipher_suite: UInt16
        let kid: UInt64
        let ctr: UInt64
        let base_key: HexText
        let sframe_key: HexText
        let sframe_salt: HexText
        let metadata: HexText
        let nonce: HexText
        let pt: HexText
        let ct: HexText
    }
}

/// A field of hexadecimal digits.
struct HexText: Decodable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        bytes = try Hex.decode(Array(String(from: decoder).utf8))
    }
}
