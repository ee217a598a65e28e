// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Signet

/// What starting and joining a call have in common.
struct CallOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the sound comes from: a WAV file of 48,000 samples per second, repeated; - for standard "
                + "input, 16-bit samples, 48,000 per second, one channel; or tone, which hums.",
            valueName: "file"))
    var source = "tone"

    @Option(
        help: ArgumentHelp(
            "Record what is heard: a WAV file for each person's device, in this folder.", valueName: "folder"))
    var record: String?

    @Option(
        help: ArgumentHelp(
            "Play everyone, mixed: - for standard output, as samples like those of --source -. Messages then go "
                + "to standard error.",
            valueName: "-"))
    var play: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("Leave after this time; 0 for never.", valueName: "seconds"))
    var duration: UInt32 = 0

    @Option(
        help: ArgumentHelp(
            "While this device is the host, make fresh keys at this interval; 0 for every five minutes.",
            valueName: "seconds"))
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

    func validate() throws {
        guard play == nil || play == "-" else { throw ValidationError("--play only takes -, for standard output.") }
    }

    /// Standard output for sound, if it is asked for.
    ///
    /// - Throws: `CommandFailure`: it is a terminal.
    func takeOutlet() throws -> SoundOutlet? {
        guard play != nil else { return nil }
        guard let outlet = SoundOutlet.standard else {
            throw CommandFailure(
                .usage, "A terminal does not play sound.", "Add '| aplay -f S16_LE -r 48000 -c 1' to the command.")
        }
        return outlet
    }
}

/// With whom a call is.
struct CallPeopleOptions: ParsableArguments {
    @Option(
        name: .customLong("with"),
        help: ArgumentHelp(
            "A person in the call; may be repeated. Everyone else is kept out, and nothing is sent while anyone "
                + "else is in it.",
            valueName: "handle"))
    var people: [String]

    func validate() throws {
        guard !people.isEmpty else { throw ValidationError("Name the people in the call: --with HANDLE.") }
    }
}
