// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NotesAPI
import PinnedHTTP
import SecretMemory
import SignetAPI
import SignetClient
import Synchronization
import Testing

@testable import NotesClient
@testable import SignetCommand

/// `signet notes sync --follow`, and the wait on which it stands.
@Suite(.serialized) struct NoteFollowTests {
    /// Answers that nothing is new, and records how long the server was asked to keep the request, and for how long its connection may be
    /// silent beyond the deadlines of any other.
    private final class NoNews: HTTPTransport {
        private let inner: any HTTPTransport
        private let kept = Mutex<[(asked: Duration, longestWait: Duration)]>([])

        init(_ inner: any HTTPTransport) { self.inner = inner }

        var waits: [(asked: Duration, longestWait: Duration)] { kept.withLock { $0 } }

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            guard request.path == NoteRoute.wait.path, let asked = try? WaitRequest(decoding: request.body) else {
                return try await inner.send(request)
            }
            kept.withLock { $0.append((.seconds(Int(asked.seconds)), request.longestWait)) }
            return TransportResponse(
                status: 200, mediaType: Route.nativeMediaType, body: WaitAnswer(newest: 0).encoded)
        }
    }

    @Test func aConnectionMayBeSilentForAsLongAsTheServerIsAskedToWait() async throws {
        try await Town.withServer { town, _ in
            let folder = HomeFolder(path: town["bob"].path())
            let keystore = try Keystore(
                decoding: folder.keystore.read(maximumByteCount: Keystore.maximumByteCount, isSecret: true))
            let secrets = try keystore.open(with: SecretBytes(copying: Program.passphrase.utf8))
            let (trust, notes) = try (
                SQLiteStore.open(at: folder.storePath), NotesStore.open(at: folder.path + "/notes.sqlite")
            )
            let profile = try folder.profile()
            let transport = NoNews(try NIOTransport(to: profile))
            let client = try Client(
                of: profile, over: transport, remembering: trust,
                owner: .init(handle: secrets.handle, deviceKey: secrets.keys.signing))
            let book = try await NoteBook(client, secrets: secrets, store: notes)
            for seconds: UInt8 in [1, 25, .max] { #expect(try await !book.wait(atMost: seconds)) }
            try notes.close()
            try trust.close()
            #expect(transport.waits.map(\.asked) == [.seconds(1), .seconds(25), .seconds(25)])
            #expect(transport.waits.allSatisfy { $0.longestWait >= $0.asked }, "\(transport.waits)")
            for route in NoteRoute.allCases where route != .wait { #expect(route.longestWait == .zero, "\(route)") }
        }
    }

    @Test func eachPauseIsTwiceTheOneBefore_andNoneIsShorterThanTheServerAsks() {
        var pause = FollowPause()
        #expect((0..<9).map { _ in pause.next(askedFor: nil) } == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        #expect(pause.next(askedFor: 61) == 61)
        #expect(pause.next(askedFor: 59) == 60)
        #expect(pause.next(askedFor: .max) == 3600)
        var first = FollowPause()
        #expect([first.next(askedFor: 7), first.next(askedFor: nil)] == [7, 2])
    }

    @Test(.timeLimit(.minutes(3))) func followingOutlivesARestartOfTheServer() async throws {
        try await Town.with { town in
            let options = { (port: Int) in
                ["--bind", "127.0.0.1:\(port)", "--rate", "0", "--account-rate", "0", "--epoch", "0"]
            }
            let follower = FollowProcess()
            defer { follower.kill() }
            var port = 0
            try await town.serving(.signetd, options(0)) { server in
                port = server.port
                try follower.start(town, "bob")
                #expect(try await follower.nextReport() != nil)
            }
            let said = await follower.complaint { $0.contains("Trying again in") }
            #expect(said != nil)

            try await town.serving(.signetd, options(port)) { _ in
                expect(0, try await town.signet("alice", "notes", "new", "List", "milk"))
                expect(0, try await town.signet("alice", "notes", "share", "List", Town.bob))
                var news: [Any] = []
                while news.isEmpty, let report = try await follower.nextReport() {
                    news = report["received"] as? [Any] ?? []
                }
                #expect(!news.isEmpty, "what came after the restart arrives")
            }
        }
    }
}

/// A running `signet notes sync --follow`, read line by line.
private final class FollowProcess {
    private var process: UncheckedBox<Process>?
    private let (output, errors) = (Pipe(), Pipe())
    private var reports: AsyncStream<String>.Iterator
    private var complaints: AsyncStream<String>.Iterator

    init() {
        reports = CallProcess.lines(of: UncheckedBox(output.fileHandleForReading)).makeAsyncIterator()
        complaints = CallProcess.lines(of: UncheckedBox(errors.fileHandleForReading)).makeAsyncIterator()
    }

    func start(_ town: Town, _ home: String) throws {
        let process = Process(
            Program.signet.file, ["notes", "sync", "--follow", "--json", "--home", home], in: town.folder,
            environment: [:])
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        self.process = UncheckedBox(process)
    }

    /// The next report of a sync; nil when the process has ended.
    func nextReport() async throws -> [String: Any]? {
        var iterator = reports
        let line = await iterator.next()
        reports = iterator
        return try line.map { try Exit.object($0) }
    }

    /// The next line on standard error that is meant; nil when the process has ended.
    func complaint(_ isMeant: (String) -> Bool) async -> String? {
        var iterator = complaints
        defer { complaints = iterator }
        while let line = await iterator.next() { if isMeant(line) { return line } }
        return nil
    }

    func kill() { process?.value.kill() }
}
