import ArgumentParser
import SignetClient

/// What starting and joining a call have in common.
struct CallOptions: ParsableArguments {
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

    @Option(
        help: ArgumentHelp(
            "For tests and demonstrations only: send frames in the name of this person, by way of a relay that helps.",
            valueName: "handle", visibility: .hidden))
    var forgeForTests: String?

    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions
}

/// With whom a call is.
struct CallPeopleOptions: ParsableArguments {
    @Option(
        name: .customLong("with"),
        help: ArgumentHelp(
            "Somebody in the call; may be repeated. Everybody else is kept out, and nothing is sent while one is in.",
            valueName: "handle"))
    var people: [String]

    func validate() throws {
        guard !people.isEmpty else { throw ValidationError("Say with whom: --with HANDLE.") }
    }
}
