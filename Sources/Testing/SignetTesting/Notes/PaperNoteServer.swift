// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import NotesAPI
public import PinnedHTTP
public import SignetAPI
import SignetClient
import Synchronization

/// The notes service of a server in memory, for tests of clients. It follows the rules of `PushRules`, and can be reset to an
/// earlier state. It does not support passwords.
public final class PaperNoteServer: Sendable {
    /// Everything that the server holds; a test may replace it with an earlier state.
    public struct State: Sendable {
        /// The notes by ID.
        public var notes: [NoteID: Note] = [:]
        /// The feed of each account's devices, from position 1 on.
        public var feeds: [Handle: [FeedItem]] = [:]
        /// The wraps of each account's master key.
        public var accountKeys: [Handle: AccountKeys] = [:]
        /// Each account's heads.
        public var heads: [Handle: [AccountHeadChange]] = [:]
        fileprivate var answers: [[UInt8]: NotePushOutcome] = [:]
        fileprivate var blobs: [BlobID: [UInt32: [UInt8]]] = [:]
    }

    /// One note's records.
    public struct Note: Sendable {
        /// The note's current position.
        public var snapshot: NoteSnapshot
        /// All control entries; a rekeying has the children that count.
        public var control: [(entry: ControlEntry, children: ChildList?)]
        /// All revisions.
        public var revisions: [RevisionRecord] = []
        /// All comments and stars.
        public var children: [ChildRecord] = []
        /// The keys for members.
        public var wraps: [WrapRecord] = []
    }

    private let held = Mutex(State())

    /// An empty server.
    public init() {}

    /// What the server holds now.
    public var state: State {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }

    /// The answer to a device's request; nil for routes that the server does not have.
    ///
    /// - Throws: `NoteBodyError` if the body is invalid.
    public func answer(
        _ route: NoteRoute, _ body: [UInt8], from author: Author
    ) throws(NoteBodyError) -> [UInt8]? {
        switch route {
        case .push:
            let pushes = try NotePushes(decoding: body).pushes
            return held.withLock { state in
                NotePushOutcomes(pushes.map { state.push($0, author) }).encoded
            }
        case .pull:
            let request = try FeedRequest(decoding: body)
            return state.page(of: author.handle, request).encoded
        case .wait:
            _ = try WaitRequest(decoding: body)
            return WaitAnswer(newest: UInt64(state.feeds[author.handle]?.count ?? 0)).encoded
        case .ownWraps:
            let changes = try OwnWrapChanges(decoding: body).changes
            return held.withLock { state in
                for change in changes {
                    state.tell(author.handle, .ownWrap(change.note, epoch: change.epoch, change.wrap))
                }
                return OwnWrapOutcomes(changes.map { _ in .applied }).encoded
            }
        case .accountKeys: return (state.accountKeys[author.handle] ?? AccountKeys(version: 0)).encoded
        case .putAccountKeys:
            let keys = try AccountKeysChange(decoding: body).keys
            return held.withLock { $0.put(keys, author.handle).encoded }
        case .accountHeads:
            let after = try AccountHeadsRequest(decoding: body).after
            let heads = (state.heads[author.handle] ?? []).filter { $0.head.number > after }
            return AccountHeadsAnswer(heads: heads.map(\.head), notes: heads.last?.notes).encoded
        case .putAccountHead:
            let change = try AccountHeadChange(decoding: body)
            return held.withLock { $0.put(change, author.handle).encoded }
        case .putChunks:
            let upload = try ChunkUpload(decoding: body)
            held.withLock { state in
                for (offset, chunk) in upload.chunks.enumerated() {
                    state.blobs[upload.blob, default: [:]][upload.first + UInt32(offset)] = chunk
                }
            }
            return BlobOutcome.applied.encoded
        case .chunks:
            let request = try ChunkRequest(decoding: body)
            let blob = state.blobs[request.blob] ?? [:]
            return ChunkAnswer((request.first..<request.first + UInt32(request.count)).compactMap { blob[$0] }).encoded
        default: return nil
        }
    }
}

extension PaperNoteServer.State {
    fileprivate mutating func tell(_ handle: Handle, _ item: FeedItem) { feeds[handle, default: []].append(item) }

    fileprivate func page(of handle: Handle, _ request: FeedRequest) -> FeedAnswer {
        let feed = feeds[handle] ?? []
        guard request.cursor <= UInt64(feed.count) else { return .serverWentBack }
        let start = Int(request.cursor)
        let end = min(feed.count, start + Int(request.limit))
        let entries = (start..<end).map { FeedPage.Entry(position: UInt64($0) + 1, item: feed[$0]) }
        return .page(FeedPage(entries: entries, next: UInt64(end), newest: UInt64(feed.count)))
    }

