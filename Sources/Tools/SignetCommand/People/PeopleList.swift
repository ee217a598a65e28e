// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Signet
import SignetAPI

extension People {
    /// `signet people list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List people, and requests to you.",
            discussion: "Example: signet people list")

        @Flag(help: "Show only what this device remembers; needs no passphrase.") var offline = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let people = try await people(session)
            output.emit(
                ["people": .array(people.map(Self.json))],
                people.isEmpty ? "No one yet." : people.map(Self.text).joined(separator: "\n"))
            try Self.finish(people.compactMap(\.request), session)
        }

        private func people(_ session: Session) async throws -> [KnownPerson] {
            guard !offline else {
                return try await session.read { home throws(SignetError) in try await home.people() }
            }
            return try await session.with(try session.secrets()) { account in try await account.people() }
        }

        /// Says what friends' requests showed; a fork last, and loudest.
        private static func finish(_ requests: [Result<MetFriendRequest, ClientError>], _ session: Session) throws {
            for case .success(let request) in requests { request.warn() }
            for case .failure(.forkMet(let fork)) in requests {
                throw CommandFailure(ClientError.forkMet(fork), session: session)
            }
        }

        private static func json(_ person: KnownPerson) -> PrintedValue {
            PrintedValue.object([
                "handle": .string(person.handle.description),
                "status": person.status.map { .string($0.rawValue) } ?? .null,
                "pinnedDevices": person.pinned.map { .number(UInt64($0.devices.count)) } ?? .null,
                "pinnedVersion": person.pinned.map { .number($0.version) } ?? .null,
                "request": person.request.map { .string(name($0)) } ?? .null,
            ]).adding(person.comparison.json)
        }

        /// How the checkpoint that came with what a friend signed compares; nil where that was done before.
        private static func name(_ request: Result<MetFriendRequest, ClientError>) -> String {
            switch request {
            case .success(let request): request.name
            case .failure(.forkMet): "fork"
            case .failure(.friendRequest): "not-shown"
            case .failure: "not-compared"
            }
        }

        private static func text(_ person: KnownPerson) -> String {
            let handle = person.handle.description
            let status =
                switch person.status {
                case .requested: "you asked"
                case .invited: Paint.output.warning("asks you") + " (signet people accept \(handle))"
                case .accepted: "friend"
                case nil: "known here"
                }
            let pinned =
                person.pinned.map { "\(Moment.count(UInt64($0.devices.count), "device")) pinned" }
                ?? "nothing pinned"
            let compared = person.pinned == nil && person.comparison == .none ? "" : ", \(person.comparison.brief)"
            let request = person.request.map(name) == "not-shown" ? ", no signed request shown" : ""
            return "  \(Paint.output.strong(handle))  \(status), \(pinned)\(compared)\(request)"
        }
    }
}
