// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import Signet
import SignetAPI
import TransparencyLog

/// `signet log`
struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "The directory's public log.",
        discussion: "Example: signet log verify", subcommands: [Show.self, Verify.self, Tail.self])
}

extension Log {
    /// `signet log show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the newest state of the log that this device has verified.",
            discussion: "Example: signet log show")

        @OptionGroup var other: DirectoryOptions
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home, directory: other.directory)
            guard
                let view = try await session.ask(
                    isWatching: false,
                    { home throws(SignetError) in
                        try await home.run { client throws(ClientError) in try await client.logView() }
                    })
            else {
                return output.emit(["size": 0], "This device has not looked at the log yet.")
            }
            output.emit(
                [
                    "note": .key(String(decoding: view.note, as: UTF8.self)), "origin": .text(view.origin.bytes),
                    "root": .base64(view.head.root.bytes), "size": .number(view.head.size),
                ],
                """
                \(Paint.output.strong(PrintedValue.printable(view.origin.bytes)))
                  \(Moment.entries(view.head.size))
                """ + (output.advanced ? "\n  root \(PrintedValue.printable(Base64.encode(view.head.root.bytes)))" : "")
            )
        }
    }

    /// `signet log verify`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Download the whole log and recompute everything in it.",
            discussion: "Example: signet log verify")

        @OptionGroup var other: DirectoryOptions
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home, directory: other.directory)
            let replay = try await session.ask { home throws(SignetError) in
                try await home.run { client throws(ClientError) in
                    try await client.verifyLog { Output.progress("read \($0) of \($1) entries") }
                }
            }
            Output.progress(nil)
            let head = replay.checkpoint.checkpoint.head
            output.emit(
                [
                    "age": .number(replay.age), "devices": .number(replay.counts.devices),
                    "epochs": .number(replay.counts.epochs), "keys": .number(replay.counts.keys),
                    "others": .number(replay.counts.others), "root": .base64(head.root.bytes),
                    "size": .number(head.size), "states": .number(replay.counts.states),
                ],
                """
                \(Paint.output.good("✓")) All \(head.size) entries match what the directory signed, and every hash in \
                the log is right.
                  \(Moment.count(replay.counts.devices, "device key")), \(Moment.count(replay.counts.states, "account version")), \
                \(Moment.count(replay.counts.epochs, "epoch")), \(replay.counts.others) of other kinds; signed \(Moment.span(replay.age)) ago
                """)
        }
    }

    /// `signet log tail`
    struct Tail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tail", abstract: "Show the newest entries, each proven to be in the log.",
            discussion: "Example: signet log tail -n 3")

        @Option(name: [.customShort("n"), .customShort("c"), .long], help: "How many.") var count: UInt64 = 10
        @Flag(name: .shortAndLong, help: "Keep waiting for more, until Ctrl-C.") var follow = false
        @OptionGroup var other: DirectoryOptions
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...10_000).contains(count) else { throw ValidationError("--count goes from 1 to 10000.") }
        }

        func run() async throws {
            let session = try Session(home, directory: other.directory)
            var start: UInt64 = 0
            repeat {
                let (first, limit) = (start, start == 0 ? count : 10_000)
                let (entries, size) = try await session.ask { home throws(SignetError) in
                    try await home.run { client throws(ClientError) in try await client.logTail(limit, from: first) }
                }
                for entry in entries { output.emit(Self.json(entry), Self.text(entry)) }
                start = size
                if follow { try await Task.sleep(for: .seconds(2)) }
            } while follow && !Output.isUnread
        }

        private static func json(_ entry: LoggedEntry) -> PrintedValue {
            ["entry": .base64(entry.bytes), "index": .number(entry.index), "kind": .string(kind(entry).name)]
        }

        private static func text(_ entry: LoggedEntry) -> String { "  \(entry.index)  \(kind(entry).words)" }

        private static func kind(_ entry: LoggedEntry) -> (name: String, words: String) {
            switch try? LogEntry(decoding: entry.bytes) {
            case .device: ("device", "a device key")
            case .state(let record): ("state", "version \(record.version) of an account")
            case .epoch(let record): ("epoch", "the end of epoch \(record.number)")
            case .succession(let record): ("succession", "change \(record.number) of the directory's keys")
            case .predecessor: ("predecessor", "where the log before this one ended")
            case nil: ("other", "\(entry.bytes.count) bytes of another kind")
            }
        }
    }
}
