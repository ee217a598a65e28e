// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Foundation
import KeyDirectory
import KeyTransparency
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// `/explore`, over real TLS. What the page does with it is tested in Chromium, by Scripts/explore.
@Suite struct ExplorerTests {
    private static let policy = "default-src 'none'; script-src 'sha256-AAAA'"

    private static func card(_ title: String) -> String {
        "<!doctype html><meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\"><title>\(title)</title>"
    }

    private static let files = [
        "index.html": "<!doctype html>", "version": "0123456789abcdef\n", "explore.mjs": "// script",
        "signet.css": "/* style */",
        "verifier.wasm": "module", "verifier.wasm.br": "small", "card.html": card("Card"),
        "card-policy": policy + "\n",
    ]
    private static let icons = ["alarm", "changed", "check", "cross", "dot", "info", "seal", "search"]

    /// A folder as Scripts/explorer builds it, without the files named.
    private func folder(without left: Set<String> = [], _ others: [String: String] = [:]) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "signet-explorer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appending(path: "icons"), withIntermediateDirectories: true)
        for (name, text) in Self.files where !left.contains(name) {
            try Data((others[name] ?? text).utf8).write(to: folder.appending(path: name))
        }
        for icon in Self.icons { try Data("<svg/>".utf8).write(to: folder.appending(path: "icons/\(icon).svg")) }
        return folder
    }

    private func withExplorer(
        without left: Set<String> = [], _ body: @escaping @Sendable (TestClient, StoredDirectory) async throws -> Void
    ) async throws {
        let folder = try folder(without: left)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let explorer = try ExplorerFiles(at: folder.path, beside: data)
            let server = try HTTPSServer(
                answering: DirectoryAdapter(stored.directory), identity: stored.identity,
                configuration: configuration { $0.explorer = explorer }, logger: silent)
            try await run(server) { port in
                try await body(TestClient(port: port, root: stored.profile.tlsRoot), stored)
            }
            await stored.directory.close()
        }
    }

    @Test func thePageMayRunItsOwnScriptOnly_andStandInNoFrame() async throws {
        try await withExplorer { client, _ in
            let page = try #require(try await client.get("/explore"))
            #expect(page.status == 200)
            #expect(page.text == "<!doctype html>")
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(page.headers["cache-control"] == "no-cache")
            let policy = Set((page.headers["content-security-policy"] ?? "").components(separatedBy: "; "))
            #expect(policy.contains("default-src 'none'"))
            #expect(policy.contains("script-src 'self' 'wasm-unsafe-eval'"))
            #expect(policy.contains("connect-src 'self'"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(policy.contains("base-uri 'none'"))
            #expect(policy.contains("require-trusted-types-for 'script'"))
            #expect(page.headers["referrer-policy"] == "no-referrer")
            #expect(page.headers["x-content-type-options"] == "nosniff")
        }
    }

    @Test func aFileIsServedUnderItsVersionOnly() async throws {
        try await withExplorer { client, _ in
            let script = try #require(try await client.get("/explore/0123456789abcdef/explore.mjs"))
            #expect(script.text == "// script")
            #expect(script.headers["content-type"] == "text/javascript; charset=utf-8")
            #expect(script.headers["cache-control"] == "public, max-age=31536000, immutable")
            let icon = try await client.get("/explore/0123456789abcdef/icons/seal.svg")
            #expect(icon?.headers["content-type"] == "image/svg+xml")
            for path in [
                "/explore/explore.mjs", "/explore/0123456789abcdee/explore.mjs",
                "/explore/0123456789abcdef/icons/lock.svg",
                "/explore/0123456789abcdef/../explore.mjs", "/explore/0123456789abcdef/",
            ] {
                let answer = try await client.get(path)
                #expect(answer?.status == 404, "\(path)")
            }
        }
    }

    @Test func theModuleComesCompressedToABrowserThatAcceptsIt() async throws {
        let path = "/explore/0123456789abcdef/verifier.wasm"
        try await withExplorer { client, _ in
            let small = try #require(try await client.get(path, accepting: "gzip, deflate, br, zstd"))
            #expect(small.text == "small")
            #expect(small.headers["content-encoding"] == "br")
            for coding in [nil, "gzip", "br;q=0", "brotli"] {
                let whole = try #require(try await client.get(path, accepting: coding))
                #expect(whole.text == "module", "\(coding ?? "none")")
                #expect(whole.headers["content-encoding"] == nil)
                #expect(whole.headers["content-type"] == "application/wasm")
                #expect(whole.headers["vary"] == "Accept-Encoding")
            }
        }
        try await withExplorer(without: ["verifier.wasm.br"]) { client, _ in
            let whole = try await client.get(path, accepting: "br")
            #expect(whole?.text == "module")
        }
    }

    @Test func visitorsGetTheDirectoryFileAsItIsNow() async throws {
        try await withExplorer { client, stored in
            let given = try #require(try await client.get("/explore/directory.signet"))
            #expect(given.body == stored.profile.encoded)
            #expect(given.headers["cache-control"] == "no-store")
        }
    }

    @Test func aServerWithoutAnExplorerHasNoPage() async throws {
        try await withServer { client, _ in
            for path in ["/explore", "/explore/directory.signet"] {
                let answer = try await client.get(path)
                #expect(answer?.status == 404, "\(path)")
            }
        }
    }

    @Test func aFolderThatIsNoExplorerIsRefused() throws {
        let data = DataDirectory(path: "/nowhere")
        for name in ["index.html", "version", "explore.mjs", "signet.css", "verifier.wasm", "card.html", "card-policy"]
        {
            let folder = try folder(without: [name])
            defer { try? FileManager.default.removeItem(at: folder) }
            #expect(throws: ExplorerFilesError.file(FileFailure("\(folder.path)/\(name)", code: ENOENT))) {
                try ExplorerFiles(at: folder.path, beside: data)
            }
        }
        for version in ["", "0123456789abcde", "0123456789ABCDEF", "../../../etc/abc"] {
            let folder = try folder(["version": version])
            defer { try? FileManager.default.removeItem(at: folder) }
            #expect(throws: ExplorerFilesError.version) { try ExplorerFiles(at: folder.path, beside: data) }
        }
        // A line end in a header would end it.
        for policy in [
            "", "script-src *", "default-src 'none'; script-src 'self'\r\nset-cookie: a=b", "default-src 'none'; ü",
        ] {
            // The page itself has it, too.
            let folder = try folder(["card-policy": policy, "card.html": "<meta content=\"\(policy)\">"])
            defer { try? FileManager.default.removeItem(at: folder) }
            #expect(throws: ExplorerFilesError.policy) { try ExplorerFiles(at: folder.path, beside: data) }
        }
        for (file, text) in [("card-policy", "default-src 'none'; script-src 'none'"), ("card.html", "")] {
            let folder = try folder([file: text])
            defer { try? FileManager.default.removeItem(at: folder) }
            #expect(throws: ExplorerFilesError.policy) { try ExplorerFiles(at: folder.path, beside: data) }
        }
    }

    // MARK: The page of a card, and what the log says of the pages

    @Test func thePageOfACardHasThePolicyOfItsBuilder() async throws {
        try await withExplorer { client, _ in
            let page = try #require(try await client.get("/card"))
            #expect(page.text == Self.card("Card"))
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(
                page.headers["content-security-policy"]
                    == "default-src 'none'; script-src 'sha256-AAAA'; frame-ancestors 'none'")
            #expect(page.headers["referrer-policy"] == "no-referrer")
        }
    }

    /// What others add to a link does not lead astray, and other paths are none.
    @Test func aPageIsFoundWithAQueryOrASlashAtItsEnd() async throws {
        try await withExplorer { client, _ in
            for path in ["/card?utm_source=a", "/card/", "/card/?a=b#", "/explore?x", "/explore/"] {
                let answer = try await client.get(path)
                #expect(answer?.status == 200, "\(path)")
            }
            for path in ["/card//", "/cards", "/card/x", "/?card", "/explore/0123456789abcdef/explore.mjs?x"] {
                let answer = try await client.get(path)
                #expect(answer?.status == 404, "\(path)")
            }
        }
    }

    @Test func thePagesAreLoggedOnce_andOthersAgain() async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let origin = try #require(stored.profile.trust.policy.logs.first?.name)
            var logged: [LoggedPages] = []
            for card in ["one", "one", "two", "one"] {
                let folder = try folder(["card.html": Self.card(card)])
                defer { try? FileManager.default.removeItem(at: folder) }
                // As after each start of the server.
                let pages = PagesAnswering(
                    try ExplorerFiles(at: folder.path, beside: data), of: origin, beside: stored.directory,
                    logger: silent)
                for _ in 0..<3 { await pages.keepUp() }
                let note = try SignedNote(decoding: try await DirectoryAdapter(stored.directory).checkpoint())
                let size = try Checkpoint(decoding: note.text).head.size
                let answer = try await pages.answer(
                    PartRequest(
                        route: PagesRoute.pages, body: StatementRequest(size: size).encoded, caller: nil,
                        client: ClientAddress(nil)))
                guard case .statement(let statement) = StatementAnswer(decoding: answer) else {
                    Issue.record("no statement after \(card)")
                    return
                }
                logged.append(try LoggedPages(decoding: statement.text))
            }
            #expect(logged.map(\.version) == [1, 1, 2, 3])
            #expect(logged[0].hashes == logged[3].hashes)
            #expect(logged[0].hashes[.card] != logged[2].hashes[.card])
            await stored.directory.close()
        }
    }
}
