// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SecureCell

/// Cells, messages and keys of the Themis library, in the schema `themis-golden/1`.
struct ThemisSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "themis",
        abstract:
            "Themis cells, messages, key containers and edge cases (themis-golden/1), read strictly and compatibly.",
        discussion: """
            Every record that carries its IV is also made again, byte for byte. What Themis accepts and this project \
            refuses by choice (RSA-1024, hybrid points, scalars out of range, unknown message types, more than \
            5,000,000 iterations) is noted and must be refused.
            """)

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let golden: ThemisFile = try VectorFile(path).json()
        guard golden.recordCount > 0 else { throw .noCases(path: path) }
        checkKeys(golden, &report)
        checkCells(golden, &report)
        checkMessages(golden, &report)
        checkNotes(golden, &report)
        for record in golden.edge_cases ?? [] { ThemisEdgeCase(record).check(&report) }
    }

    private func checkKeys(_ golden: ThemisFile, _ report: inout VectorReport) {
        for record in golden.keyRecords {
            let name = record.id ?? "key"
            report.add("\(name)/public", failure: record.containerFailure(record.public_b64))
            report.add("\(name)/private", failure: record.containerFailure(record.private_b64))
            report.add("\(name)/pair", record.pairVerdict)
        }
    }

    private func checkCells(_ golden: ThemisFile, _ report: inout VectorReport) {
        for record in golden.cell_seal_key ?? [] { report.add(record, "seal", record.sealFailure) }
        for record in golden.cell_seal_passphrase ?? [] { report.add(record, "passphrase", record.passphraseFailure) }
        for record in golden.cell_token_protect ?? [] { report.add(record, "token", record.tokenFailure) }
        for record in golden.cell_context_imprint ?? [] { report.add(record, "imprint", record.imprintFailure) }
    }

    private func checkMessages(_ golden: ThemisFile, _ report: inout VectorReport) {
        let keys = golden.keysByName
        for record in golden.message_sign ?? [] {
            guard let signer = keys[record.signer ?? ""] else {
                report.add(record, "sign", "no such key")
                continue
            }
            report.add(record.id ?? "sign", record.signedVerdict(signer))
        }
        for record in golden.message_encrypt ?? [] {
            guard let sender = keys[record.sender ?? ""], let recipient = keys[record.recipient ?? ""] else {
                report.add(record, "encrypt", "no such key")
                continue
            }
            report.add(record.id ?? "encrypt", record.encryptedVerdict(from: sender, to: recipient))
        }
    }

    private func checkNotes(_ golden: ThemisFile, _ report: inout VectorReport) {
        let keys = golden.keysByName
        for (number, record) in (golden.shared_notes ?? []).enumerated() {
            let name = record.id ?? "shared-note/\(number)"
            guard let sender = keys[record.sender ?? ""], let recipient = keys[record.recipient ?? ""] else {
                report.add(name, failure: "no such key")
                continue
            }
            report.add(name, failure: record.sharedNoteFailure(from: sender, to: recipient))
        }
        for (number, record) in (golden.seed_app_posts ?? []).enumerated() {
            report.add(record.id ?? "seed-post/\(number)", failure: record.seedPostFailure)
        }
    }
}

/// The result of a record.
enum ThemisVerdict {
    case passed
    case failed(String)
    /// Refused as it must be, though Themis takes it.
    case refusedByChoice(String)

    init(failure: String?) { self = failure.map { .failed($0) } ?? .passed }
}

extension VectorReport {
    fileprivate mutating func add(_ record: ThemisRecord, _ section: String, _ failure: String?) {
        add(record.id ?? section, failure: failure)
    }

    mutating func add(_ name: String, _ verdict: ThemisVerdict) {
        switch verdict {
        case .passed: add(name, failure: nil)
        case .failed(let reason): add(name, failure: reason)
        case .refusedByChoice(let reason):
            add(name, failure: nil)
            remark("\(name): refused by choice: \(reason)")
        }
    }
}