    fileprivate mutating func put(_ keys: AccountKeys, _ handle: Handle) -> AccountKeysOutcome {
        let version = accountKeys[handle]?.version ?? 0
        guard keys.version == version else { return .conflict(version: version) }
        accountKeys[handle] = AccountKeys(
            version: version + 1, password: keys.password, recovery: keys.recovery, devices: keys.devices)
        tell(handle, .accountKeys(version: version + 1))
        return .applied(version: version + 1)
    }

    fileprivate mutating func put(_ change: AccountHeadChange, _ handle: Handle) -> AccountHeadOutcome {
        let last = heads[handle]?.last?.head
        if last == change.head { return .applied }
        guard change.head.previous == last?.hash ?? .none else { return .conflict(last) }
        heads[handle, default: []].append(change)
        return .applied
    }

    fileprivate mutating func push(_ push: NotePush, _ author: Author) -> NotePushOutcome {
        if let answer = answers[push.name] { return answer }
        let note = push.operation.note
        let keys = KnownAuthors([AuthorKeys(pinned: [author.device], of: author.handle)])
        switch PushRules.judge(push.operation, by: author, on: notes[note]?.snapshot, authors: keys) {
        case .conflict:
            return .conflict(
                notes[note].map {
                    NoteHeads.Head(
                        control: ControlView(number: $0.snapshot.control.number, head: $0.snapshot.control.head),
                        revision: $0.snapshot.revision)
                })
        case .refused(let reason): return .refused(reason)
        case .applied(let snapshot):
            apply(push.operation, snapshot, author)
            let outcome = NotePushOutcome.applied(cursor: UInt64(feeds[author.handle]?.count ?? 0))
            answers[push.name] = outcome
            return outcome
        }
    }

    private mutating func apply(_ operation: PushOperation, _ snapshot: NoteSnapshot, _ author: Author) {
        let id = operation.note
        let before = notes[id]?.snapshot.control
        var note = notes[id] ?? PaperNoteServer.Note(snapshot: snapshot, control: [])
        note.snapshot = snapshot
        let members = ([snapshot.control.owner] + snapshot.control.members.keys).filter(snapshot.control.isServed)
        switch operation {
        case .control(let push):
            note.control.append((push.entry, push.children))
            note.wraps += push.wraps
            for handle in members {
                let isNew = before.map { !$0.isServed(handle) } ?? false
                for item in isNew ? note.items : [.control(push.entry, children: push.children)] { tell(handle, item) }
            }
            if case .unshare(let handle, _) = push.entry.action, before?.isServed(handle) == true {
                tell(handle, .left(push.entry))
            }
            if case .leave = push.entry.action { tell(author.handle, .left(push.entry)) }
            for wrap in push.wraps where members.contains(wrap.header.recipient.handle) {
                tell(wrap.header.recipient.handle, .wrap(wrap))
            }
            if let wrap = push.ownWrap { tell(author.handle, .ownWrap(id, epoch: snapshot.control.epoch, wrap)) }
            if let revision = push.revision {
                note.revisions.append(revision)
                for handle in members { tell(handle, .revision(revision)) }
            }
        case .revision(let revision):
            note.revisions.append(revision)
            for handle in members { tell(handle, .revision(revision)) }
        case .child(let child):
            note.children.append(child)
            for handle in members { tell(handle, .child(child)) }
        }
        notes[id] = note
    }
}

extension PaperNoteServer.Note {
    /// The items for a person with whom the note is shared.
    fileprivate var items: [FeedItem] {
        control.map { .control($0.entry, children: $0.children) } + revisions.map { .revision($0) }
            + children.map { .child($0) }
    }
}

/// A device's transport to a ``PaperNoteServer``, and to the real server for everything else. A test may make it fail before or
/// after each notes request, so that the request or the answer is lost.
public struct PaperNoteTransport: HTTPTransport {
    /// The fate of a request.
    public enum Fate: Hashable, Sendable {
        /// The request is answered.
        case arrives
        /// The request never arrives.
        case isLost
        /// The request is carried out, but the answer is lost.
        case answerIsLost
    }

    private let inner: any HTTPTransport
    private let server: PaperNoteServer
    private let author: Author
    private let fate: @Sendable (NoteRoute) async -> Fate

    /// Makes a device's transport.
    public init(
        to server: PaperNoteServer, as author: Author, otherwise inner: any HTTPTransport,
        fate: @escaping @Sendable (NoteRoute) async -> Fate = { _ in .arrives }
    ) {
        self.inner = inner
        self.server = server
        self.author = author
        self.fate = fate
    }

    /// Answers the request, or passes it on.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard let route = NoteRoute.allCases.first(where: { $0.path == request.path }) else {
            return try await inner.send(request)
        }
        let fate = await fate(route)
        guard fate != .isLost else { throw .unreachable }
        guard let body = try? server.answer(route, request.body, from: author) else {
            return TransportResponse(status: 500, mediaType: nil, body: [])
        }
        guard fate != .answerIsLost else { throw .closedEarly }
        return TransportResponse(status: 200, mediaType: Route.nativeMediaType, body: body)
    }
}
