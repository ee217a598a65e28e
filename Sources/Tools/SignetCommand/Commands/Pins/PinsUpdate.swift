import ArgumentParser
import KeyPinning
import SignetAPI
import SignetClient

extension Pins {
    /// `signet pins update`
    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask by which TLS keys the directory's server is to be known from now on.",
            discussion: """
                Every command that asks the directory does this once a day. What is taken stands in the directory's log, signed by \
                the quorum, so that nobody is told something of their own, and is never older than what was taken before.
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            _ = try session.owner()
            let pins = try await session.run { (client) throws(ClientError) in
                let pins = try await client.newestPins()
                try session.keep(pins)
                return pins
            }
            output.emit(pins)
        }
    }

    /// `signet pins accept`
    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take new pins from a file, when the server lost its TLS keys and cannot be reached.",
            discussion: """
                The file must be signed by the recovery key that the directory named before, and be newer than what is in use. Then \
                the server is asked, by those pins alone, for its log, which must have them too. Before that nothing changes.
                """)

        @Argument(help: ArgumentHelp("The file, from whoever runs the directory.", valueName: "file")) var file: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            _ = try session.owner()
            let note = try InputFile.read(file, maximumByteCount: DirectoryPins.maximumByteCount)
            output.emit(try await session.accept(note))
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
            "The directory's log shows version \(pins.version) of its server's pins to everybody: "
                + "\(Moment.count(UInt64(pins.server.pins.count), "key")), kept for the next connections.")
    }
}
