// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Keys, identifiers and long numbers, which no command prints outside of `advanced`. All output of `signet`
/// in any test is checked here.
enum ShownKeys {
    private static var forbidden: [Regex<Substring>] {
        [/(?i)\bdid:/, /z[1-9A-HJ-NP-Za-km-z]{40,}/, /[0-9a-fA-F]{40,}/, /[A-Za-z0-9+\/_=-]{40,}/]
    }

    /// Output that is meant to be carried elsewhere, and is the whole answer of its command: the person's recovery key
    /// and login key, the line that begins a recovery, for paper, a card with a signed log, the public key of an
    /// auditor, the pins of a server.
    static let exceptions = [
        ["notes", "recovery"], ["notes", "password", "--new-login-key"], ["guardians", "paper"], ["gossip", "show"],
        ["audit", "key"], ["pins"],
    ]

    /// Whether a command is advanced: `signet advanced …`, and any command with `--advanced` or `--explain`.
    static func isAdvanced(_ arguments: [String]) -> Bool {
        words(arguments).first == "advanced" || !Set(arguments).isDisjoint(with: ["--advanced", "--explain"])
    }

    static func expectNone(_ exit: Exit, of arguments: [String], in folder: URL) {
        #expect(!(exit.output + exit.errors).contains(Program.passphrase), "the passphrase is never printed")
        let words = words(arguments)
        guard !isAdvanced(arguments), !exceptions.contains(where: { words.starts(with: $0) }) else { return }
        let found = find(in: exit.output + "\n" + exit.errors, typed: arguments, in: folder)
        #expect(found.isEmpty, "signet \(arguments.joined(separator: " ").prefix(300)) says \(found.prefix(3))")
    }

    /// The texts that look like a key, except those that the person typed and the paths of their files.
    static func find(in text: String, typed: [String] = [], in folder: URL? = nil) -> [String] {
        var text = text
        for own in [folder?.path()].compactMap(\.self) + typed.filter({ $0.count >= 40 }) {
            text = text.replacingOccurrences(of: own, with: " ")
        }
        return forbidden.flatMap { text.matches(of: $0).map { String($0.output.prefix(200)) } }
    }

    /// The command's words, without the options before them.
    private static func words(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        while let option = rest.first, option.hasPrefix("--") { rest = rest.dropFirst(option.contains("=") ? 1 : 2) }
        return Array(rest)
    }
}
