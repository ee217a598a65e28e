import ArgumentParser
import SignetServer
import TransparencyLog

/// `signetd witness`
struct WitnessCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "witness",
        abstract: "Be a witness: cosign what other people's logs publish, as long as each only grows.",
        discussion: """
            A C2SP tlog-witness for any log that signs with Ed25519. Start with `signetd witness init`, name the logs \
            with `signetd witness add-log`, then `signetd witness run`.

            Its memory, witness.sqlite, says what it cosigned last. Never start it with an older copy: it would \
            vouch for a second history. If the newest copy is lost, its key is lost too: make a new witness.
            """,
        subcommands: [InitializeWitness.self, AddLog.self, RunWitness.self, ShowWitness.self])
}

/// `signetd witness show`
struct ShowWitness: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the witness's line for a policy file, and the logs that it serves.")

    @OptionGroup var data: DataOption

    func run() throws {
        do {
            let stored = try StoredWitness(WitnessDirectory(path: data.data))
            print(WitnessLine.text(stored.verifierKey))
            for entry in stored.logs.entries {
                let rate = entry.requestsPerDay.map { ", at most \($0) a day" } ?? ""
                print("serves \(String(decoding: entry.origin, as: UTF8.self))\(rate)")
            }
        } catch { throw Diagnostics.exit(error) }
    }
}

/// A witness as a line of a policy file.
enum WitnessLine {
    static func text(_ key: VerifierKey, url: String? = nil) -> String {
        let words =
            ["witness", String(decoding: key.name.bytes, as: UTF8.self)]
            + [String(decoding: key.encoded, as: UTF8.self)] + [url].compactMap(\.self)
        return words.joined(separator: " ")
    }
}
