// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LocalWeb

/// A browser that was let in: it keeps the cookie, sends what browsers send, and fills the forms that it was shown.
struct Browser {
    let port: Int
    let mount: String
    let cookie: String
    var host: String { "127.0.0.1:\(port)" }

    /// Opens a link.
    init(_ link: String, port: Int) async throws {
        self.port = port
        let path = try #require(link.firstRange(of: "/link/")).lowerBound
        let reply = try await RawExchange.send(
            "GET", String(link[path...]), to: port, [("Host", "127.0.0.1:\(port)"), ("Sec-Fetch-Site", "none")])
        try #require(reply.status == 200, "\(reply.body)")
        let set = try #require(reply.field("set-cookie"))
        cookie = String(try #require(set.split(separator: ";").first))
        mount = String(try #require(set.firstRange(of: "Path=/").map { set[$0.upperBound...].prefix { $0 != "/" } }))
        #expect(reply.body.contains("url=/\(mount)/"), "the page sends the browser on")
    }

    func path(_ path: String) -> String { "/\(mount)/\(path)" }

    /// What a browser sends with a request that a page of the app caused.
    var fields: [(String, String)] { [("Host", host), ("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")] }

    func get(_ path: String) async throws -> RawExchange {
        try await RawExchange.send("GET", self.path(path), to: port, fields)
    }

    /// Sends a form with the token of the page that it is on.
    ///
    /// - Parameter page: the page with the form; nil if it is that of the path.
    func post(_ path: String, _ values: [(String, String)], from page: String? = nil) async throws -> RawExchange {
        try await send(path, values, token: try await token(on: page ?? path))
    }

    func send(_ path: String, _ values: [(String, String)], token: String?) async throws -> RawExchange {
        let all = (token.map { [("form-token", $0)] } ?? []) + values
        return try await RawExchange.send(
            "POST", self.path(path), to: port, fields + [("Origin", "http://\(host)")], body: Self.encoded(all))
    }

    /// Sends a form with files, as browsers write it.
    ///
    /// - Parameter page: the page with the form; nil if it is that of the path.
    func post(
        _ path: String, _ values: [(String, String)], files: [(field: String, name: String, content: [UInt8])],
        from page: String? = nil
    ) async throws -> RawExchange {
        let boundary = "----WebKitFormBoundaryx7"
        var body: [UInt8] = []
        for (name, value) in [("form-token", try await token(on: page ?? path))] + values {
            body += Array(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
        }
        for file in files {
            let head = "form-data; name=\"\(file.field)\"; filename=\"\(file.name)\"\r\nContent-Type: text/plain"
            body += Array("--\(boundary)\r\nContent-Disposition: \(head)\r\n\r\n".utf8) + file.content
            body += Array("\r\n".utf8)
        }
        body += Array("--\(boundary)--\r\n".utf8)
        return try await RawExchange.send(
            "POST", self.path(path), to: port, fields + [("Origin", "http://\(host)")], bytes: body,
            mediaType: "multipart/form-data; boundary=\(boundary)")
    }

    /// The token in the forms of a page.
    func token(on page: String) async throws -> String {
        let reply = try await get(page)
        return try #require(reply.value(of: "form-token"), "\(page): \(reply.status) \(reply.body.prefix(2000))")
    }

    static func encoded(_ values: [(String, String)]) -> String {
        values.map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
    }

    /// Sends a form, and follows to the page that comes after it.
    func act(
        _ path: String, _ values: [(String, String)] = [], from page: String? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws -> RawExchange {
        let reply = try await post(path, values, from: page)
        try #require(reply.status == 303, "\(path): \(reply.status) \(reply.notices)", sourceLocation: location)
        return try await follow(reply)
    }

    /// Asks for a page until it has the words. The test's time is limited, and nothing else is.
    @discardableResult func wait(for words: String, on path: String) async throws -> RawExchange {
        while true {
            let page = try await get(path)
            if page.shown.contains(words) { return page }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    func follow(_ reply: RawExchange) async throws -> RawExchange {
        let path = try #require(reply.field("location"))
        return try await RawExchange.send("GET", path, to: port, fields)
    }
}

extension RawExchange {
    /// The value of the first field of this name in the page's forms, unescaped.
    func value(of name: String) -> String? {
        guard let field = body.firstRange(of: "name=\"\(name)\"") else { return nil }
        let tag = body[field.upperBound...].prefix { $0 != ">" }
        guard let start = tag.firstRange(of: "value=\"") else { return nil }
        return Self.plain(String(tag[start.upperBound...].prefix { $0 != "\"" }))
    }

    /// The text of a field of many lines, unescaped.
    func text(of name: String) -> String? {
        guard let field = body.firstRange(of: "name=\"\(name)\"") else { return nil }
        let rest = body[field.upperBound...].drop { $0 != ">" }.dropFirst()
        guard let end = rest.firstRange(of: "</textarea>") else { return nil }
        return Self.plain(String(rest[..<end.lowerBound].dropFirst()))
    }

    /// The text of the page, without its tags.
    var shown: String {
        var text = ""
        var isTag = false
        for character in body {
            if character == "<" {
                isTag = true
            } else if character == ">" {
                isTag = false
            } else if !isTag {
                text.append(character)
            }
        }
        return Self.plain(text)
    }

    var notices: String { String(shown.prefix(1500)) }

    private static func plain(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#13;", "\r"), ("&amp;", "&")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
