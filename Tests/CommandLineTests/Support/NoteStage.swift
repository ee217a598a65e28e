// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import NotesAPI
import NotesClient
import PinnedHTTP
import SecretMemory
import SignetAPI
import SignetClient
import SignetTesting
import Synchronization

/// A device's book of notes in this process: a home of the town, its real directory, and a notes server in memory.
struct NoteStage {
    let book: NoteBook<SQLiteStore>
    let client: Client<SQLiteStore>
    let secrets: DeviceSecrets
    private let store: NotesStore
    private let trustStore: SQLiteStore

    init(
        _ town: Town, _ home: String, _ server: PaperNoteServer, deathAfter limit: DeathClock = DeathClock(),
        bounds: FeedBounds = .standard, lie: LyingTransport.Answer? = nil,
        turn: @escaping @Sendable (NoteRoute) async -> Void = { _ in }
    ) async throws {
        let folder = HomeFolder(path: town[home].path())
        let profile = try folder.profile()
        secrets = try Self.secrets(folder)
        let author = Author(handle: secrets.handle, device: secrets.keys.signing)
        trustStore = try SQLiteStore.open(at: folder.storePath)
        let transport = PaperNoteTransport(
            to: server, as: author, otherwise: try NIOTransport(to: profile),
            fate: { route in
                await turn(route)
                return limit.request(route)
            })
        let surroundings = Surroundings(
            now: Surroundings.system.now, wait: { _ in }, randomBytes: Surroundings.system.randomBytes)
        client = try Client(
            of: profile, over: lie.map { LyingTransport(transport, $0) } ?? transport, remembering: trustStore,
            owner: .init(handle: secrets.handle, deviceKey: secrets.keys.signing, identityKey: secrets.identityKey),
            in: surroundings)
        store = try NotesStore.open(at: folder.path + "/notes.sqlite") { () throws(StoreError) in try limit.write() }
        book = try await NoteBook(
            client, secrets: secrets, store: store, in: surroundings, isUnlocking: false, headsInLog: .notThere,
            bounds: bounds)
    }

    /// Each keystore is opened once.
    private static let opened = Mutex<[[UInt8]: DeviceSecrets]>([:])

    private static func secrets(_ folder: HomeFolder) throws -> DeviceSecrets {
        let bytes = try folder.keystore.read(maximumByteCount: Keystore.maximumByteCount, isSecret: true)
        if let known = opened.withLock({ $0[bytes] }) { return known }
        let secrets = try Keystore(decoding: bytes).open(with: SecretBytes(copying: Program.passphrase.utf8))
        opened.withLock { $0[bytes] = secrets }
        return secrets
    }

    /// Drops the memory; the files stay as they are.
    func close() throws {
        try store.close()
        try trustStore.close()
    }

    /// Opens a book, uses it, and closes it.
    static func with<Value: Sendable>(
        _ town: Town, _ home: String, _ server: PaperNoteServer, deathAfter limit: DeathClock = DeathClock(),
        bounds: FeedBounds = .standard, lie: LyingTransport.Answer? = nil,
        _ body: (NoteBook<SQLiteStore>) async throws -> Value
    ) async throws -> Value {
        let desk = try await NoteStage(town, home, server, deathAfter: limit, bounds: bounds, lie: lie)
        do {
            let value = try await body(desk.book)
            try desk.close()
            return value
        } catch {
            try desk.close()
            throw error
        }
    }
}

/// A transport to a server that answers some routes of the notes falsely.
struct LyingTransport: HTTPTransport {
    /// The answer to a request of a route of the notes, or of another one (nil); nil for the true answer.
    typealias Answer = @Sendable (NoteRoute?, [UInt8]) -> [UInt8]?

    private let inner: any HTTPTransport
    private let answer: Answer

    init(_ inner: any HTTPTransport, _ answer: @escaping Answer) { (self.inner, self.answer) = (inner, answer) }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard let body = answer(NoteRoute.allCases.first { $0.path == request.path }, request.body) else {
            return try await inner.send(request)
        }
        return TransportResponse(status: 200, mediaType: Route.nativeMediaType, body: body)
    }
}

/// Lets a program take a number of steps, each a request of the notes or a transaction, and none after: as if
/// it had been killed there.
final class DeathClock: Sendable {
    private let limit: Int
    private let isAnswerLost: Bool
    private let state = Mutex((steps: 0, hasChangedTheServer: false))

    /// - Parameters:
    ///   - limit: the number of steps.
    ///   - isAnswerLost: whether a changing request after the limit is carried out too, and its answer lost.
    init(_ limit: Int = .max, isAnswerLost: Bool = false) {
        self.limit = limit
        self.isAnswerLost = isAnswerLost
    }

    /// Whether the limit was reached.
    var hasStruck: Bool { state.withLock { $0.steps > limit } }
    /// Whether an answer was lost.
    var hasLostAnswer: Bool { state.withLock(\.hasChangedTheServer) }

    func request(_ route: NoteRoute) -> PaperNoteTransport.Fate {
        state.withLock { state in
            state.steps += 1
            if state.steps <= limit { return .arrives }
            let changes: [NoteRoute] = [.push, .ownWraps, .putAccountKeys, .putAccountHead, .putChunks]
            guard isAnswerLost, state.steps == limit + 1, changes.contains(route) else { return .isLost }
            state.hasChangedTheServer = true
            return .answerIsLost
        }
    }

    func write() throws(StoreError) {
        let step = state.withLock { state in
            state.steps += 1
            return state.steps
        }
        guard step <= limit else { throw .noSpace }
    }
}
