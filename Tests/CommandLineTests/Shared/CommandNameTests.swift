// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import SignetCommand

/// The parser makes a name out of the type of a command that states none. For that it looks through every protocol conformance of
/// the program, once for each such command and at every start: it was half of what `signet --version` took.
struct CommandNameTests {
    @Test func everyCommandStatesItsName() {
        var commands: [any ParsableCommand.Type] = [Signet.self]
        var count = 0
        while let command = commands.popLast() {
            #expect(command.configuration.commandName != nil, "\(command)")
            commands += command.configuration.subcommands
            count += 1
        }
        #expect(count > 100)
    }
}
