import ArgumentParser
import KeyTransparency
import SignetAPI
import SignetClient

extension People {
    /// `signet people requests`
    struct Requests: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show who asks to be a friend of yours.",
            discussion: """
                Anybody can ask; nothing of theirs is pinned or looked at before you accept. A thousand requests wait at most: \
                then the oldest goes of the network that brought the most.
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let secrets = try session.secrets()
            let friends = try await session.run { client throws(ClientError) in try await client.friends(of: secrets) }
            let waiting = friends.filter { $0.1 == .invited }.map(\.0.description)
            let lines = waiting.map {
                "  \(Paint.output.strong($0))  signet people accept \($0), or signet people block \($0)"
            }
            output.emit(
                ["requests": .array(waiting.map { .string($0) })],
                waiting.isEmpty ? "Nobody asks." : lines.joined(separator: "\n"))
        }
    }

    /// `signet people block`
    struct Block: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Put somebody's request away for good, or end that you accepted them.",
            discussion: """
                They are not told, and asking again changes nothing. From then on they share no more notes with you, nor send you \
                parts for guardians; what they shared before stays: 'signet notes leave' ends that. You can accept them, or ask them, later.
                """)

        @Argument(help: "Their handle.") var handle: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let session = try Session(home)
            let secrets = try session.secrets()
            let isBlocked = try await session.run { client throws(ClientError) in
                do throws(ClientError) {
                    try await client.blockFriend(handle, by: secrets)
                    return true
                } catch {
                    guard case .refused(.notFound, _) = error else { throw error }
                    return false
                }
            }
            guard isBlocked else {
                throw CommandFailure(
                    .usage, "Nothing waits of \(handle), and you have not accepted each other.",
                    "'signet people requests' shows who asks.")
            }
            output.emit(
                ["blocked": .string(handle.description)],
                "\(Paint.output.good("✓")) \(handle) asks you no more, and is not told.")
        }
    }
}
