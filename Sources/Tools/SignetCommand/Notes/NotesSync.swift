// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Signet

extension Notes {
    /// `signet notes sync`
    struct Sync: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sync", abstract: "Send what is waiting, and fetch and verify what is new.",
            discussion: """
                Of changes that are not accepted, this device keeps 8 MiB per note and 64 MiB in all, and names the \
                notes of which it dropped more. Once they can be accepted, because you accepted someone's devices, \
                --from-start fetches them.

                Examples:
                  signet notes sync
                  signet notes sync --follow
                """)

        @Flag(help: "Keep running, and fetch what is new as soon as it arrives.") var follow = false
        @Flag(help: "Fetch again everything that the server has, including what this device had dropped.")
        var fromStart = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            var isFromStart = fromStart
            repeat {
                let report = try await notes.run { [isFromStart] book throws(NotesError) in
                    try await book.sync(fromStart: isFromStart)
                }
                isFromStart = false
                try await say(report, notes)
                if follow { try await notes.waitForNews() }
            } while follow && !Output.isUnread
        }

        private func say(_ report: SyncReport, _ notes: NotesSession) async throws {
            var news: [NoteFacts] = []
            for note in report.received.union(report.copies).sorted() {
                if let facts = try? await notes.book.facts(note) { news.append(facts) }
            }
            output.emit(
                [
                    "copies": .array(report.copies.sorted().map { .string($0.hexadecimal) }),
                    "dropped": .array(report.dropped.sorted().map { .string($0.hexadecimal) }),
                    "received": .array(news.map(\.json)), "sent": .number(UInt64(report.sentCount)),
                    "waiting": .number(UInt64(report.refused.count)),
                ],
                ([
                    "\(Paint.output.good("✓")) \(report.sentCount) sent, \(Moment.count(UInt64(report.received.count), "note")) with news"
                ] + (news.isEmpty ? [] : [NotesPage.list(news)])).joined(separator: "\n"))
            _ = try NotesPage.finish(report)
            if let doubt = report.doubts.min(by: { $0.key < $1.key })?.value, !follow {
                throw CommandFailure(NotesError.doubted(doubt), session: notes.session)
            }
        }
    }
}
