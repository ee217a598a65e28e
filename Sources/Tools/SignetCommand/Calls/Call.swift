// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `signet call`
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Group calls.",
        discussion: "Example: signet call ring bob@example.org",
        subcommands: [Start.self, Ring.self, Wait.self, Join.self, Leave.self, Simulate.self])
}
