// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command that a command line names, and the words behind its name.
struct CommandPath {
    /// From the program's name on.
    private(set) var names: [String]
    private(set) var command: any ParsableCommand.Type
    private(set) var rest: ArraySlice<String>
    private let root: any ParsableCommand.Type

    /// Options before the last name are passed over.
    init(_ arguments: [String], under root: any ParsableCommand.Type) {
        (names, command, rest, self.root) = ([root.name], root, arguments[...], root)
        while let place = rest.firstIndex(where: { !$0.hasPrefix("-") }),
            let next = command.configuration.subcommands.first(where: { $0.isCalled(rest[place]) })
        {
            names.append(rest[place])
            (command, rest) = (next, rest[(place + 1)...])
        }
    }

    /// The long options that the command takes, or its default subcommand, as the help lists them; hidden ones too. The usage
    /// does not name them when there are many.
    var options: [String] {
        let taker = command.configuration.defaultSubcommand ?? command
        let lines = root.helpMessage(for: taker, includeHidden: true, columns: 1000).split(separator: "\n")
        let listed = lines.filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")) }
        }
        return listed.filter { $0.hasPrefix("--") }.map(String.init) + ["--help", "--version"]
    }

    /// As a person types it.
    var text: String { names.joined(separator: " ") }
    var isGroup: Bool { !command.configuration.subcommands.isEmpty }
}

/// Says which word of a command line is none of the program's, and what was probably meant.
struct Typo {
    private let path: CommandPath
    /// An option before the command that is none of those that may stand there.
    private let misplaced: String?

    init(_ arguments: [String], under root: any ParsableCommand.Type) {
        path = CommandPath(arguments, under: root)
        let first = arguments.first.map { String($0.prefix { $0 != "=" }) } ?? ""
        misplaced = first.hasPrefix("--") && !CommandPath([], under: root).options.contains(first) ? first : nil
    }

    /// nil if all commands and options are known: the parser says what is wrong with them.
    var failure: CommandFailure? {
        if let misplaced {
            let known = Signet.globalOptions + ["--help", "--version"]
            let nearest = Self.nearest(to: misplaced, in: known).map { "Did you mean '\($0)'? " }
            return CommandFailure(
                .usage, "Before the command, 'signet' has no option '\(PrintedValue.printable(misplaced))'.",
                (nearest ?? "") + "Others stand behind the command.")
        }
        if path.isGroup, path.command.configuration.defaultSubcommand == nil,
            let word = path.rest.first(where: { !$0.hasPrefix("-") })
        {
            return unknown(word)
        }
        return unknownOption
    }

    private func unknown(_ word: String) -> CommandFailure {
        let nearest = Self.nearest(to: word, in: path.command.configuration.subcommands.map { $0.name })
        return CommandFailure(
            .usage, "'\(path.text)' has no command '\(PrintedValue.printable(word))'.",
            (nearest.map { "Did you mean '\(path.text) \($0)'? " } ?? "") + "'\(path.text) --help' lists the commands.")
    }

    private var unknownOption: CommandFailure? {
        let known = path.options
        let given = path.rest.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map {
            String($0.prefix { $0 != "=" })
        }
        guard let wrong = given.first(where: { !known.contains($0) }) else { return nil }
        let nearest = Self.nearest(to: String(wrong.dropFirst(2)), in: known.map { String($0.dropFirst(2)) })
        return CommandFailure(
            .usage, "'\(path.text)' has no option '\(PrintedValue.printable(wrong))'.",
            (nearest.map { "Did you mean '--\($0)'? " } ?? "") + "'\(path.text) --help' lists the options.")
    }

    /// The word that a person who typed `word` probably meant, if one is near enough.
    static func nearest(to word: String, in words: [String]) -> String? {
        let distances = words.map { (word: $0, distance: distance(word, $0)) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return nearest.distance <= max(1, word.count / 3) ? nearest.word : nil
    }

    /// How many letters have to be added, left out, replaced or exchanged with their neighbour: the optimal string alignment distance.
    static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        var (before, last) = ([Int](), Array(0...other.count))
        for row in 1..<one.count + 1 {
            var current = [row]
            for column in 1..<other.count + 1 {
                let isSame = one[row - 1] == other[column - 1]
                var best = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
                    best = min(best, before[column - 2] + 1)
                }
                current.append(best)
            }
            (before, last) = (last, current)
        }
        return last[other.count]
    }
}

extension ParsableCommand {
    fileprivate static var name: String { configuration.commandName ?? String(describing: self).lowercased() }

    fileprivate static func isCalled(_ word: String) -> Bool { name == word || configuration.aliases.contains(word) }
}
