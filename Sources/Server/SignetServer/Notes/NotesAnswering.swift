// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
package import KeyTransparency
import NoteLog
import NoteStore
import NotesAPI
import ServiceLifecycle
package import SignetAPI

/// The notes: reads bodies, asks the store or the login desk, prints answers.
package struct NotesAnswering: PartAnswering {
    private let store: NoteArchive
    private let desk: LoginServer
    private let logged: LoggedNotes?
    private let areFriends: AreFriends?

    /// Whether two people have accepted each other.
    package typealias AreFriends = @Sendable (Handle, Handle) async throws -> Bool

    /// Answers from `store`; `desk` answers what passwords are about, `logged` what the directory's log says of notes. `areFriends`
    /// says who may share notes with whom; nil: every account with every name.
    init(_ store: NoteArchive, _ desk: LoginServer, _ logged: LoggedNotes?, areFriends: AreFriends? = nil) {
        self.store = store
        self.desk = desk
        self.logged = logged
        self.areFriends = areFriends
    }

    package var routes: [any PartRoute] { NoteRoute.allCases }

    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        guard let route = request.route as? NoteRoute else { throw PartRefusal(.notFound) }
        switch route {
        case .beginLogin: return try await desk.begin(read(request), from: request.client).encoded
        case .endLogin: return try await desk.end(read(request)).encoded
        default: return try await answer(route, request, by: requester(of: request))
        }
    }

    package func keepUp() async {
        await logged?.keepUp()
        if Task.isCancelled { return }
        await store.keepUpObjects()
    }

    package func erase(_ handle: Handle) async throws { try await store.erase(handle, keepsPlace: false) }

    package func admit(_ handle: Handle) async { store.admit(handle) }

    package func usedByteCount(of handle: Handle) async throws -> UInt64 { try await store.usedByteCount(of: handle) }

    package func quota(of handle: Handle) async throws -> UInt64? { try await store.quota(of: handle) }

    package func setQuota(_ byteCount: UInt64?, of handle: Handle) async throws {
        try await store.setQuota(byteCount, of: handle)
    }

    package func close() async { store.close() }

    private func answer(
        _ route: NoteRoute, _ request: PartRequest, by requester: Author
    ) async throws(PartRefusal) -> [UInt8] {
        switch route {
        case .push, .pull, .wait, .ownWraps: try await answerSync(route, request, by: requester)
        case .putChunks, .chunks, .dropBlob: try await answerFile(route, request, by: requester)
        case .loggedHeads, .childList: try await answerLogged(route, request, for: requester.handle)
        default: try await answerAccount(route, request, by: requester)
        }
    }

    // MARK: Notes

    private func answerSync(
        _ route: NoteRoute, _ request: PartRequest, by requester: Author
    ) async throws(PartRefusal) -> [UInt8] {
        do {
            switch route {
            case .push: return try await push(read(request), by: requester).encoded
            case .pull: return try await store.pull(read(request), of: requester.handle)
            case .ownWraps: return try await store.put(read(request) as OwnWrapChanges, by: requester.handle).encoded
            default: return try await wait(read(request), requester).encoded
            }
        } catch { throw PartRefusal(any: error) }
    }

    /// A shared note goes into the recipient's feed and onto their devices, so it is taken only from people whom the
    /// recipient has accepted. So nothing goes to a name without an account, which would get a permanent row and feed
    /// that no account pays for.
    private func push(_ pushes: NotePushes, by requester: Author) async throws -> NotePushOutcomes {
        guard let areFriends else { return try await store.push(pushes, by: requester) }
        var outcomes: [NotePushOutcome] = []
        for push in pushes.pushes {
            if case .control(let step) = push.operation, case .share(let handle, _) = step.entry.action,
                try await !areFriends(handle, requester.handle)
            {
                outcomes.append(.refused(.forbidden))
            } else {
                outcomes += try await store.push(NotePushes([push]), by: requester).outcomes
            }
        }
        return NotePushOutcomes(outcomes)
    }

    /// Waiting callers are answered when the server is told to stop.
    private func wait(_ request: WaitRequest, _ requester: Author) async throws -> WaitAnswer {
        try await withGracefulShutdownHandler {
            try await store.wait(request, of: requester.handle)
        } onGracefulShutdown: {
            store.stopWaiting()
        }
    }

    // MARK: The log

    private func answerLogged(
        _ route: NoteRoute, _ request: PartRequest, for handle: Handle
    ) async throws(PartRefusal) -> [UInt8] {
        do {
            switch route {
            case .loggedHeads:
                let question: LoggedHeadsRequest = try read(request)
                guard let logged else { throw PartRefusal(.notFound) }
                return try await logged.heads(question, for: handle).encoded
            default:
                let question: ChildListRequest = try read(request)
                guard let logged else { throw PartRefusal(.notFound) }
                return try await logged.children(question, for: handle).encoded
            }
        } catch { throw PartRefusal(any: error) }
    }

    // MARK: Files

    private func answerFile(
        _ route: NoteRoute, _ request: PartRequest, by requester: Author
    ) async throws(PartRefusal) -> [UInt8] {
        do {
            switch route {
            case .putChunks: return try await store.put(read(request) as ChunkUpload, by: requester.handle).encoded
            case .chunks: return try await store.chunks(read(request), for: requester.handle).encoded
            default: return try await store.drop(read(request), by: requester.handle).encoded
            }
        } catch { throw PartRefusal(any: error) }
    }

    // MARK: The account

    private func answerAccount(
        _ route: NoteRoute, _ request: PartRequest, by requester: Author
    ) async throws(PartRefusal) -> [UInt8] {
        let handle = requester.handle
        do {
            switch route {
            case .accountKeys:
                guard request.body.isEmpty else { throw PartRefusal(.badRequest) }
                return try await store.accountKeys(of: handle).encoded
            case .putAccountKeys: return try await store.change(read(request), of: handle).encoded
            case .accountHeads: return try await store.heads(read(request), of: handle).encoded
            case .putAccountHead: return try await store.put(read(request), by: requester).encoded
            case .beginRegistration: return try desk.evaluate(read(request), for: handle).encoded
            case .endRegistration: return try await desk.register(read(request), for: handle).encoded
            default: return try await erase(read(request), requester)
            }
        } catch { throw PartRefusal(any: error) }
    }

    private func erase(_ request: NotesErasure, _ requester: Author) async throws -> [UInt8] {
        guard request.handle == requester.handle else { throw PartRefusal(.badRequest) }
        try await store.erase(requester.handle, keepsPlace: true)
        return []
    }

    // MARK: Reading

    private func read<Body: NoteBody>(_ request: PartRequest) throws(PartRefusal) -> Body {
        do { return try Body(decoding: request.body) } catch { throw PartRefusal(.badRequest) }
    }

    private func requester(of request: PartRequest) throws(PartRefusal) -> Author {
        guard let caller = request.caller else { throw PartRefusal(.notSigned) }
        desk.remember(caller.handle, at: request.client)
        return Author(handle: caller.handle, device: caller.deviceKey)
    }
}

extension PartRefusal {
    /// A refusal of ours stays one; a store that cannot now may be asked again.
    fileprivate init(any error: any Error) { self = error as? PartRefusal ?? PartRefusal(.unavailable) }
}
