// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Measuring
import NotesClient
import PinnedHTTP
import SecretMemory
import SignetAPI
import SignetClient
import TransparencyLog

/// What a device with 10,000 notes of 5 KiB takes to open and search them. Called by `book.py`, with `fill` and then with
/// `measure`, a home folder that has the key of its account, and its passphrase.
@main struct BookBench {
    static let noteCount = isTried ? 100 : 10_000
    static let byteCount = 5 * 1024

    static func main() async throws {
        let (home, passphrase) = (HomeFolder(path: CommandLine.arguments[2]), CommandLine.arguments[3])
        if CommandLine.arguments[1] == "fill" {
            try await fill(home, passphrase)
        } else {
            try await measure(home, passphrase)
        }
    }

    private static func fill(_ home: HomeFolder, _ passphrase: String) async throws {
        let store = try NotesStore.open(at: home.path + "/notes.sqlite")
        let secrets = try keystore(home).open(with: SecretBytes(copying: passphrase.utf8))
        let book = try await NoteBook(client(home), secrets: secrets, store: store)
        for number in 0..<noteCount { try await book.create(title: Array("note \(number)".utf8), body: text(number)) }
        try store.close()
    }

    private static func measure(_ home: HomeFolder, _ passphrase: String) async throws {
        let client = try client(home)
        let secrets = try keystore(home).open(with: SecretBytes(copying: passphrase.utf8))
        let store = try NotesStore.open(at: home.path + "/notes.sqlite")
        let start = processTime()
        let book = try await NoteBook(client, secrets: secrets, store: store)
        let opened = processTime()
        let found = await book.search(Array("note 77".utf8))
        let indexed = processTime()
        Report.title("\(noteCount) notes of \(byteCount) bytes; \(found.count) have the first term")
        Report.line("opening", (opened - start) / 1e6, "ms of processor time")
        Report.line("indexing, with one search", (indexed - opened) / 1e6, "ms of processor time")
        Report.goal("opening and indexing, ms of processor time", (indexed - start) / 1e6, atMost: 2000)
        var slowest = 0.0
        for term in ["zebra crossing", "e", "the quick brown", "überall", "note 9999", "w17 w18"] {
            let begin = wallTime()
            keep(await book.search(Array(term.utf8)))
            slowest = max(slowest, (wallTime() - begin) / 1e6)
        }
        Report.goal("the slowest of six searches, ms", slowest, atMost: 50)
    }

    private static func keystore(_ home: HomeFolder) throws -> Keystore {
        try Keystore(decoding: home.keystore.read(maximumByteCount: Keystore.maximumByteCount, isSecret: true))
    }

    private static func client(_ home: HomeFolder) throws -> Client<SQLiteStore> {
        let profile = try HomeFolder.profile(in: home.directory)
        return try Client(
            of: profile, over: NoNetwork(),
            remembering: SQLiteStore.open(at: home.storePath, of: profile.trust.policy.logs.first?.name), owner: nil)
    }

    /// Lines of words, as people write them.
    private static func text(_ number: Int) -> [UInt8] {
        var text: [UInt8] = []
        var word = UInt32(truncatingIfNeeded: number)
        while text.count < byteCount {
            word = word &* 1_664_525 &+ 1_013_904_223
            text += Array("w\(word >> 20)".utf8) + [UInt8(ascii: word >> 28 == 0 ? "\n" : " ")]
        }
        return Array(text.prefix(byteCount))
    }
}

/// Nothing here waits for a server.
private struct NoNetwork: HTTPTransport {
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse { throw .unreachable }
}
