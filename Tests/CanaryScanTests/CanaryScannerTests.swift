// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import SeededRandomness
import Testing

@testable import CanaryScan

/// The scanner finds each encoding of a secret: a scan without findings has a meaning only if these tests pass.
struct CanaryScannerTests {
    let canary = Canary("the note", Array("Kq7é/w3Zp\"2Xm9Rt4ü/Hb6Vn\"8Ls5".utf8))
    let noise: [UInt8]

    init() {
        var generator = SeededGenerator(seed: 1)
        noise = generator.bytes(5000)
    }

    private func encodings(_ bytes: [UInt8]) throws -> Set<CanaryEncoding> {
        let scanner = try #require(CanaryScanner([canary]))
        return Set(scanner.findings(in: noise + bytes + noise, at: "here").map(\.encoding))
    }

    private var text: String { canary.text }

    @Test func scan_findsNothingInRandomBytes() throws {
        #expect(try encodings([]).isEmpty)
        let scanner = try #require(CanaryScanner([Canary("another", Array("another secret".utf8))]))
        #expect(scanner.findings(in: noise + canary.bytes, at: "here").isEmpty)
    }

    @Test func scan_findsRawBytes() throws { #expect(try encodings(canary.bytes) == [.raw]) }

    // Each encoding is made by another implementation than the scanner's, where there is one.

    @Test func scan_findsUTF16() throws {
        #expect(try encodings(Array(#require(text.data(using: .utf16LittleEndian)))).contains(.utf16LittleEndian))
        #expect(try encodings(Array(#require(text.data(using: .utf16BigEndian)))).contains(.utf16BigEndian))
    }

    @Test func scan_findsHexadecimal() throws {
        let small = Hex.encode(canary.bytes)
        #expect(try encodings(Array(small)) == [.hexSmall])
        #expect(try encodings(Array(String(decoding: small, as: UTF8.self).uppercased().utf8)) == [.hexCapital])
    }

    @Test(arguments: 0..<7) func scan_findsBase64AtEveryOffset(offset: Int) throws {
        let padded = Data(noise.prefix(offset) + canary.bytes + noise.suffix(9))
        let spelled = padded.base64EncodedString()
        let urlSpelled = spelled.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        // A half without one of the two letters that differ counts as either encoding.
        #expect(try encodings(Array(spelled.utf8)).contains(.base64))
        #expect(try !encodings(Array(urlSpelled.utf8)).isDisjoint(with: [.base64URL, .base64]))
    }

    /// A secret whose base64 has the letters that differ, so that it is found in its own spelling only.
    @Test func scan_findsBase64URL() throws {
        let secret = Canary("key", (0..<32).map { UInt8(0xFB &+ $0 % 3) })
        let scanner = try #require(CanaryScanner([secret]))
        let spelled = Data(secret.bytes).base64EncodedString()
        func encodings(_ text: String) -> Set<CanaryEncoding> {
            Set(scanner.findings(in: Array(text.utf8), at: "here").map(\.encoding))
        }
        #expect(encodings(spelled) == [.base64])
        #expect(encodings(spelled.replacing("+", with: "-").replacing("/", with: "_")) == [.base64URL])
    }

    @Test func scan_findsPercentEncoding() throws {
        let kept = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        let spelled = try #require(text.addingPercentEncoding(withAllowedCharacters: kept))
        #expect(try encodings(Array(spelled.utf8)) == [.percent])
        let all = try #require(text.addingPercentEncoding(withAllowedCharacters: CharacterSet()))
        #expect(try encodings(Array(all.utf8)) == [.percentAll])
        #expect(try encodings(Array(all.lowercased().utf8)) == [.percentAll])
    }

    @Test func scan_findsJSONEscapes() throws {
        for options in [[], .withoutEscapingSlashes] as [JSONSerialization.WritingOptions] {
            let spelled = try JSONSerialization.data(withJSONObject: [text], options: options)
            #expect(try encodings(Array(spelled)) == [.json])
        }
        // As a program of Python's standard library prints it: other than ASCII escaped.
        #expect(try encodings(Array(#"["Kq7\u00e9/w3Zp\"2Xm9Rt4\u00fc/Hb6Vn\"8Ls5"]"#.utf8)) == [.json])
        let all = text.utf16.map { "\\u" + String(format: "%04x", $0) }.joined()
        #expect(try encodings(Array(all.utf8)) == [.jsonAll])
    }

    @Test func scan_findsListsOfNumbers() throws {
        #expect(try encodings(Array("\(canary.bytes)".utf8)) == [.decimals])
        #expect(try encodings(Array("\(canary.bytes)".replacing(" ", with: "").utf8)) == [.decimals])
    }

    /// Made by zlib 1.2.13: stored in its frame; fixed codes without a frame; fixed codes with copies; dynamic codes in
    /// gzip's frame, between 1132 bytes of other text.
    @Test(arguments: [
        "7801011f00e0ff4b7137c3a92f77335a702232586d39527434c3bc2f486236566e22384c7335b74d0aef",
        "f32e343fbc52bfdc38aa40c92822d732a8c4e4f01e7d8f24b3b03c250b9f625300",
        "78014b4c4a4e1c08e45d687e78a57eb9715481925144ae655089c9e13dfa1e496661794a163ec5a604a401be5443cd",
        """
        1f8b0800000000000203335008c94855282ccd4cce56482aca2fcf5348cbaf50c82acd2d2856c82f4b2d5228014ae72456552aa4e4a7eb71\
        1992a6dc8834e5c6a42937214db92969cacd48536e4e9a720bd2945b92184d0624aa27315ebd0bcd0fafd42f378e2a50328ac8b50c2a3139\
        bc47df23c92c2c4fc9c2a7d8d46034518d262a921315007ddd4ac18b040000
        """,
    ])
    func scan_findsDeflatedStreams(hex: String) throws {
        let scanner = try #require(CanaryScanner([canary]))
        let stream = try Hex.decode(Array(hex.utf8))
        let found = scanner.findings(in: noise.prefix(777) + stream + noise, at: "here")
        #expect(found.contains { $0.isDeflated && $0.encoding == .raw })
        // A stream that was cut after the secret.
        let cut = scanner.findings(in: noise.prefix(777) + stream.dropLast(hex.count > 200 ? 20 : 3), at: "here")
        #expect(cut.contains { $0.isDeflated })
    }

    @Test func scan_findsASecretAcrossTwoChunks() throws {
        for cut in 0...canary.bytes.count {
            let bytes = Array(canary.bytes.prefix(cut)) + [0, 0, 0, 9] + canary.bytes.dropFirst(cut)
            #expect(try encodings(bytes) == [.raw], "cut at \(cut)")
        }
    }

    @Test func scanner_refusesNoOrShortCanaries() {
        #expect(CanaryScanner([]) == nil)
        #expect(CanaryScanner([canary, Canary("short", [1, 2, 3, 4, 5, 6, 7])]) == nil)
    }

    @Test func newCanariesDifferAndAreFound() throws {
        let canaries = [Canary.text("a"), .text("b"), .word("c"), .word("d")]
        #expect(Set(canaries.map(\.bytes)).count == 4)
        let scanner = try #require(CanaryScanner(canaries))
        let found = scanner.findings(in: canaries.flatMap { noise.prefix(9) + $0.bytes }, at: "here")
        #expect(Set(found.map(\.canary)) == ["a", "b", "c", "d"])
        #expect(String(validating: canaries[0].bytes, as: UTF8.self)?.count == 36)
    }

    @Test func scan_findsFilesBelowAFolderAndTheirNames() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "canaries-\(UUID().uuidString)")
        let inner = folder.appending(components: "a", "name-\(Hex.encode(canary.bytes).count)")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let scanner = try #require(CanaryScanner([canary]))
        #expect(try scanner.findings(below: folder).isEmpty)
        try Data(noise + canary.bytes).write(to: inner.appending(component: "data"))
        #expect(try scanner.findings(below: folder).map(\.place) == ["/a/\(inner.lastPathComponent)/data"])
        try FileManager.default.removeItem(at: inner.appending(component: "data"))
        let name = String(decoding: Hex.encode(canary.bytes), as: UTF8.self)
        try Data().write(to: inner.appending(component: name))
        #expect(
            try scanner.findings(below: folder).allSatisfy {
                $0.encoding == .hexSmall && $0.place.hasPrefix("the name")
            })
        #expect(try !scanner.findings(below: folder).isEmpty)
    }

    #if os(Linux)
        @Test func scan_findsSecretsInTheMemoryOfAProcess() throws {
            let child = Process()
            child.executableURL = URL(filePath: "/bin/sh")
            child.arguments = ["-c", "secret=$CANARY; echo; read line"]
            child.environment = ["CANARY": text]
            let (input, output) = (Pipe(), Pipe())
            child.standardInput = input
            child.standardOutput = output
            child.standardError = FileHandle.nullDevice
            try child.run()
            defer { child.terminate() }
            // It runs once it has printed a line.
            _ = try output.fileHandleForReading.read(upToCount: 1)
            let scanner = try #require(CanaryScanner([canary]))
            #expect(try !scanner.findings(inMemoryOf: child.processIdentifier).isEmpty)
            let other = try #require(CanaryScanner([.text("another")]))
            #expect(try other.findings(inMemoryOf: child.processIdentifier).isEmpty)
        }
    #endif
}
