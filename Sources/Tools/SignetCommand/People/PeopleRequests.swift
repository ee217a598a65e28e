// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Signet
import SignetAPI

extension People {
    /// `signet people requests`
    struct Requests: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "requests", abstract: "Show who is asking to be your friend.",
            discussion: """
                Anyone can ask; nothing of theirs is pinned or looked at before you accept. At most a thousand \
                requests wait: after that, the oldest request from the network that sent the most is dropped.

                Example: signet people requests
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let secrets = try session.secrets()
            let waiting = try await session.with(secrets) { try await $0.requests() }.map(\.description)
            let lines = waiting.map {
                "  \(Paint.output.strong($0))  signet people accept \($0), or signet people block \($0)"
            }
            output.emit(
                ["requests": .array(waiting.map { .string($0) })],
                waiting.isEmpty ? "No one is asking." : lines.joined(separator: "\n"))
        }
    }

    /// `signet people block`
    struct Block: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "block", abstract: "Dismiss someone's request for good, or withdraw your acceptance of them.",
            discussion: """
                They are not told, and asking again changes nothing. From then on they can share no more notes with \
                you, nor send you parts to guard; what they shared before stays: 'signet notes leave' ends that. You \
                can accept or ask them later.

                Example: signet people block mallory@example.org
                """)

        @Argument(help: "Their handle.") var handle: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let session = try Session(home)
            let secrets = try session.secrets()
            let isBlocked = try await session.with(secrets) { try await $0.block(handle) }
            guard isBlocked else {
                throw CommandFailure(
                    .usage, "No request from \(handle) is waiting, and you have not accepted each other.",
                    "'signet people requests' shows who is asking.")
            }
            output.emit(
                ["blocked": .string(handle.description)],
                "\(Paint.output.good("✓")) \(handle) can no longer ask you, and is not told.")
        }
    }
}
