// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import Signet
import SignetAPI

/// `signet verify-page`
struct VerifyPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify-page",
        abstract: "Check that the pages which the directory's server sends to browsers are those that its log names.",
        discussion: """
            The pages verify something in the visitor's browser, so a dishonest server would send others. The log names \
            SHA-256 of each page, to everybody the same. The command looks the directory up, and compares.

            A server could send this command the right page and a browser another one. With --file the command checks what a \
            browser saved ("Web page, HTML only"). That says what was in the tab, not what ran before it. To know what the page does, build it \
            from the source: Scripts/explorer prints the hashes.

            Examples:
              signet verify-page
              signet verify-page card --file saved.html
            """)

    @Argument(help: "card or explore; without it, both.", transform: Self.page) var page: WebPage?
    @Option(help: ArgumentHelp("Check this file instead of what the server sends now.", valueName: "file"))
    var file: String?
    @OptionGroup var other: DirectoryOptions
    @OptionGroup var home: ClosedHomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard file == nil || page != nil else { throw ValidationError("With --file, say which page it is.") }
    }

    func run() async throws {
        let session = try Session(home, directory: other.directory)
        let saved = try file.map { try InputFile.read($0, maximumByteCount: WebPage.maximumByteCount) }
        let asked = page.map { [$0] } ?? WebPage.allCases
        let pages = try await session.read { home throws(SignetError) in
            let pages = try await home.loggedPages()
            for page in asked {
                let bytes: [UInt8]
                if let saved { bytes = saved } else { bytes = try await home.fetch(page) }
                do throws(LoggedPagesFault) { try pages.check(page, is: bytes) } catch { throw .webPage(error) }
            }
            return pages
        }
        let hashes = asked.map { page in (page, String(decoding: Hex.encode(pages.hashes[page] ?? []), as: UTF8.self)) }
        output.emit(
            [
                "outcome": .string("logged"), "version": .number(pages.version),
                "pages": .object(
                    Dictionary(hashes.map { ($0.0.path, .string($0.1)) }) { first, _ in first }),
            ],
            hashes.map { page, hash in
                "\(Paint.output.good("✓")) \(page.path) is the page that version \(pages.version) in the log names.\n  SHA-256 \(hash)"
            }.joined(separator: "\n"))
    }

    private static func page(_ text: String) throws -> WebPage {
        guard let page = WebPage(rawValue: text) else { throw ValidationError("A page is one of: card, explore.") }
        return page
    }
}
