// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import VerifiableMap

struct WrongLength: Error {}

/// For bytes that a test made itself and knows to be 32.
func key(_ bytes: some Collection<UInt8>) throws -> MapKey {
    guard let key = MapKey(bytes) else { throw WrongLength() }
    return key
}

func value(_ bytes: some Collection<UInt8>) throws -> MapValue {
    guard let value = MapValue(bytes) else { throw WrongLength() }
    return value
}

func hash(_ bytes: some Collection<UInt8>) throws -> MapHash {
    guard let hash = MapHash(bytes) else { throw WrongLength() }
    return hash
}

func unhex(_ text: String) throws -> [UInt8] { try Hex.decode(Array(text.utf8)) }

func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

func sha256(_ text: String) -> [UInt8] { sha256(Array(text.utf8)) }

/// Key SHA-256("k" || i), value SHA-256("v" || i), i in decimal: what the published answers are about.
func numbered(_ number: Int, _ keyPrefix: String = "k", _ valuePrefix: String = "v") throws -> MapEntry {
    MapEntry(
        key: try key(sha256("\(keyPrefix)\(number)")), value: try value(sha256("\(valuePrefix)\(number)")))
}

func numbered(
    _ range: Range<Int>, _ keyPrefix: String = "k", _ valuePrefix: String = "v"
) throws -> [MapEntry] {
    try range.map { try numbered($0, keyPrefix, valuePrefix) }
}

/// The version with these entries, in one batch.
func version(_ entries: [MapEntry]) throws -> MapVersion {
    var trie = MapTrie()
    try trie.update(entries)
    return trie.current
}

extension MapProof {
    var path: MapPath? {
        switch self {
        case .present(_, let path), .absent(_, let path): path
        case .absentFromEmptyTrie: nil
        }
    }
}
