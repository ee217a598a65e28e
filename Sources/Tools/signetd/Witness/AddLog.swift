// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SignetServer
import TransparencyLog

/// `signetd witness add-log`
struct AddLog: ParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-log",
        abstract: "Serve another log, or another key of a log, from the next start on.",
        discussion: """
            Give the log's verifier key, as in the first line of directory.signet, or a list of logs in the form of \
            the witness network (logs/v0). Nothing is added if any part of it is not valid.
            """)

    @OptionGroup var data: DataOption

    @Argument(help: ArgumentHelp("The log's verifier key: name+id+base64.", valueName: "key"))
    var key: String?

    @Option(help: ArgumentHelp("The log's origin. Default: the key's name.", valueName: "text"))
    var origin: String?

    @Option(help: ArgumentHelp("How often per day the log may be cosigned. Default: any number.", valueName: "n"))
    var perDay: UInt64?

    @Option(help: ArgumentHelp("How to reach the log's operator.", valueName: "text"))
    var contact: String?

    @Option(help: ArgumentHelp("A list of logs to add instead.", valueName: "file"))
    var list: String?

    func validate() throws {
        guard (key == nil) != (list == nil) else { throw ValidationError("give a key or --list") }
        guard list == nil || (origin == nil && perDay == nil && contact == nil) else {
            throw ValidationError("--origin, --per-day and --contact need a key")
        }
    }

    func run() throws {
        let entries = try entries()
        do {
            let stored = try StoredWitness(WitnessDirectory(path: data.data))
            try stored.add(entries)
        } catch { throw Diagnostics.exit(error) }
        for entry in entries { print("added \(String(decoding: entry.origin, as: UTF8.self))") }
    }

    private func entries() throws -> [WitnessedLogs.Entry] {
        if let key {
            guard let key = try? VerifierKey(decoding: Array(key.utf8)) else {
                throw ValidationError(
                    "not a verifier key of Ed25519 or ML-DSA-44 for which only its owner can sign; copy the log's line"
                )
            }
            return [
                .init(
                    key: key, origin: origin.map { Array($0.utf8) }, requestsPerDay: perDay,
                    contact: contact.map { Array($0.utf8) })
            ]
        }
        guard let list, let text = FileManager.default.contents(atPath: list) else {
            throw ValidationError("--list: no such file")
        }
        do { return try WitnessedLogs(decoding: Array(text)).entries } catch {
            throw Diagnostics.exit(StoredWitnessError.logs(error))
        }
    }
}
