// SPDX-License-Identifier: Apache-2.0

import LogFencing
import Testing

@testable import SignetServer

@Suite("The file that says where the shared engines are")
struct EnginesFileTests {
    private let text = """
        database postgres://signet@db.example.org/signet
        objects https://s3.example.org
        bucket signet

        """

    @Test func whatIsReadIsWrittenAgain() throws {
        let file = try EnginesFile(decoding: text)
        #expect(file.text == text)
        #expect(file[.bucket] == "signet" && file[.region] == nil)
    }

    @Test func whatIsKnownOfTheInstallationIsAdded() throws {
        let facts = DatabaseFacts(
            isInRecovery: false, commitsAreSynchronous: true, hasStandbys: true,
            systemIdentifier: 18_446_744_073_709_551_615, timeline: 3, database: 4_294_967_295)
        let file = try EnginesFile(decoding: text).of(facts, home: "00ff")
        #expect(file.text == text + "system 18446744073709551615\ntimeline 3\noid 4294967295\nhome 00ff\n")
        #expect(try EnginesFile(decoding: file.text) == file)
    }

    @Test func remarksAndEmptyLinesArePassedOver() throws {
        #expect(try EnginesFile(decoding: "# engines\n\n" + text) == EnginesFile(decoding: text))
    }

    @Test(arguments: [
        ("database a\nobjects b\n", EnginesFileError.missing("bucket")),
        ("objects b\nbucket c\n", .missing("database")),
        ("database a\nobjects b\nbucket c\nbucket d\n", .repeated("bucket")),
        ("database a\nobjects b\nbucket c\ncolour red\n", .line("colour")),
        ("database a\nobjects b\nbucket\n", .line("bucket")),
        ("database a\nobjects b\nbucket c\nsystem one\n", .line("system")),
        ("database a\nobjects b\nbucket c\ntimeline -1\n", .line("timeline")),
        ("database a\nobjects b\nbucket c\noid 4294967296\n", .line("oid")),
    ])
    func whatIsNoneIsRefused(text: String, error: EnginesFileError) {
        #expect(throws: error) { try EnginesFile(decoding: text) }
    }

    @Test func aValueThatIsNoLineIsRefused() {
        #expect(throws: EnginesFileError.line("bucket")) {
            try EnginesFile(
                database: "a", objects: "b", bucket: "c\nsystem 1", prefix: nil, region: nil, authority: nil)
        }
    }
}
