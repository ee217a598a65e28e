// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// Says which word of a command line is none of the program's, and what was probably meant.
package struct Typo {
    /// Both parts of what a person is told.
    package struct Finding: Hashable, Sendable {
        /// What is wrong.
        package let what: String
        /// What to do, and which word was probably meant.
        package let remedy: String
    }

    private let path: CommandPath
    private let globalOptions: [String]
    /// An option before the command that is none of those that may stand there.
    private let misplaced: String?

    /// - Parameters:
    ///   - arguments: the words behind the program's name.
    ///   - root: the program.
    ///   - globalOptions: those that may stand before the command.
    package init(_ arguments: [String], under root: any ParsableCommand.Type, globalOptions: [String] = []) {
        self.globalOptions = globalOptions
        path = CommandPath(arguments, under: root)
        let first = arguments.first.map { String($0.prefix { $0 != "=" }) } ?? ""
        misplaced = first.hasPrefix("--") && !CommandPath([], under: root).options.contains(first) ? first : nil
    }

    /// nil if all commands and options are known: the parser says what is wrong with them.
    package var finding: Finding? {
        if let misplaced {
            let known = globalOptions + ["--help", "--version"]
            let nearest = Self.nearest(to: misplaced, in: known).map { "Did you mean '\($0)'? " }
            return Finding(
                what: "Before the command, '\(path.root.name)' has no option '\(Self.printable(misplaced))'.",
                remedy: (nearest ?? "") + "Others stand behind the command.")
        }
        if path.isGroup, !path.subcommands.isOneTakingWords, let word = path.rest.first(where: { !$0.hasPrefix("-") }) {
            return unknown(word)
        }
        return unknownOption
    }

    private func unknown(_ word: String) -> Finding {
        let nearest = Self.nearest(to: word, in: path.subcommands.names)
        return Finding(
            what: "'\(path.text)' has no command '\(Self.printable(word))'.",
            remedy: (nearest.map { "Did you mean '\(path.text) \($0)'? " } ?? "")
                + "'\(path.text) --help' lists the commands.")
    }

    private var unknownOption: Finding? {
        let known = path.options
        let given = path.rest.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map {
            String($0.prefix { $0 != "=" })
        }
        guard let wrong = given.first(where: { !known.contains($0) }) else { return nil }
        let nearest = Self.nearest(to: String(wrong.dropFirst(2)), in: known.map { String($0.dropFirst(2)) })
        return Finding(
            what: "'\(path.text)' has no option '\(Self.printable(wrong))'.",
            remedy: (nearest.map { "Did you mean '--\($0)'? " } ?? "") + "'\(path.text) --help' lists the options.")
    }

    /// The word that a person who typed `word` probably meant, if one is near enough.
    static func nearest(to word: String, in words: [String]) -> String? {
        let distances = words.map { (word: $0, distance: distance(word, $0)) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return nearest.distance <= max(1, word.count / 3) ? nearest.word : nil
    }

    /// Text that cannot move the cursor or change colours.
    package static func printable(_ text: String) -> String {
        String(text.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" }.prefix(300))
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
