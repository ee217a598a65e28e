// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing

@testable import LocalWeb

/// Forms with files, as browsers write them (RFC 7578), and what no browser writes.
@Suite struct MultipartTests {
    private static let boundary = "----WebKitFormBoundaryA1b2C3"
    private static let mediaType = "multipart/form-data; boundary=\(boundary)"

    private static func form(_ text: String, _ mediaType: String = mediaType) -> FormBody? {
        FormBody(Array(text.replacing("\n", with: "\r\n").replacing("BOUNDARY", with: boundary).utf8), as: mediaType)
    }

    private static let good = """
        --BOUNDARY
        Content-Disposition: form-data; name="title"

        two
        lines
        --BOUNDARY
        Content-Disposition: form-data; name="file"; filename="a %22b%22.txt"
        Content-Type: text/plain

        --BOUNDAR
        --BOUNDARY--

        """

    @Test func fieldsAndFilesAreReadAsABrowserWroteThem() throws {
        let form = try #require(Self.form(Self.good))
        #expect(form["title"] == "two\nlines")
        let file = try #require(form.file("file"))
        #expect(file.name == "a \"b\".txt" && Array(file.content) == Array("--BOUNDAR".utf8))
        #expect(form["file"] == nil && form.file("title") == nil)
    }

    @Test func aFieldInWhichNoFileWasChosenHasNone() throws {
        let form = try #require(
            Self.form(
                """
                --BOUNDARY
                Content-Disposition: form-data; name="file"; filename=""
                Content-Type: application/octet-stream


                --BOUNDARY--

                """))
        #expect(form.files.isEmpty)
    }

    @Test(
        arguments: [
            ("form-data; name=\"title\"", "attachment; name=\"title\""),
            ("form-data; name=\"title\"", "form-data; name=title"),
            ("form-data; name=\"title\"", "form-data; name=\"title\"; x=\"y\""),
            ("form-data; name=\"title\"", "form-data"),
            ("name=\"title\"\n", "name=\"title\"\nContent-Disposition: form-data; name=\"other\"\n"),
            ("name=\"title\"\n", "name=\"title\"\nContent-Transfer-Encoding: base64\n"),
            ("name=\"title\"\n", "name=\"title\"\nContent-Type: text/plain\n"),
            ("Content-Type: text/plain\n", ""), ("Content-Type: text/plain\n", "Content-Type\n"),
            (
                "--BOUNDARY\nContent-Disposition: form-data; name=\"title\"",
                "x\n--BOUNDARY\nContent-Disposition: form-data; name=\"title\""
            ),
            ("--BOUNDARY--\n", "--BOUNDARY--\nx"), ("--BOUNDARY--\n", ""), ("--BOUNDARY--\n", "--BOUNDARY-"),
            ("two\nlines\n--BOUNDARY", "two\nlines--BOUNDARY"),
        ])
    func whatNoBrowserWritesIsRefused(_ change: (String, String)) {
        let changed = Self.good.replacing(change.0, with: change.1)
        #expect(changed != Self.good)
        // Without its delimiter a part goes on to the next one: its head is then part of a text, and the file is missing.
        #expect(Self.form(changed)?.file("file") == nil, "\(change)")
    }

    @Test(
        arguments: [
            "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"a\"",
            "multipart/mixed; boundary=\(boundary)", "multipart/form-data; boundary=\(boundary); charset=utf-8",
            "multipart/form-data; boundary=" + String(repeating: "a", count: 71),
        ])
    func anotherBoundaryThanBrowsersWriteIsRefused(_ mediaType: String) {
        #expect(MultipartForm.boundary(in: mediaType) == nil)
    }

    @Test func partsAndHeadsAreCounted() {
        let part = "--BOUNDARY\nContent-Disposition: form-data; name=\"a\"\n\nb\n"
        let full = String(repeating: part, count: FormBody.maximumFieldCount)
        #expect(Self.form(full + "--BOUNDARY--\n") != nil)
        #expect(Self.form(full + part + "--BOUNDARY--\n") == nil)
        let name = String(repeating: "n", count: MultipartForm.maximumHeadByteCount)
        #expect(Self.form("--BOUNDARY\nContent-Disposition: form-data; name=\"\(name)\"\n\nb\n--BOUNDARY--\n") == nil)
    }

    /// Whatever comes, it is read or refused; and what is read has no more bytes than came.
    @Test func changedFormsAreReadOrRefused() {
        var generator = SeededGenerator(seed: 7)
        let good = Array(Self.good.replacing("\n", with: "\r\n").replacing("BOUNDARY", with: Self.boundary).utf8)
        for _ in 0..<4000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let at = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[at] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: at)
                case 2: bytes.insert(bytes[at], at: at)
                default: bytes = Array(bytes.prefix(max(at, 1)))
                }
            }
            guard let form = FormBody(bytes, as: Self.mediaType) else { continue }
            #expect(form.files.map(\.content.count).reduce(0, +) <= bytes.count)
        }
    }
}
