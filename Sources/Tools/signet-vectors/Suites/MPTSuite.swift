// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Crypto
import Foundation
import VerifiableMap

/// Tries, and proofs of presence and absence, in the schema of the project's mpt set.
struct MPTSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "mpt",
        abstract: "Merkle Patricia tries: roots, and proofs that are made byte for byte and verify.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let tries: [Trie] = try VectorFile(path).json()
        guard !tries.isEmpty else { throw .noCases(path: path) }
        for trie in tries { trie.check(&report) }
    }

    struct Trie: Decodable {
        let key_prefix: String
        let value_prefix: String
        let n: Int
        let root: HexField
        let presence: [Proof]
        let absence: [Proof]

        func check(_ report: inout VectorReport) {
            let name = "\(key_prefix)/\(n)"
            guard let version else { return report.add("\(name)/root", failure: "the entries are refused") }
            report.add("\(name)/root", failure: version.root.bytes == root.bytes ? nil : "another root")
            for (number, test) in presence.enumerated() {
                report.add(
                    "\(name)/presence/\(number)",
                    failure: test.failure(in: version, root.bytes, isPresent: true))
            }
            for (number, test) in absence.enumerated() {
                report.add(
                    "\(name)/absence/\(number)",
                    failure: test.failure(in: version, root.bytes, isPresent: false))
            }
        }

        /// The map of the set's entries, nil when ours refuses them.
        private var version: MapVersion? {
            func hash(_ text: String) -> SHA256.Digest { SHA256.hash(data: Data(text.utf8)) }
            let entries = (0..<max(0, n)).compactMap { number -> MapEntry? in
                let (key, value) = (hash("\(key_prefix)\(number)"), hash("\(value_prefix)\(number)"))
                guard let key = MapKey(Array(key)), let value = MapValue(Array(value)) else { return nil }
                return MapEntry(key: key, value: value)
            }
            var trie = MapTrie()
            do throws(MapBatchError) { try trie.update(entries) } catch { return nil }
            return trie.current
        }
    }

    struct Proof: Decodable {
        let key: HexField
        let value: HexField
        let proof: HexField
        let why: String?

        /// What is wrong with our answers; nil when they are the expected ones.
        func failure(in version: MapVersion, _ root: [UInt8], isPresent: Bool) -> String? {
            guard let key = MapKey(key.bytes), let root = MapHash(root) else {
                return "a field does not have 32 bytes"
            }
            let value = MapValue(value.bytes)
            guard (value != nil) == isPresent else { return "the value does not have the right length" }
            guard version.proof(of: key).encoded == proof.bytes else { return "makes another proof" }
            do throws(MapProofError) {
                let read = try MapProof(decoding: proof.bytes, value: value)
                guard read.encoded == proof.bytes else { return "prints another proof" }
                let outcome = try read.verify(key, in: root).outcome
                return outcome == (value.map { .present($0) } ?? .absent)
                    ? nil : "verifies to another outcome"
            } catch {
                return "refused, must be accepted: \(error)\(why.map { " (\($0))" } ?? "")"
            }
        }
    }
}
