// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import SignetCommand

/// The help of every command has an example that can be copied, and the first page groups the commands by their use.
struct HelpTests {
    /// Every command that is listed, with the words that call it.
    private static let commands: [(path: [String], type: any ParsableCommand.Type)] = {
        var found: [(path: [String], type: any ParsableCommand.Type)] = []
        var waiting: [(path: [String], type: any ParsableCommand.Type)] = [(["signet"], Signet.self)]
        while let next = waiting.popLast() {
            found.append(next)
            for child in next.type.configuration.subcommands where child.configuration.shouldDisplay {
                waiting.append((next.path + [child.configuration.commandName ?? "?"], child))
            }
        }
        return found
    }()

    /// The lines after `Example:` or `Examples:` on a help page.
    private static func examples(_ page: String) -> [String] {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("Example: ") || $0 == "Examples:" }) else { return [] }
        if lines[start] != "Examples:" { return [String(lines[start].dropFirst("Example: ".count))] }
        return lines[(start + 1)...].prefix { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
    }

    /// The words of a command as a shell splits them, after the pipe if there is one before it.
    private static func words(_ line: String) -> [String] {
        var (words, word, isQuoted): ([String], String, Bool) = ([], "", false)
        for character in line + " " {
            switch character {
            case "\"": isQuoted.toggle()
            case " " where !isQuoted:
                if !word.isEmpty { words.append(word) }
                word = ""
            default: word.append(character)
            }
        }
        let start = words.firstIndex(of: "signet") ?? words.startIndex
        return Array(words[start...].prefix { $0 != "|" })
    }

    @Test func everyCommandHasAnExampleOfItself_whichTheParserAccepts() throws {
        #expect(Self.commands.count > 100)
        for (path, type) in Self.commands {
            let examples = Self.examples(Signet.helpMessage(for: type, columns: 500))
            #expect(!examples.isEmpty, "\(path.joined(separator: " ")) has no example")
            for example in examples {
                let words = Self.words(example)
                #expect(words.starts(with: path), "\(path): \(example)")
                #expect(throws: Never.self, "\(example)") { try Signet.parseAsRoot(Array(words.dropFirst())) }
            }
        }
    }

    @Test func theFirstPageGroupsTheCommandsByTheirUse() {
        let groups = Signet.configuration.groupedSubcommands
        #expect(Signet.configuration.ungroupedSubcommands.isEmpty)
        #expect(
            groups.map(\.name) == [
                "Start", "People", "Notes", "Calls", "Recovery", "Sites and cards", "Check the directory", "Experts",
            ])
        let page = Signet.helpMessage(columns: 100)
        #expect(groups.allSatisfy { page.contains("\n\($0.name.uppercased()) SUBCOMMANDS:\n") }, "\(page)")
    }
}
