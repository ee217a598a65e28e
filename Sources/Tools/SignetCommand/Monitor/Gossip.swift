// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import Signet
import SignetAPI
import TransparencyLog

/// `signet gossip`
struct Gossip: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gossip", abstract: "Compare what the directory shows you with what it shows someone else.",
        discussion: "Example: signet gossip show",
        subcommands: [Show.self, Check.self])

    /// `signet gossip show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Print your newest checkpoint of the log, as a card to hand to someone.",
            discussion: """
                With qrencode the card becomes a code for a camera.

                Example: signet gossip show | qrencode -t ansiutf8
                """)

        @OptionGroup var other: DirectoryOptions
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home, directory: other.directory)
            let card = try await session.ask { home throws(SignetError) in
                try await home.run { client throws(ClientError) in try await client.card() }
            }
            guard let card else { throw Gossip.noCheckpoint }
            let text = String(decoding: card.encoded, as: UTF8.self)
            guard output.json else { return Output.exact(String(text.dropLast())) }
            output.emit(["card": .string(text), "size": .number(card.checkpoint.head.size)], "")
        }
    }

    /// `signet gossip check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Compare someone's card with what you have seen yourself.",
            discussion: """
                Exit status 0 only if both of you saw the same log. A fork is kept as evidence, which 'signet evidence \
                verify' checks without any server.

                Example: signet gossip check bob.checkpoint
                """)

        @Argument(help: "The card: a file, or - for standard input.") var card: String
        @OptionGroup var other: DirectoryOptions
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home, directory: other.directory)
            let path = card == "-" ? "/dev/stdin" : card
            let bytes = try InputFile.read(path, maximumByteCount: CheckpointCard.maximumByteCount)
            let theirs: CheckpointCard
            do { theirs = try CheckpointCard(decoding: bytes, policy: session.profile.trust.policy) } catch {
                throw CommandFailure(.notProven, error.sentence)
            }
            let check = try await session.ask { home throws(SignetError) in try await home.compare(theirs) }
            guard let check else { throw Gossip.noCheckpoint }
            try show(check, theirs, session)
        }

        private func show(_ check: CardCheck, _ theirs: CheckpointCard, _ session: Session) throws {
            switch check {
            case .oneHistory(let theirs, let mine):
                output.emit(
                    ["mine": .number(mine), "oneLog": true, "theirs": .number(theirs)],
                    "\(Paint.output.good("✓ one log")): theirs had \(Moment.entries(theirs)), yours \(Moment.entries(mine))"
                )
            case .fork(let fork):
                let path = try keep(fork, theirs, in: session.home)
                if output.json { Output.json(["evidence": .string(path), "oneLog": false]) }
                throw CommandFailure(
                    .notProven, "The directory shows the two of you different logs, and signed both.",
                    "The proof is in \(path). Do not use this directory, and show the proof to others.")
            case .noProof:
                throw CommandFailure(
                    .notProven, "The directory does not prove that the two of you saw the same log.",
                    "Try again in a moment. If that does not help, do not use this directory.")
            case .otherLog:
                throw CommandFailure(.notProven, "The card belongs to another log.", "Ask for one of this directory.")
            }
        }

        private func keep(_ fork: ForkEvidence, _ theirs: CheckpointCard, in home: HomeFolder) throws -> String {
            let root = Hex.encode(Array(theirs.checkpoint.head.root.bytes.prefix(4)))
            let name = "fork-\(theirs.checkpoint.head.size)-" + String(decoding: root, as: UTF8.self) + ".evidence"
            let file = DurableFile(path: home.path + "/" + name)
            do { try file.replace(with: Evidence.fork(fork).encoded) } catch {
                throw CommandFailure(error, path: file.path)
            }
            return file.path
        }
    }

    private static var noCheckpoint: CommandFailure {
        CommandFailure(
            .usage, "This device has not looked at the log yet.", "Look someone up, or run 'signet log tail'.")
    }
}
