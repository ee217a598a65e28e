// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Platform
import QRCode
import Signet

extension People {
    /// `signet people verify`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Compare keys with someone: sixty digits, or the QR code on their screen.",
            discussion: """
                Both of you see the same sixty digits if the directory gave you each other's true keys. Compare every \
                group, with them beside you or on a call in which you recognise their voice; then type the last two \
                groups of each line. Or read the code from their screen: --scan PICTURE. This command alone compares \
                nothing.

                Examples:
                  signet people verify bob@example.org
                  signet people verify bob@example.org --matches "01234 56789 01234 56789" --met today
                  signet people verify bob@example.org --scan screen.png --met today
                """)

        @Argument(help: "Their handle.") var handle: String
        @Option(
            help: ArgumentHelp(
                "What they read to you: all digits, or the last two groups of each line.", valueName: "digits"))
        var matches: String?
        @Option(help: ArgumentHelp("A picture (PNG) of the code on their screen.", valueName: "file"))
        var scan: String?
        @Option(help: ArgumentHelp("The day on which you met for it: 2026-11-22, or today.", valueName: "day"))
        var met: Day?
        @Option(help: ArgumentHelp("Write your code as a picture (PNG) too.", valueName: "file"))
        var picture: String?
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let metOn = try met?.past()
            let session = try Session(home)
            let identities = try await session.ask { home throws(SignetError) in
                try await home.run { client throws(ClientError) in try await client.identities(with: handle) }
            }
            if let picture { try QRSymbol.write(identities.code.encoded, as: picture, outside: session.home) }
            if let scan {
                let code = try ScannedPicture.read(scan)
                return try await keep(
                    try compared { () throws(SignetError) in try identities.matched(scanned: code) }, metOn, session)
            }
            if let typed = try matches ?? ask(identities) {
                return try await keep(
                    try compared { () throws(SignetError) in try identities.matched(typed: typed) }, metOn, session)
            }
            guard metOn == nil else {
                throw CommandFailure(
                    .usage, "Nothing was compared: --met alone proves nothing.",
                    "Also give what they read to you, --matches DIGITS, or their code: --scan PICTURE")
            }
            let state = try await session.comparison(with: handle)
            output.emit(json(identities, state), page(identities, state))
        }

        /// Shows the number, and waits for what the other reads; nil if there is no terminal, or if nothing was typed.
        private func ask(_ identities: ComparedIdentities) throws -> String? {
            guard !output.json, isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return nil }
            Output.line(shown(identities))
            Output.error("Compare every group. Then type the last two groups of each line as they read them to you:")
            let typed = readLine(strippingNewline: true) ?? ""
            guard !typed.isEmpty else {
                throw CommandFailure(
                    .needsDecision, "Nothing was compared.", "Run the same command again when you are with them.")
            }
            return typed
        }

        private func compared(_ match: () throws(SignetError) -> MatchedIdentities) throws -> MatchedIdentities {
            do throws(SignetError) { return try match() } catch { throw CommandFailure(error) }
        }

        private func keep(_ matched: MatchedIdentities, _ metOn: UInt64?, _ session: Session) async throws {
            try await session.read { home throws(SignetError) in try await home.keep(matched, metOn: metOn) }
            OwnAccountWatch.arm(session)
            let identities = matched.identities
            let state = try await session.comparison(with: identities.peer)
            output.emit(
                json(identities, state),
                """
                \(Paint.output.good("✓")) You compared keys with \(Paint.output.strong(identities.peer.description)): \
                the two of you have each other's keys.
                  If their identity ever changes, you will see an alarm.
                """)
        }

        private func json(_ identities: ComparedIdentities, _ state: ComparisonState) -> PrintedValue {
            PrintedValue.object([
                "handle": .string(identities.peer.description),
                "number": .string(groups(identities).joined(separator: " ")),
            ]).adding(state.json)
        }

        private func page(_ identities: ComparedIdentities, _ state: ComparisonState) -> String {
            """
            \(shown(identities))
              \(state.words(identities.peer))
              The same on their screen?  signet people verify \(identities.peer) --matches "the last two groups of each line"
              Or read their code:        signet people verify \(identities.peer) --scan PICTURE
            """
        }

        private func groups(_ identities: ComparedIdentities) -> [String] {
            identities.number.groups.map { String(decoding: $0, as: UTF8.self) }
        }

        private func shown(_ identities: ComparedIdentities) -> String {
            let groups = groups(identities)
            return """
                \(Paint.output.strong(identities.own.description)) and \(Paint.output.strong(identities.peer.description))
                  \(groups.prefix(6).joined(separator: " "))
                  \(groups.suffix(6).joined(separator: " "))
                \(QRSymbol(identities.code.encoded)?.shownText ?? "")
                """
        }
    }
}

extension QRSymbol {
    /// Writes bytes as a picture of their code.
    static func write(_ bytes: [UInt8], as path: String, outside home: HomeFolder) throws {
        guard let symbol = QRSymbol(bytes) else {
            throw CommandFailure(.usage, "That is too much data for a QR code.", "Use a file instead.")
        }
        try OutputFile.write(symbol.png(), to: path, outside: home)
    }
}

/// A day as people write it: `2026-11-22`, or `today`.
struct Day: ExpressibleByArgument {
    /// Counted from 1970-01-01.
    let number: UInt64

    init?(argument: String) {
        if argument == "today" {
            number = Moment.dayNumber(of: Surroundings.system.now())
            return
        }
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, argument.utf8.count == 10, let year = UInt64(parts[0]), year >= 1970 else { return nil }
        // The day whose spelling it is: each has one.
        let first = (year - 1970) * 365
        guard let day = (first...first + 800).first(where: { Moment.day($0) == argument }) else { return nil }
        number = day
    }

    /// The day, if it is not yet to come anywhere on earth.
    func past() throws -> UInt64 {
        guard number <= Surroundings.system.now() / 86_400 + 1 else {
            throw CommandFailure(.usage, "That day is in the future.", "Give the day on which you met.")
        }
        return number
    }
}
