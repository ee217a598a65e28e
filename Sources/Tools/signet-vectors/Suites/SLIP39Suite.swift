// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import Foundation
import SecretMemory
import SecretSharing

/// SLIP-0039's own vectors: rows of a name, mnemonics, the secret in hex (empty if none), and a field not used here.
struct SLIP39Suite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "slip39",
        abstract: "SLIP-0039: mnemonics recover the secret under the passphrase TREZOR, or are refused.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let rows: [Row] = try VectorFile(path).json()
        guard !rows.isEmpty else { throw .noCases(path: path) }
        for row in rows { report.add(row.name, failure: row.failure) }
    }

    struct Row: Decodable {
        let name: String
        let mnemonics: [String]
        let secret: HexField

        init(from decoder: any Decoder) throws {
            var fields = try decoder.unkeyedContainer()
            name = try fields.decode(String.self)
            mnemonics = try fields.decode([String].self)
            secret = try fields.decode(HexField.self)
        }

        /// What is wrong with our answer; nil when it is the expected one.
        var failure: String? {
            do {
                let shares = try mnemonics.map { text throws in try SLIP39Share(decoding: Array(text.utf8)) }
                let recovered = try SecretBytes.recovered(from: shares, passphrase: Array("TREZOR".utf8))
                let isRight = recovered.withSpan { bytes in bytes.indices.map { bytes[$0] } == secret.bytes }
                guard !secret.bytes.isEmpty else { return "accepted, must be refused" }
                guard isRight else { return "recovers another secret" }
                return zip(shares, mnemonics).allSatisfy { $0.encoded == Array($1.utf8) }
                    ? nil : "prints other words"
            } catch { return secret.bytes.isEmpty ? nil : "refused, must be accepted: \(error)" }
        }
    }
}
