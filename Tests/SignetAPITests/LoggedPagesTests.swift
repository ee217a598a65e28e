// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
import ProtocolTesting
import SignetAPI
import Testing
import TransparencyLog

/// Which pages a directory's server sends to browsers, as its log has it.
@Suite struct LoggedPagesTests {
    private static let card = Array("<!doctype html><title>Card</title>".utf8)
    private static let explorer = Array("<!doctype html><title>Log</title>".utf8)

    /// A directory whose log has statements about pages.
    private struct Logged {
        var directory: PaperDirectory
        private let nobody: Handle

        init() throws {
            directory = try PaperDirectory(filler: 3)
            nobody = try Handle(canonical: Array("nobody@example.org".utf8))
        }

        func statement(
            version: UInt64 = 1, origin: KeyName? = nil, card: [UInt8] = LoggedPagesTests.card
        ) throws -> LoggedPages {
            let hashes: [WebPage: [UInt8]] = [
                .card: Array(SHA256.hash(data: card)), .explore: Array(SHA256.hash(data: LoggedPagesTests.explorer)),
            ]
            return try #require(
                LoggedPages(origin: origin ?? directory.log.verifierKey.name, version: version, hashes: hashes))
        }

        /// Logs a text, and gives what an honest server answers then.
        mutating func log(_ text: [UInt8], version: UInt64 = 1) throws -> LoggedStatement {
            try directory.log(ReservedLabel.pages.record(of: text, version: version).entry)
            try directory.endEpoch()
            return LoggedStatement(text: text, place: try directory.newestRecord(under: .pages))
        }

        func believed(_ answer: LoggedStatement) throws -> LoggedPages {
            let answered = try directory.answer(aboutAbsent: nobody).response.encoded
            let epoch = try directory.verifier().verify(answered, for: nobody, knowing: nil, at: PaperDirectory.now)
                .epoch
            return try LoggedPages(answer, of: directory.trust().policy.logs, in: epoch)
        }

        func fault(_ answer: LoggedStatement) throws -> LoggedPagesFault? {
            do {
                _ = try believed(answer)
                return nil
            } catch let fault as LoggedPagesFault { return fault }
        }
    }

    @Test func thePageThatTheLogNamesIsAccepted_andNoOther() throws {
        var logged = try Logged()
        let statement = try logged.statement()
        let answer = try logged.log(statement.text)
        let pages = try logged.believed(answer)
        #expect(pages == statement)
        try pages.check(.card, is: Self.card)
        try pages.check(.explore, is: Self.explorer)
        for (page, bytes) in [
            (WebPage.card, Self.explorer), (.explore, Self.card), (.card, Self.card + [10]), (.card, []),
        ] {
            #expect(throws: LoggedPagesFault.anotherPage(page)) { try pages.check(page, is: bytes) }
        }
    }

    /// The server tells one person of a page that is made for them.
    @Test func aPageForOnePersonAloneIsRefused() throws {
        var logged = try Logged()
        let answer = try logged.log(try logged.statement().text)
        let another = try logged.statement(card: Array("<!doctype html><title>Another</title>".utf8))
        let fault = try logged.fault(LoggedStatement(text: another.text, place: answer.place))
        guard case .notLogged = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func anOlderStatementIsRefused() throws {
        var logged = try Logged()
        let first = try logged.log(try logged.statement().text)
        let second = try logged.log(try logged.statement(version: 2, card: [1]).text, version: 2)
        let fault = try logged.fault(LoggedStatement(text: first.text, place: second.place))
        guard case .notLogged = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func aStatementOfAnotherVersionThanItsRecordIsRefused() throws {
        var logged = try Logged()
        let text = try logged.statement(version: 2).text
        let answer = try logged.log(text)
        #expect(try logged.fault(answer) == .otherVersion)
    }

    @Test func aStatementOfAnotherLogIsRefused() throws {
        var logged = try Logged()
        let text = try logged.statement(origin: try KeyName(Array("other.example/log".utf8))).text
        let answer = try logged.log(text)
        #expect(try logged.fault(answer) == .otherOrigin)
    }

    /// Of another form: a line less, twice, in another order, with another number of bytes, or with more behind it.
    @Test func everyOtherTextIsRefused() throws {
        let text = String(decoding: try Logged().statement().text, as: UTF8.self)
        #expect(try LoggedPages(decoding: Array(text.utf8)) == Logged().statement())
        var others = [text + "x", text + "card \n", String(text.dropLast()), text.replacing("/v1", with: "/v2")]
        let lines = text.split(separator: "\n")
        for place in lines.indices {
            var fewer = lines
            fewer.remove(at: place)
            others.append(fewer.joined(separator: "\n") + "\n")
        }
        others.append((lines[..<3] + [lines[4], lines[3]]).joined(separator: "\n") + "\n")
        others.append(text.replacing("version 1", with: "version 0"))
        others.append(text.replacing("version 1", with: "version 01"))
        let short = String(decoding: Base64.encode([UInt8](repeating: 1, count: 31)), as: UTF8.self)
        others.append((lines[..<4] + ["explore \(short)"]).joined(separator: "\n") + "\n")
        for other in others {
            #expect(throws: LoggedPagesFault.statement, "\(other)") { try LoggedPages(decoding: Array(other.utf8)) }
        }
    }
}
