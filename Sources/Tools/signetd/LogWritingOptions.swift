// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SignetServer

/// What a command that writes the log while no server runs has to know as the server does.
struct LogWritingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Root certificates of witnesses, besides the system's, PEM.", valueName: "file"))
    var witnessRoots: String?

    @Option(
        help: ArgumentHelp(
            "The second memory, if the server runs with one: data that is older is refused, and what is signed now is remembered there.",
            valueName: "file"))
    var secondMemory: String?

    @Flag(
        help: ArgumentHelp(
            "Go on although this machine's clock is more than a week after what the log signed last, or minutes ahead of the witnesses': "
                + "it is right. The log goes by the time that a quorum of the witnesses names all the same."))
    var acceptClock = false

    @OptionGroup var disregarded: DisregardedWitnesses

    func roots() throws -> [UInt8] { try witnessRoots.map { try OptionFile.read($0, "--witness-roots") } ?? [] }

    func guarding(_ data: DataDirectory) throws -> RollbackGuard {
        var guarding = RollbackGuard()
        guarding.memory = secondMemory.map { NewestMemory(path: $0) }
        guarding.acceptsClock = acceptClock
        guarding.disregarded = try disregarded.names(in: data)
        return guarding
    }
}
