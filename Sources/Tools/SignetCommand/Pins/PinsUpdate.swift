// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyPinning
import Signet
import SignetAPI

extension Pins {
    /// `signet pins update`
    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update", abstract: "Ask which TLS keys the directory's server uses from now on.",
            discussion: """
                Every command that asks the directory does this once a day. Accepted pins are in the directory's log, \
                signed by the quorum, so that no one is shown pins that others are not, and are never older than those \
                accepted before.

                Example: signet pins update
                """)

        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            _ = try session.owner()
            output.emit(try await session.ask { home throws(SignetError) in try await home.updatePins() })
        }
    }

    /// `signet pins accept`
    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Take new pins from a file when the server cannot be reached with those in use.",
            discussion: """
                The file comes from the directory's operator and is newer than the pins in use, or another one of the same version: the directory file, if this device has \
                missed two changes of the server's TLS key; or pins that are signed by the recovery key that the directory named \
                before, if the server has lost its keys. Then the server is asked for its log, using those pins alone, and the log must \
                contain them too. Nothing changes before that.

                If the directory has changed its keys too, and other or fewer witnesses suffice from now on, --accept-witnesses accepts pins \
                that only these have seen: ask the operator first, and look at the change with 'signet directory update' afterwards.

                Example: signet pins accept directory.signet
                """)

        @Argument(help: ArgumentHelp("The file, from the directory's operator.", valueName: "file")) var file: String
        @Flag(
            help: "Accept pins that only those witnesses have seen that suffice after a change of the directory's keys."
        )
        var acceptWitnesses = false
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            _ = try session.owner()
            let bytes = try InputFile.read(file, maximumByteCount: DirectoryPins.maximumByteCount)
            let isApproved = acceptWitnesses
            output.emit(
                try await session.read { home throws(SignetError) in
                    try await home.accept(bytes, isApproved: isApproved)
                })
        }
    }
}

extension OutputOptions {
    fileprivate func emit(_ pins: DirectoryPins) {
        emit(
            .object([
                "pins": .array(pins.server.pins.map { .key($0.key.words) }), "time": .number(pins.time),
                "version": .number(pins.version),
            ]),
            "The directory's log shows version \(pins.version) of its server's pins to everyone: "
                + "\(Moment.count(UInt64(pins.server.pins.count), "key")), kept for the next connections.")
    }
}
