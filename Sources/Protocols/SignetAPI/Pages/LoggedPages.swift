// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency
public import TransparencyLog

/// A page that a directory's server sends to browsers, and that verifies something there.
public enum WebPage: String, CaseIterable, Hashable, Sendable {
    /// Verifies a card that somebody shows.
    case card
    /// The log explorer.
    case explore

    /// Where the server has it.
    public var path: String { "/\(rawValue)" }
    /// The longest page, in bytes.
    public static let maximumByteCount = 1 << 20
}

/// What a directory's server says of the pages that it sends, to everybody the same: its hash is logged under
/// ``KeyTransparency/ReservedLabel/pages``, where its version is the number of the record.
///
/// ```
/// signet-web-pages/v1
/// origin example.org/signet
/// version 1
/// card <base64 of SHA-256 of the page>
/// explore <base64 of SHA-256 of the page>
/// ```
public struct LoggedPages: Hashable, Sendable {
    /// The log's name.
    public let origin: KeyName
    /// From 1.
    public let version: UInt64
    /// SHA-256 of each page, 32 bytes.
    public let hashes: [WebPage: [UInt8]]

    /// A statement; nil unless each page has a hash of 32 bytes.
    public init?(origin: KeyName, version: UInt64, hashes: [WebPage: [UInt8]]) {
        guard WebPage.allCases.allSatisfy({ hashes[$0]?.count == SHA256.byteCount }) else { return nil }
        (self.origin, self.version, self.hashes) = (origin, version, hashes)
    }

    /// What is logged.
    public var text: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write("origin", origin.bytes)
        writer.write("version", Decimal.encode(version))
        for page in WebPage.allCases {
            writer.write(Array(page.rawValue.utf8))
            writer.write(UInt8(ascii: " "))
            writer.write(Base64.encode(hashes[page] ?? []))
            writer.write(UInt8(ascii: "\n"))
        }
        return writer.bytes
    }

    /// Reads the text.
    ///
    /// - Throws: ``LoggedPagesFault/statement``.
    public init(decoding text: [UInt8]) throws(LoggedPagesFault) {
        guard text.starts(with: Self.format) else { throw .statement }
        var reader = ByteReader(text.dropFirst(Self.format.count))
        guard let origin = reader.line(named: "origin").flatMap({ try? KeyName(Array($0)) }),
            let version = reader.line(named: "version").flatMap({ try? Decimal.decode($0) }), version > 0,
            let card = reader.line(named: "card").flatMap({ try? Base64.decode($0) }),
            let explore = reader.line(named: "explore").flatMap({ try? Base64.decode($0) }),
            (try? reader.end()) != nil,
            let pages = LoggedPages(origin: origin, version: version, hashes: [.card: card, .explore: explore])
        else { throw .statement }
        self = pages
    }

    /// Believes what a directory shows. This function is the whole decision.
    ///
    /// - Parameters:
    ///   - answer: as the directory shows it.
    ///   - logs: the keys of the directory's log.
    ///   - epoch: one that was shown to be recent, by a lookup.
    /// - Throws: ``LoggedPagesFault``, the first check that fails.
    ///
    /// Security: everybody who verifies this epoch or a newer one is told the same hashes, or sees a fork. Whether a page with such a hash
    /// does what it should is seen by those who build it themselves, or read it.
    public init(_ answer: LoggedStatement, of logs: [VerifierKey], in epoch: VerifiedEpoch) throws(LoggedPagesFault) {
        let pages = try LoggedPages(decoding: answer.text)
        guard logs.contains(where: { $0.name == pages.origin }) else { throw .otherOrigin }
        do { try answer.place.verify(answer.text, under: .pages, in: epoch) } catch { throw .notLogged(error) }
        guard pages.version == answer.place.version else { throw .otherVersion }
        self = pages
    }

    /// Demands that a page is the one that the log names.
    ///
    /// - Throws: ``LoggedPagesFault/anotherPage(_:)``.
    public func check(_ page: WebPage, is bytes: [UInt8]) throws(LoggedPagesFault) {
        guard hashes[page] == Array(SHA256.hash(data: bytes)) else { throw .anotherPage(page) }
    }

    private static let format = Array("signet-web-pages/v1\n".utf8)
}

/// Why a page, or what a server says of its pages, is not believed: one case a check.
public enum LoggedPagesFault: Error, Hashable, Sendable {
    /// The server sends no pages, or makes no statement about them.
    case none
    /// The statement has another form.
    case statement
    /// It is another log's.
    case otherOrigin
    /// It is not the newest that the log has.
    case notLogged(NewestRecordError)
    /// Its version is not the number of its record in the log.
    case otherVersion
    /// The page has another hash than the log names.
    case anotherPage(WebPage)
}
