// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The command that a command line names, and the words behind its name.
package struct CommandPath {
    /// From the program's name on.
    package private(set) var names: [String]
    package private(set) var command: any ParsableCommand.Type
    package private(set) var rest: ArraySlice<String>
    let root: any ParsableCommand.Type

    /// Options before the last name are passed over.
    package init(_ arguments: [String], under root: any ParsableCommand.Type) {
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
    package var options: [String] {
        let taker = command.configuration.defaultSubcommand ?? command
        let lines = root.helpMessage(for: taker, includeHidden: true, columns: 1000).split(separator: "\n")
        let listed = lines.filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")) }
        }
        return listed.filter { $0.hasPrefix("--") }.map(String.init) + ["--help", "--version"]
    }

    /// The names of the commands behind its own, and whether one of them is meant when none is named and takes words itself.
    var subcommands: (names: [String], isOneTakingWords: Bool) {
        let taker = command.configuration.defaultSubcommand
        let page = taker.map { root.helpMessage(for: $0, includeHidden: true, columns: 1000) } ?? ""
        return (command.configuration.subcommands.map { $0.name }, page.contains("\nARGUMENTS:"))
    }

    /// As a person types it.
    package var text: String { names.joined(separator: " ") }
    /// Whether other commands come behind its name.
    package var isGroup: Bool { !command.configuration.subcommands.isEmpty }
}

extension ParsableCommand {
    static var name: String { configuration.commandName ?? String(describing: self).lowercased() }

    static func isCalled(_ word: String) -> Bool { name == word || configuration.aliases.contains(word) }
}
