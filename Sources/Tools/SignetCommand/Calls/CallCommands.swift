// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CallSignalling
import KeyTransparency
import Signet
import SignetCalls

extension Call {
    /// `signet call start`
    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start", abstract: "Start a call, without ringing anyone.",
            discussion: """
                First looks everyone up, verifies their keys, and compares them with those that were accepted: if \
                someone's keys have changed, it asks at a terminal; without one there is no call. Prints the name of \
                the call, by which the others join, and a line for each of them every second. Ends at 'signet call \
                leave', or an interrupt. The host of the call types 'remove HANDLE' to remove someone for good, and \
                'readmit HANDLE' to let them ask again.

                Example: signet call start --with bob@example.org --with carol@example.org
                """)

        @OptionGroup var people: CallPeopleOptions
        @OptionGroup var options: CallOptions

        func run() async throws { try await RunningCall(options).run(.start, with: people.people.map(Handle.typed)) }
    }

    /// `signet call ring`
    struct Ring: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ring", abstract: "Start a call, and ring every device of these people.",
            discussion: """
                First checks everyone's keys, as 'signet call start' does: no one is rung before that. Devices that \
                run 'signet call wait' ring, including those that start it while the call rings; later ones learn of a \
                missed call. The first of a person's devices to answer decides, and their others stop. Exit status 1 \
                if no one joins.

                Example: signet call ring bob@example.org
                """)

        @Argument(help: "Whom to ring. Everyone else is kept out.") var people: [String]
        @Option(help: ArgumentHelp("How long to ring, 5 to 120.", valueName: "seconds")) var ringTime: UInt16 = 45
        @OptionGroup var options: CallOptions

        func validate() throws {
            guard CallSignalling.Ring.seconds.contains(ringTime) else {
                throw ValidationError("--ring-time must be from 5 to 120.")
            }
        }

        func run() async throws {
            try await RunningCall(options).run(.ring(ringTime), with: people.map(Handle.typed))
        }
    }

    /// `signet call join`
    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "join", abstract: "Join a call.",
            discussion: """
                First checks everyone's keys, as 'signet call start' does.

                Example: signet call join 0123456789abcdef0123456789abcdef --with bob@example.org
                """)

        @Argument(help: "The name of the call, 32 hexadecimal digits.")
        var call: String
        @OptionGroup var people: CallPeopleOptions
        @OptionGroup var options: CallOptions

        func run() async throws {
            let entry = RunningCall.Entry.join(try CallName.typed(call))
            try await RunningCall(options).run(entry, with: people.people.map(Handle.typed))
        }
    }

    /// `signet call leave`
    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "leave", abstract: "Leave the call that is running in this account's home folder.",
            discussion: "Example: signet call leave")

        @OptionGroup var home: ClosedHomeOptions

        func run() async throws {
            let mark = CallMark.running(in: home.folder)
            guard mark.interrupt() else {
                guard !mark.isHeld else {
                    throw CommandFailure(
                        .usage, "The call runs in the pages of 'signet ui'.", "Leave it there: open its page 'Calls'.")
                }
                throw CommandFailure(
                    .usage, "No call is running in \(home.folder.path).", "Start one with 'signet call start'.")
            }
        }
    }
}
