// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SignetServer
import TransparencyLog

/// `signetd witness`
struct WitnessCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "witness",
        abstract: "Be a witness: cosign what other people's logs publish, as long as each only grows.",
        discussion: """
            A C2SP tlog-witness for any log that signs with Ed25519 or ML-DSA-44. It cosigns with both. Start with `signetd witness init`, name the logs \
            with `signetd witness add-log`, then `signetd witness run`.

            Its database, witness.sqlite, records what it cosigned last. Never start it with an older copy: it would \
            vouch for a second history. If the newest copy is lost, its key is lost too: make a new witness.
            """,
        subcommands: [InitializeWitness.self, AddLog.self, AddWitnessKey.self, RunWitness.self, ShowWitness.self])
}

/// `signetd witness show`
struct ShowWitness: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the witness's lines for a policy file, and the logs that it serves.")

    @OptionGroup var data: DataOption

    func run() throws {
        do {
            let stored = try StoredWitness(WitnessDirectory(path: data.data))
            print(WitnessLine.text(stored))
            for entry in stored.logs.entries {
                let rate = entry.requestsPerDay.map { ", at most \($0) a day" } ?? ""
                print("serves \(String(decoding: entry.origin, as: UTF8.self))\(rate)")
            }
        } catch { throw Diagnostics.exit(error) }
    }
}

/// `signetd witness add-key`
struct AddWitnessKey: ParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-key",
        abstract: "Make the post-quantum key of a witness that was made without one.",
        discussion: """
            A running witness cosigns with it after its next start, besides its first key and with the same database. \
            Prints the line for policy files.
            """)

    @OptionGroup var data: DataOption

    func run() throws {
        do {
            guard let key = try StoredWitness.addPostQuantumKey(to: WitnessDirectory(path: data.data)) else {
                throw ValidationError("this build of signetd has no ML-DSA-44")
            }
            print(WitnessLine.text(key))
        } catch let error as ValidationError { throw error } catch { throw Diagnostics.exit(error) }
    }
}

/// A witness as lines of a policy file, one for each key.
enum WitnessLine {
    static func text(_ stored: StoredWitness, url: String? = nil) -> String {
        [stored.verifierKey, stored.postQuantumKey].compactMap(\.self).map { text($0, url: url) }
            .joined(separator: "\n")
    }

    static func text(_ key: VerifierKey, url: String? = nil) -> String {
        // Two witnesses of one name would make the file malformed; a policy takes one or the other, or both.
        let name = String(decoding: key.name.bytes, as: UTF8.self) + (key.algorithm == .mlDSA44 ? "/ml-dsa-44" : "")
        let words =
            ["witness", name]
            + [String(decoding: key.encoded, as: UTF8.self)] + [url].compactMap(\.self)
        return words.joined(separator: " ")
    }
}
