// SPDX-License-Identifier: Apache-2.0

import CardSigning
import ConnectionLimits
import Crypto
import Foundation
import GRDB
import KeyDirectory
import KeyTransparency
import LogEngine
import NoteLog
import NotesAPI
import OPAQUE
import ProtocolTesting
import SignetAPI
import Synchronization
import Testing
import TransparencyLog

@testable import KeyDirectory
@testable import SignetServer

/// A signed request that comes again, byte for byte, at another front end, which has not seen its nonce: the answer is the same or a refusal,
/// and the databases are what they were after the first time.
@Suite struct ReplayTests {
    /// Two servers of one directory: they share its database, its log and the parts' stores, and each has its own nonces.
    private final class Scene: Sendable {
        let data: DataDirectory
        let first: TestClient
        let second: TestClient
        let size: @Sendable () -> UInt64
        let signed: Set<String>
        private let tried = Mutex<Set<String>>([])

        init(
            _ data: DataDirectory, _ first: TestClient, _ second: TestClient, signed: Set<String>,
            size: @escaping @Sendable () -> UInt64
        ) {
            (self.data, self.first, self.second, self.signed, self.size) = (data, first, second, signed, size)
        }

        /// The routes that were replayed, or left with a reason.
        var names: Set<String> { tried.withLock { $0 } }

        /// A route that is not replayed here.
        func leave(_ route: some PartRoute, because reason: String) { tried.withLock { _ = $0.insert(route.path) } }

        func replay(_ person: TestPerson, _ route: Route, _ body: [UInt8]) async throws {
            let signature = try person.signature(route, body, first)
            try await replay(route.path) { try await $0.call(route, body, signature: signature) }
        }

        /// - Parameter isRefused: whether an answer says by a rule of its own that nothing was done.
        func replay(
            _ person: TestPerson, _ route: some PartRoute, _ body: [UInt8],
            orElse isRefused: ([UInt8]) -> Bool = { _ in false }
        ) async throws {
            let content = RequestSignature.Content(route, origin: first.origin, body: body)
            let signature = try person.signature(content)
            try await replay(route.path, orElse: isRefused) { try await $0.call(route, body, signature: signature) }
        }

        private func replay(
            _ name: String, orElse isRefused: ([UInt8]) -> Bool = { _ in false },
            _ send: (TestClient) async throws -> HTTPAnswer?
        ) async throws {
            tried.withLock { _ = $0.insert(name) }
            let sent = try await send(first)
            let answer = try #require(sent, "\(name)")
            #expect(answer.status == 200, "\(name): \(answer.text)")
            let before = try contents()
            let repeated = try await send(second)
            let again = try #require(repeated, "\(name)")
            if again.status == 200 {
                #expect(again.body == answer.body || isRefused(again.body), "\(name)")
            } else {
                #expect((400..<500).contains(again.status), "\(name): \(again.text)")
            }
            let after = try contents()
            for table in Set(before.keys).union(after.keys) {
                #expect(before[table] == after[table], "\(name): \(table)")
            }
        }

        /// Every row of every database, by table.
        func contents() throws -> [String: [String]] {
            let files = FileManager.default.enumerator(atPath: data.path)?.compactMap { $0 as? String } ?? []
            var contents: [String: [String]] = [:]
            for file in files where file.hasSuffix(".sqlite") {
                var configuration = GRDB.Configuration()
                configuration.readonly = true
                let queue = try DatabaseQueue(path: data.path + "/" + file, configuration: configuration)
                try queue.read { database in
                    let tables = try String.fetchAll(
                        database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                    for table in tables {
                        let rows = try Row.fetchAll(database, sql: "SELECT * FROM \"\(table)\"")
                        contents["\(file) \(table)"] = rows.map { row in
                            row.map { "\($0)=\($1.storage)" }.joined(separator: " ")
                        }.sorted()
                    }
                }
                try queue.close()
            }
            return contents
        }
    }

