// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import Signet

extension People {
    /// `signet people trust`
    struct Trust: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trust", abstract: "Look at a change to someone's devices, and accept it.",
            discussion: """
                Ask the person over another channel first: a new device may be theirs, or someone else's.

                Example: signet people trust bob@example.org
                """)

        @Argument(help: "Their handle, or your own.") var handle: String
        @Flag(help: "Accept what is shown without asking.") var yes = false
        @Option(
            help: ArgumentHelp(
                "Accept only this exact state, as 'lookup --json --advanced' names it.", valueName: "stateHash"))
        var state: String?
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let session = try Session(home)
            let verdict = try await session.ask { home throws(SignetError) in
                try await home.run { client throws(ClientError) in try await client.lookup(handle).verdict }
            }
            guard let change = try pending(verdict) else {
                return output.emit(
                    ["handle": .string(handle.description), "outcome": .string(verdict.outcome.name)],
                    ClientMisuse.nothingToAccept.sentence.what)
            }
            try agree(to: change, try await session.comparison(with: handle))
            let accepted = try await session.ask { home throws(SignetError) in try await home.accept(change) }
            output.emit(
                [
                    "handle": .string(handle.description), "outcome": .string(accepted.outcome.name),
                    "stateHash": .base64(accepted.stateHash),
                ],
                "\(Paint.output.good("✓")) You accepted \(handle) as they are now.")
        }

        /// The change to decide on; nil if there is none.
        private func pending(_ verdict: LookupVerdict) throws -> KeyChange? {
            switch verdict.outcome {
            case .changed, .matched, .firstPinned, .accepted: return verdict.keyChange
            case .contradicted(let contradiction): throw CommandFailure(.notProven, contradiction.sentence)
            case .stranger: throw CommandFailure(.usage, ClientMisuse.nothingPinned.sentence)
            }
        }

        private func agree(to found: KeyChange, _ comparison: ComparisonState) throws {
            if let state {
                guard (try? Base64.decode(Array(state.utf8))) == found.stateHash else {
                    throw CommandFailure(.needsDecision, ClientMisuse.changeHasMoved.sentence)
                }
                return
            }
            if !output.json { Output.line("\(found.handle): \(found.change.words).") }
            if found.change.identityKeyChanged, let before = comparison.comparison {
                Output.error(Paint.error.bad(before.alarm))
            }
            let unasked = CommandFailure(
                .needsDecision, "You have to accept or refuse this change, but there is no terminal on which to ask.",
                "Look at the change, then add --yes or --state. Nothing was accepted.")
            guard try yes || Question.confirm("Accept this?", unasked: unasked) else {
                throw CommandFailure(
                    .needsDecision, "Nothing was accepted.", "\(found.handle) stays blocked.")
            }
        }
    }
}
