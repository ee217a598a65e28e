// SPDX-License-Identifier: Apache-2.0

import Crypto
import HTTPTypes
import SignetAPI

/// The pages that verify something in the visitor's browser: the log explorer at `/explore`, and at `/card` a card that somebody shows.
/// `Scripts/explorer` builds the folder; the server adds its directory file, and nothing else.
///
/// ```
/// index.html          the explorer, which names the hash of each file that it loads
/// card.html           the page of a card, which loads nothing
/// card-policy         its content security policy, one line
/// version             16 hexadecimal digits, which change with any file
/// explore.mjs, signet.css, verifier.wasm, verifier.wasm.br, icons/…
/// ```
/// All files are read when the server starts, each of at most 1 MiB. They are public, and the same for every visitor.
public struct ExplorerFiles: Sendable {
    /// What is served at a path.
    enum Page: Sendable {
        /// The page itself.
        case document
        /// The page of a card.
        case card
        /// A file that the page loads, under its version.
        case file(String)
        /// The directory file, as it is now.
        case directory
    }

    private let files: [String: [UInt8]]
    private let pages: [String: Page]
    private let profile: String
    private let cardPolicy: String

    /// Reads a folder that `Scripts/explorer` built.
    ///
    /// - Parameter data: whose directory file visitors get.
    /// - Throws: ``ExplorerFilesError``.
    public init(at folder: String, beside data: DataDirectory) throws(ExplorerFilesError) {
        var files: [String: [UInt8]] = [:]
        for name in Self.names {
            do {
                files[name] = try PrivateFile.read(folder + "/" + name, maximumByteCount: Self.maximumByteCount)
            } catch {
                if name != Self.compressed { throw .file(error) }
            }
        }
        let version = String(decoding: files["version"] ?? [], as: UTF8.self).filter { $0 != "\n" }
        guard version.utf8.count == 16, version.utf8.allSatisfy({ Self.digits.contains($0) }) else {
            throw .version
        }
        let policy = String(decoding: files["card-policy"] ?? [], as: UTF8.self).filter { $0 != "\n" }
        guard policy.utf8.starts(with: "default-src 'none';".utf8),
            policy.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw .policy }
        // A page with another policy than its own would not run, and say nothing.
        guard String(decoding: files["card.html"] ?? [], as: UTF8.self).contains("content=\"\(policy)\"") else {
            throw .policy
        }
        cardPolicy = policy
        var pages: [String: Page] = [
            WebPage.explore.path: .document, WebPage.card.path: .card, Self.path + "/directory.signet": .directory,
        ]
        for name in Self.names { pages["\(Self.path)/\(version)/\(name)"] = .file(name) }
        self.files = files
        self.pages = pages
        profile = data.profile
    }

    /// What is at a path. The pages themselves are also at their path with a query, which links get on their way, or with a slash at its end.
    subscript(path: String) -> Page? {
        if let page = pages[path] { return page }
        var own = path.prefix { $0 != "?" }
        if own.last == "/" { own = own.dropLast() }
        return WebPage.allCases.contains { $0.path == own } ? pages[String(own)] : nil
    }

    /// The answer to `GET`.
    ///
    /// - Parameter acceptsBrotli: whether a file may come compressed.
    func answer(_ page: Page, acceptsBrotli: Bool) throws(Refusal) -> Answer {
        switch page {
        case .document:
            var answer = Answer(mediaType: "text/html; charset=utf-8", body: files["index.html"] ?? [])
            answer.cacheControl = "no-cache"
            answer.headers = Self.protection
            return answer
        case .card:
            var answer = Answer(mediaType: "text/html; charset=utf-8", body: files["card.html"] ?? [])
            answer.cacheControl = "no-cache"
            answer.headers = Self.headers([("Content-Security-Policy", cardPolicy + "; frame-ancestors 'none'")])
            return answer
        case .directory:
            let bytes: [UInt8]
            do { bytes = try PrivateFile.read(profile) } catch { throw Refusal(.unavailable) }
            return Answer(mediaType: Answer.textMediaType, body: bytes)
        case .file(let name):
            let small = acceptsBrotli && name == Self.module ? files[Self.compressed] : nil
            guard let body = small ?? files[name] else { throw Refusal(.notFound) }
            var answer = Answer(mediaType: Self.mediaType(of: name), body: body)
            answer.cacheControl = "public, max-age=31536000, immutable"
            answer.headers = Self.isolation
            if name == Self.module { answer.headers.append((.vary, "Accept-Encoding")) }
            if small != nil { answer.headers.append((.contentEncoding, "br")) }
            return answer
        }
    }

    /// SHA-256 of each page.
    var hashes: [WebPage: [UInt8]] {
        [.card: "card.html", .explore: "index.html"].mapValues { Array(SHA256.hash(data: files[$0] ?? [])) }
    }

    /// The longest file, in bytes.
    private static let maximumByteCount = WebPage.maximumByteCount
    /// Where the page is.
    static let path = WebPage.explore.path
    private static let module = "verifier.wasm"
    private static let compressed = "verifier.wasm.br"
    private static let digits = Array("0123456789abcdef".utf8)

    private static let names =
        ["index.html", "card.html", "card-policy", "version", "explore.mjs", "signet.css", module, compressed]
        + ["alarm", "changed", "check", "cross", "dot", "info", "seal", "search"].map { "icons/\($0).svg" }

    private static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "mjs": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "wasm": "application/wasm"
        default: Answer.textMediaType
        }
    }

    private static let isolation: [(HTTPField.Name, String)] = [
        ("Cross-Origin-Resource-Policy", "same-origin")
    ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }

    /// The page loads what is its own, runs no text as script, and stands in no frame.
    private static let protection = headers([
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                + "trusted-types 'none'"
        )
    ])

    private static func headers(_ policy: [(String, String)]) -> [(HTTPField.Name, String)] {
        let others = [
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("X-Frame-Options", "DENY"),
        ]
        return isolation + (policy + others).compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
    }
}

/// Why a folder is not an explorer. The operator has to build it again, or leave the option out.
public enum ExplorerFilesError: Error, Hashable, Sendable {
    /// A file is missing, too long or cannot be read.
    case file(FileFailure)
    /// The file `version` does not have 16 hexadecimal digits.
    case version
    /// The file `card-policy` is no policy that forbids everything else, or not that of `card.html`.
    case policy
}