    private func withTwoServers(
        marks: (any SharedMarks)? = nil, _ body: @escaping @Sendable (Scene) async throws -> Void
    ) async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let (one, keys) = (stored.directory, try StoredDirectory.readKeys(data, stored.profile))
            let other = Directory(
                log: one.log, epochs: one.epochs, snapshots: one.snapshots,
                origin: keys.log.verifierKey.name, vrf: keys.vrf, database: one.database,
                paths: one.paths, clock: one.clock, logger: silent)
            let calls = CallAnswering(try StoredSignals.open(data), relay: nil)
            let parts = try await StandardParts.open(data, beside: stored, logger: silent) + [calls]
            func server(_ directory: Directory) throws -> HTTPSServer {
                try HTTPSServer(
                    answering: DirectoryAdapter(directory), and: parts, identity: stored.identity,
                    configuration: configuration { $0.marks = marks }, logger: silent)
            }
            let (a, b) = (try server(one), try server(other))
            let routes = Route.allCases.filter { Destination.route($0).isSigned }.map(\.path)
            let partRoutes = parts.flatMap(\.routes).filter { $0.access == .signed }.map(\.path)
            let root = stored.profile.tlsRoot
            try await run(a) { portA in
                try await run(b) { portB in
                    try await body(
                        Scene(
                            data, TestClient(port: portA, root: root), TestClient(port: portB, root: root),
                            signed: Set(routes + partRoutes), size: { one.log.published.head.size }))
                }
            }
            for part in parts { await part.close() }
            await one.close()
        }
    }

    @Test func everySignedRequestMayComeAgainAtAnotherFrontEnd() async throws {
        try await withTwoServers { scene in
            let (alice, bob) = (try NotesPerson("alice"), try NotesPerson("bob"))
            try await replayAccounts(alice.person, bob.person, scene)
            try await replayNotes(alice, scene)
            try await replayAccountKeys(alice, scene)
            try await replayLetters(alice.person, bob.person, scene)
            try await replayErasure(alice, scene)
            // Every signed route that the server has was tried.
            #expect(scene.names == scene.signed)
        }
    }

    private func replayAccounts(_ alice: TestPerson, _ bob: TestPerson, _ scene: Scene) async throws {
        let request = PossessionRequest(handle: alice.handle, keys: alice.keys)
        let challenge = try #require(try await scene.first.call(.possession, request.encoded))
        let first = try alice.submission(answering: challenge.body)
        try await scene.replay(alice, .register, first.encoded)
        #expect(try await bob.register(scene.first)?.status == 200)
        let body = try first.state.next(devices: first.state.devices)
        let next = try AccountState(signing: body) {
            Array(try alice.identity.signature(for: $0).rawRepresentation)
        }
        let update = try StateSubmission(state: next, opening: TestPerson.random(32), cards: [])
        try await scene.replay(alice, .updateState, update.encoded)
        let (aboutBob, aboutAlice) = (friend(bob), friend(alice))
        try await scene.replay(alice, .addFriend, aboutBob)
        try await scene.replay(bob, .acceptFriend, aboutAlice)
        try await scene.replay(bob, .signedFriendRequest, aboutAlice)
        try await scene.replay(alice, .listFriends, [])
        try await scene.replay(alice, .listFriendsAfter, aboutAlice)
        try await scene.replay(bob, .blockFriend, aboutAlice)
    }

    private func friend(_ person: TestPerson) -> [UInt8] { Array("{\"handle\":\"\(person.handle)\"}".utf8) }

    private func replayNotes(_ alice: NotesPerson, _ scene: Scene) async throws {
        let (person, draft) = (alice.person, try NoteDraft(by: alice.writer))
        let note = draft.note
        try await scene.replay(person, NoteRoute.push, NotePushes([draft.creation()]).encoded)
        try await scene.replay(person, NoteRoute.pull, FeedRequest(cursor: 0).encoded)
        try await scene.replay(person, NoteRoute.wait, WaitRequest(cursor: 0).encoded)
        let wrap = OwnWrapChange(note: note, epoch: 1, wrap: [5])
        try await scene.replay(person, NoteRoute.ownWraps, OwnWrapChanges([wrap]).encoded)
        let blob = try unwrapped(BlobID(NoteDraft.bytes(16)))
        let chunk = [UInt8](repeating: 3, count: ChunkUpload.chunkByteCount)
        try await scene.replay(
            person, NoteRoute.putChunks, ChunkUpload(note: note, blob: blob, first: 0, chunks: [chunk]).encoded)
        try await scene.replay(
            person, NoteRoute.chunks, ChunkRequest(note: note, blob: blob, first: 0, count: 1).encoded)
        try await scene.replay(person, NoteRoute.dropBlob, BlobRemoval(note: note, blob: blob).encoded)
        try await scene.replay(
            person, NoteRoute.loggedHeads, LoggedHeadsRequest(size: scene.size(), notes: [note]).encoded)
        try await scene.replay(person, NoteRoute.childList, ChildListRequest(version: 1, note: note).encoded)
        let heads = NoteHeads([
            note: NoteHeads.Head(control: ControlView(number: 1, head: draft.first.hash), revision: nil)
        ])
        let head = try AccountHead(
            author: alice.writer.author, number: 1, previous: .none, notes: heads.hash, with: alice.writer.sign)
        try await scene.replay(person, NoteRoute.putAccountHead, AccountHeadChange(head: head, notes: heads).encoded)
        try await scene.replay(person, NoteRoute.accountHeads, AccountHeadsRequest(after: 0).encoded)
    }

    private func replayAccountKeys(_ alice: NotesPerson, _ scene: Scene) async throws {
        let person = alice.person
        func isConflict(_ body: [UInt8]) -> Bool {
            if case .conflict? = try? AccountKeysOutcome(decoding: body) { true } else { false }
        }
        let keys = AccountKeys(version: 0, devices: [alice.writer.author.device: [7]])
        try await scene.replay(
            person, NoteRoute.putAccountKeys, AccountKeysChange(keys).encoded, orElse: isConflict)
        try await scene.replay(person, NoteRoute.accountKeys, [])
        let password = Array("correct horse".utf8)
        let registration = try ClientRegistration(password: password.span)
        let beginning = try RegistrationBeginning(message: registration.request.encoded).encoded
        try await scene.replay(person, NoteRoute.beginRegistration, beginning)
        let evaluated = try #require(try await person.call(NoteRoute.beginRegistration, beginning, scene.first))
        let (record, _) = try registration.finish(
            RegistrationResponse(decoding: RegistrationEvaluation(decoding: evaluated.body).message),
            password: password.span,
            parameters: LoginParameters(context: LoginBinding.context, clientIdentity: person.handle.bytes),
            stretching: .identity)
        let end = try RegistrationEnd(version: 1, record: record.encoded, wrap: [1])
        try await scene.replay(person, NoteRoute.endRegistration, end.encoded, orElse: isConflict)
    }

    private func replayLetters(_ alice: TestPerson, _ bob: TestPerson, _ scene: Scene) async throws {
        let letter = RecoveryLetter.Draft(to: bob.handle, body: TestPerson.random(RecoveryLetter.bodyByteCount))
        try await scene.replay(alice, RecoveryRoute.send, letter.encoded)
        try await scene.replay(bob, RecoveryRoute.letters, [UInt8](repeating: 0, count: 8))
        try await scene.replay(bob, RecoveryRoute.drop, RecoveryDrop([1]).encoded)
        try await scene.replay(alice, CallRoute.relay, [UInt8](repeating: 1, count: 16))
        scene.leave(RecoveryRoute.storeFile, because: "the same file takes its own place: MailboxTests")
        scene.leave(RecoveryRoute.answer, because: "the same answer is kept once: MailboxTests")
        scene.leave(RecoveryRoute.file, because: "it reads")
        scene.leave(RecoveryRoute.asked, because: "it reads")
        scene.leave(CardSigningRoute.tokens, because: "the store counts what each question got: CardSigningTests")
    }

    private func replayErasure(_ alice: NotesPerson, _ scene: Scene) async throws {
        try await scene.replay(
            alice.person, NoteRoute.erase, NotesErasure(handle: alice.person.handle).encoded)
    }

    // MARK: What happened since

    /// The attack, and its control: who has copied the bytes sends them again after the person has changed their mind.
    @Test(arguments: [false, true]) func whatMustNotComeAgainDoesNotWhateverHappenedSince(isMarked: Bool) async throws {
        try await withTwoServers(marks: isMarked ? LocalMarks(clock: { TestPerson.now }) : nil) { scene in
            let alice = try NotesPerson("alice")
            #expect(try await alice.person.register(scene.first)?.status == 200)
            let body = NotesErasure(handle: alice.person.handle).encoded
            let content = RequestSignature.Content(NoteRoute.erase, origin: scene.first.origin, body: body)
            let signature = try alice.person.signature(content)
            #expect(try await scene.first.call(NoteRoute.erase, body, signature: signature)?.status == 200)
            let push = try NotePushes([NoteDraft(by: alice.writer).creation()]).encoded
            #expect(try await alice.person.call(NoteRoute.push, push, scene.first)?.status == 200)
            let before = try scene.contents()
            let again = try await scene.second.call(NoteRoute.erase, body, signature: signature)
            if isMarked {
                #expect(again?.text == #"{"error":"replayed"}"#)
                #expect(try scene.contents() == before)
            } else {
                #expect(again?.status == 200)
                #expect(try scene.contents() != before)
            }
        }
    }

    /// What cannot be remembered is not done.
    @Test func withoutMarksNothingIsDoneThatMustNotComeAgain() async throws {
        try await withTwoServers(marks: NoMarks()) { scene in
            let alice = try NotesPerson("alice")
            #expect(try await alice.person.register(scene.first)?.status == 200)
            let body = NotesErasure(handle: alice.person.handle).encoded
            #expect(try await alice.person.call(NoteRoute.erase, body, scene.first)?.status == 503)
            #expect(try await alice.person.call(NoteRoute.accountKeys, [], scene.first)?.status == 200)
        }
    }

    @Test func theRoutesThatMustNotComeAgainAreTheseFour() {
        let routes = Route.allCases.filter { !Destination.route($0).isRepeatable }
        #expect(Set(routes) == [.addFriend, .acceptFriend, .blockFriend])
        #expect(NoteRoute.allCases.filter { !$0.isRepeatable } == [.erase])
    }
}

private struct NoMarks: SharedMarks {
    struct Fault: Error {}
    func take(_ mark: [UInt8], until: UInt64) async throws -> Bool { throw Fault() }
}
