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

                With --follow it does not end while the server cannot be reached, is unavailable or refuses more \
                requests for now: it says so, waits as long as the server asks, or longer after each failure up to a \
                minute, and goes on. Any other failure ends it.

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
            var pause = FollowPause()
            repeat {
                do {
                    let report = try await notes.run { [isFromStart] book throws(NotesError) in
                        try await book.sync(fromStart: isFromStart)
                    }
                    isFromStart = false
                    try await say(report, notes)
                    if follow { try await notes.waitForNews() }
                    pause = FollowPause()
                } catch let failure as CommandFailure where follow && failure.status == .environment {
                    let seconds = pause.next(askedFor: failure.retryAfter)
                    Output.error("\(Paint.error.warning("signet:")) \(failure.sentence.what)")
                    Output.error("        Trying again in \(Moment.span(seconds)).")
                    try await Task.sleep(for: .seconds(Int(seconds)))
                }
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

/// How long `--follow` waits after a failure that may pass.
struct FollowPause {
    /// No pause is longer, in seconds, unless the server asks for it.
    static let longest: UInt64 = 60
    /// The longest that a server may ask for, in seconds.
    static let longestAskedFor: UInt64 = 3600

    private var seconds: UInt64 = 1

    /// The next pause, in seconds. Each is twice the one before, up to ``longest``, and none is shorter than the server asks.
    mutating func next(askedFor: UInt64?) -> UInt64 {
        defer { seconds = min(seconds * 2, Self.longest) }
        return max(seconds, min(askedFor ?? 0, Self.longestAskedFor))
    }
}
