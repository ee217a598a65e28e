// SPDX-License-Identifier: Apache-2.0

import Foundation
import Signet
import Testing

@testable import LocalWeb

/// Text, paths, forms and remedies, without a server.
@Suite struct MarkupTests {
    @Test func dataIsNeverMarkup() {
        let data = "<script>alert('x')</script>\" onmouseover=\"y & z"
        let page: HTML = "<p title=\"\(data)\">\(data)</p>"
        #expect(!page.text.contains("<script") && page.text.components(separatedBy: "\"").count == 3)
        #expect(page.text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot; onmouseover=&quot;y &amp; z"))
        let typed: HTML = "<input value=\"\(typed: data)\">"
        #expect(typed.text.components(separatedBy: "\"").count == 3)
    }

    @Test func markupInsideMarkupStaysMarkup() {
        let inner: HTML = "<b>\("a<b")</b>"
        let outer: HTML = "<p>\(inner)\([inner, inner])\(HTML.when(false, inner))</p>"
        #expect(outer.text == "<p><b>a&lt;b</b><b>a&lt;b</b><b>a&lt;b</b></p>")
    }

    /// A title could end in what turns the rest of the line around, or hide a part of itself.
    @Test func whatIsNotSeenIsShownAsAReplacement() {
        #expect(ShownText.of("a\u{202E}b\u{0}c\u{200B}d") == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d")
        #expect(ShownText.of("line\n\ttab 👩‍🚀") == "line\n\ttab 👩‍🚀")
        let typed: HTML = "\(typed: "a\u{202E}b")"
        #expect(typed.text == "a\u{202E}b", "a field gives back what was typed")
    }

    @Test func everyRouteIsReadAsItIsPrinted() throws {
        let handle = try Handle("alice+x@example.org")
        let note = try #require(NoteID(Array(0..<16)))
        let routes: [WebRoute] = [
            .home, .unlock, .lock, .people, .addPerson, .person(handle), .accept(handle), .block(handle),
            .compare(handle),
            .change(handle), .checks(handle), .notes, .newNote, .sync, .note(note), .edit(note), .share(note),
            .comment(note), .star(note), .guardians, .chooseGuardians, .askGuardians, .recovery, .guardian(handle),
            .decline(handle), .devices, .settings,
        ]
        for route in routes {
            let path = WebPath(route, below: "abc").text
            let head = try #require(WebHead(method: "GET", host: nil, path: path, fields: []))
            #expect(head.parts.first == "abc" && WebRoute(Array(head.parts.dropFirst())) == route, "\(path)")
        }
        for path in [
            ["nothing"], ["people", "x"], ["notes", "00"], ["people", "a@b.c", "x"], ["guardian", "a@b.c", "x"],
            ["home"],
        ] {
            #expect(WebRoute(path) == nil, "\(path)")
        }
    }

    @Test func formsAreReadStrictly() {
        #expect(FormBody(decoding: Array("a=1+2&b=%C3%A4%0D%0Ac&a=3".utf8))?["b"] == "ä\nc")
        #expect(FormBody(decoding: Array("a=1&a=2".utf8))?.all("a") == ["1", "2"])
        for wrong in ["a=%", "a=%4", "a=%zz", "a=%ff", String(repeating: "a=1&", count: 65)] {
            #expect(FormBody(decoding: Array(wrong.utf8)) == nil, "\(wrong.prefix(9))")
        }
    }

    /// Whatever the bytes, they are read or refused.
    @Test func noBytesTrapTheReaders() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            _ = FormBody(decoding: bytes)
            let path = "/" + String(decoding: bytes, as: UTF8.self)
            if let head = WebHead(method: "GET", host: "x", path: path, fields: [("cookie", path), ("origin", path)]) {
                _ = WebRoute(head.parts)
                _ = head.cookie("x")
            }
            _ = RemedyText.parts(of: path + ": signet " + path + "'signet " + path)
        }
    }

    @Test func severalFieldsOfOneNameAreNone() throws {
        let head = try #require(
            WebHead(
                method: "GET", host: nil, path: "/",
                fields: [("origin", "a"), ("origin", "b"), ("cookie", "x=1; x=2; y=3"), ("te", "c")]))
        #expect(head.value("origin") == nil && head.value("te") == "c")
        #expect(head.cookie("x") == nil && head.cookie("y") == "3")
    }

    @Test func aCommandInARemedyIsALinkWhereThereIsAPage() throws {
        let handle = try Handle("bob@example.org")
        #expect(
            RemedyText.parts(of: "Ask them first. If so: signet people trust bob@example.org") == [
                .text("Ask them first. If so: "), .command("signet people trust bob@example.org", .change(handle)),
            ])
        #expect(
            RemedyText.parts(of: "Run 'signet people add bob@example.org'; then share again.") == [
                .text("Run "), .command("signet people add bob@example.org", .people), .text("; then share again."),
            ])
        #expect(
            RemedyText.parts(of: "If that was you: signet monitor --accept. If not, tell them.") == [
                .text("If that was you: "), .command("signet monitor --accept", nil), .text(". If not, tell them."),
            ])
        #expect(RemedyText.parts(of: "Try again.") == [.text("Try again.")])
    }

    /// No page has a script but the program's, which the frame of live pages names, a style of its own, or an attribute without quotes around data.
    @Test func noSourceOfAPageWritesScriptsStylesOrOpenAttributes() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Client/LocalWeb")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 20)
        let frame = try #require(files.first { $0.lastPathComponent == "PageContext.swift" })
        let named = try String(contentsOf: frame, encoding: .utf8).components(separatedBy: "<script")
        #expect(
            named.count == 2 && named[1].hasPrefix(" src=\\\"\\(WebPath(asset: \"signet.js\"))\\\" defer></script>"))
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            if file != frame { #expect(!text.contains("<script"), "\(file.lastPathComponent) has a script") }
            for wrong in [" style=", "<style", "javascript:", "onclick", "onsubmit"] {
                #expect(!text.contains(wrong), "\(file.lastPathComponent) has \(wrong)")
            }
            #expect(
                text.firstMatch(of: /<[a-z]+ [^>"\n]*=\\\(/) == nil,
                "\(file.lastPathComponent): an attribute without quotes")
        }
    }

    @Test func aPassphraseIsNotKeptWithWhatWasTyped() throws {
        let form = try #require(FormBody(decoding: Array("form-token=t&code=red+42&passphrase=p&again=p&state=s".utf8)))
        #expect(form.kept == FormBody(decoding: Array("code=red+42&state=s".utf8)))
    }
}
