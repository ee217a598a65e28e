// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Signet
import SignetAPI
import TransparencyLog

/// `signet directory`
struct DirectoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "directory", abstract: "Show and follow the directory's own keys.",
        discussion: "Example: signet directory update",
        subcommands: [DirectoryUpdate.self])
}

/// `signet directory update`
struct DirectoryUpdate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Follow the directory's changes of its own keys.",
        discussion: """
            Each change must be in the log, cosigned by the quorum that was trusted before it. Changes after which fewer \
            or other witnesses suffice need --accept. Exit status 2 if it is needed.

            Examples:
              signet directory update
              signet directory update --accept
            """)

    @Flag(help: "Accept other or fewer witnesses.") var accept = false
    @OptionGroup var home: ClosedHomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let session = try Session(home)
        // The own account is looked at under the keys that are trusted in the end, not under those before.
        let found = try await session.read { home throws(SignetError) in try await home.directoryKeyChange() }
        guard let change = found else {
            OwnAccountWatch.arm(session)
            return try finish([], needsWord: false, policy: session.profile.trust.policy)
        }
        let needsWord = change.needsApproval && !accept
        if !needsWord {
            let home = try await session.read { home throws(SignetError) in
                try await home.follow(change, isApproved: accept)
            }
            OwnAccountWatch.arm(session.moved(to: home))
        }
        if change.holdsEvidence {
            Output.error("You hold evidence against the previous log: 'signet evidence list'.")
        }
        try finish(change.succession.changes, needsWord: needsWord, policy: change.succession.trust.policy)
    }

    private func finish(_ changes: [SuccessionRecord], needsWord: Bool, policy: Policy) throws {
        let text = String(decoding: policy.encoded, as: UTF8.self)
        output.emit(
            .object([
                "changes": .number(UInt64(changes.count)), "needsDecision": .bool(needsWord), "policy": .key(text),
            ]),
            changes.isEmpty
                ? "The directory's keys are the ones you trust."
                : "\(Moment.count(UInt64(changes.count), "change")) of the directory's keys; from now on:\n\(output.advanced ? text : PolicyPage(policy).text)"
        )
        guard needsWord else { return }
        throw CommandFailure(
            .needsDecision,
            "From now on other or fewer witnesses would suffice, or you hold evidence, so this needs your decision.",
            "Ask the directory's operator over another channel; then add --accept.")
    }
}
