import ArgumentParser
import SignetClient

/// What starting and joining a call have in common.
struct CallOptions: ParsableArguments {
    @Option(
        name: .customLong("with"),
        help: ArgumentHelp(
            "Somebody in the call; may be repeated. Everybody else is kept out, and nothing is sent while one is in.",
            valueName: "handle"))
    var people: [String]

    @Option(
        help: ArgumentHelp(
            "Where the sound comes from: a file, over and over, - for standard input, or tone, which hums.",
            valueName: "file"))
    var source = "tone"

    @Option(
        help: ArgumentHelp("Keep what is heard, a file for each person's device in this folder.", valueName: "folder"))
    var record: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("Leave after so long; 0 for never.", valueName: "seconds"))
    var duration: UInt32 = 0

    @Option(
        help: ArgumentHelp(
            "While this device is the host, make fresh keys so often; 0 for every five minutes.", valueName: "seconds"))
    var rotate: UInt32 = 0

    @Flag(
        help: ArgumentHelp(
            "For tests and demonstrations only: lose every second fresh key, and ask for it.", visibility: .hidden))
    var missKeysForTests = false

    @Option(
        help: ArgumentHelp(
            "For tests and demonstrations only: at SIGUSR1, lose all signals and frames for so long.",
            valueName: "seconds", visibility: .hidden))
    var outageForTests: UInt32 = 0

    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !people.isEmpty else { throw ValidationError("Say with whom: --with HANDLE.") }
    }
}

extension Call {
    /// `signet call start`
    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start a call.",
            discussion: """
                Looks everybody up first, verifies their keys, and compares them with those that were accepted: if \
                somebody's have changed, there is no call. Prints the name of the call, by which the others join, and a \
                line for each of them every second. Ends at 'signet call leave', or an interrupt. Who hosts the call types \
                'remove HANDLE' to put somebody out for good, and 'readmit HANDLE' to let them ask again.
                """)

        @OptionGroup var options: CallOptions

        func run() async throws { try await RunningCall(options).run(joining: nil) }
    }

    /// `signet call join`
    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Join a call.", discussion: "Checks everybody's keys first, as 'signet call start' does.")

        @Argument(help: "The name of the call, 32 hexadecimal digits.")
        var call: String

        @OptionGroup var options: CallOptions

        func run() async throws { try await RunningCall(options).run(joining: try CallName.typed(call)) }
    }

    /// `signet call leave`
    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Leave the call that runs on this account's home folder.")

        @OptionGroup var home: HomeOptions

        func run() async throws {
            guard CallMark(home.folder).interrupt() else {
                throw CommandFailure(
                    .usage, "No call is running in \(home.folder.path).", "Start one with 'signet call start'.")
            }
        }
    }
}
