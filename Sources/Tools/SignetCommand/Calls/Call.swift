// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `signet call`
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Group calls.",
        subcommands: [Start.self, Ring.self, Wait.self, Join.self, Leave.self, Simulate.self])
}
