// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Crypto
import HTTPTypes
import KeyDirectory
import KeyTransparency
import SignetAPI
import Telemetry
import TransparencyLog

/// A request with its body, as the routes see it.
struct ReceivedRequest {
    let destination: Destination
    let method: String
    let path: String
    let signature: String?
    let body: [UInt8]
    let client: ClientAddress
    /// What a registration shows.
    var proof: RegistrationProof?
    /// Whether an answer may come compressed by brotli.
    var acceptsBrotli = false
    /// How large a log the client knows to be published, as a header says (`KnownSize`).
    var knownSize: UInt64?
}

/// One function per route: reads the body, asks the directory, prints the answer.
struct RequestAnswering: Sendable {
    let directory: any DirectoryAnswering
    let parts: PartTable
    let accountRate: RateLimiter<Int64>
    let metrics: ServerMetrics
    let clock: ServerClock
    /// What a request costs beyond what its path says; nil where a test asks without addresses.
    var addressRate: RateLimiter<ClientAddress>?
    /// New accounts of a site's network; nil where a test asks without addresses.
    var registrations: AttemptLimiter<[UInt8]>?
    /// Whether a new account needs an invitation; not asked where there is a desk.
    var registersByInvitation: @Sendable () -> Bool = { false }
    /// Who may register which handle; nil: everybody, or holders of invitations.
    var desk: RegistrationDesk?
    /// Remembers requests that must not come again, for all front ends; nil: the server is the only one.
    var marks: (any SharedMarks)?
    /// What `/ready` looks at.
    var readiness = Readiness()
    /// Who sees what is for operators.
    var operators = OperatorAudience.loopback

    /// Judges what can be judged before the body is there: whether a request that has to be signed says it is, of now,
    /// and, if its body is long, by a device that there is.
    ///
    /// - Parameters:
    ///   - isLong: whether its body may be longer than the directory's own routes take.
    ///   - size: how large a log the client knows to be published; a front end that is behind may not know the device yet.
    func expect(
        _ destination: Destination, signature header: String?, isLong: Bool, knowing size: UInt64?
    ) async throws(Refusal) {
        guard destination.isSigned else { return }
        let signature = try signature(header)
        // What an owner brings again after a loss was signed when it was first brought. The directory judges it.
        if case .route(.register) = destination { return }
        do { try signature.checkTime(at: clock.time()) } catch { throw Refusal(.wrongTime) }
        guard isLong else { return }
        if let size { try await catchUp(to: size) }
        do { try await directory.expect(signature) } catch { throw Refusal(error) }
    }

    /// The answer to a request, refusals included.
    ///
    /// - Throws: ``DirectoryError/stopped``: the process has to end.
    func answer(_ request: ReceivedRequest) async throws(LogStopped) -> Answer {
        do throws(Refusal) {
            if let size = request.knownSize { try await catchUp(to: size) }
            switch request.destination {
            case .route(let route): return try await answer(route, request)
            case .part(let entry): return try await answer(entry, request)
            case .checkpoint: return try await checkpoint()
            case .tile(let tile): return try await file(tile)
            case .page(let page): return try self.page(page, request)
            case .signals: return .refusal(.notFound)
            case .methodNotAllowed(let allowed): return .methodNotAllowed(allowed: allowed)
            case .nothing: return .refusal(.notFound)
            }
        } catch {
            if error.isLogStopped { throw LogStopped() }
            if let limit = error.limit { metrics.refused(limit) }
            return error.answer
        }
    }

    private func catchUp(to size: UInt64) async throws(Refusal) {
        do { try await directory.catchUp(to: size) } catch { throw Refusal(error) }
    }

    private func answer(_ route: Route, _ request: ReceivedRequest) async throws(Refusal) -> Answer {
        switch route {
        case .lookup: try await lookup(request)
        case .history: try await history(request)
        case .milestones: try await milestones(request)
        case .eCallKeys: try await eCallKeys(request)
        case .succession: try await succession()
        case .possession: try await challenge(request)
        case .register: try await register(request)
        case .updateState: try await update(request)
        case .addFriend: try await addFriend(request)
        case .acceptFriend: try await acceptFriend(request)
        case .blockFriend: try await blockFriend(request)
        case .listFriends: try await friends(request)
        case .listFriendsAfter: try await friends(request, after: JSONBody.handle(request.body))
        case .signedFriendRequest: try await signedFriendRequest(request)
        case .health: await health()
        case .ready: await ready()
        case .metrics: try await printMetrics(request)
        }
    }

    // MARK: Open to anyone

    private func lookup(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let question = try read { try LookupRequest(decoding: request.body) }
        do { return .native(try await directory.lookup(question)) } catch { throw Refusal(error) }
    }

    private func history(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let question = try read { try HistoryRequest(decoding: request.body) }
        do { return .native(try await directory.history(question)) } catch { throw Refusal(error) }
    }

    private func milestones(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let question = try read { try MilestonesRequest(decoding: request.body) }
        do { return .native(try await directory.milestones(question)) } catch { throw Refusal(error) }
    }

    private func eCallKeys(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let question = try JSONBody.eCallRequest(request.body)
        if let wait = addressRate?.take(question.cost - 1, of: request.client, at: clock.uptime()) {
            throw Refusal(.addressRate, .tooManyRequests(after: wait))
        }
        do { return .json(try await directory.eCallKeys(question)) } catch { throw Refusal(error) }
    }

    private func succession() async throws(Refusal) -> Answer {
        let chain: [UInt8]?
        do { chain = try await directory.succession() } catch { throw Refusal(error) }
        return chain.map { .native($0) } ?? .refusal(.notFound)
    }

    private func challenge(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let question = try read { try PossessionRequest(decoding: request.body) }
        do { return .native(try await directory.challenge(question).encoded) } catch { throw Refusal(error) }
    }

    // MARK: Signed by a device

    private func register(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        try await traced(.registration) { span throws(Refusal) in try await register(request, span) }
    }

    private func register(_ request: ReceivedRequest, _ span: ServerSpan) async throws(Refusal) -> Answer {
        let (signature, content) = try signed(request)
        let submission = try read { try StateSubmission(decoding: request.body) }
        span.set(.bodyBytes, request.body.count)
        span.set(.devices, submission.state.devices.count)
        // A new device's step of a recovery is not a new account, and waits for no registration.
        let site = submission.state.version == 1 ? request.client.site : nil
        if let site, let registrations, !registrations.take(of: site, at: clock.uptime()) {
            throw Refusal(.registrations, .tooManyRequests(after: registrations.interval))
        }
        let applicant = RegistrationDesk.Applicant(
            handle: submission.state.handle, deviceKey: signature.deviceKey, proof: request.proof)
        do {
            let right = await traced(.registrationPolicy) { _ in admission(of: applicant) }
            let receipt = try await traced(.registrationAcceptance) { _ throws(DirectoryError) in
                try await directory.register(submission, signature, content, admitting: right) {
                    await admit(applicant.handle)
                }
            }
            if site != nil { metrics.registered() }
            desk?.registered(applicant)
            return .native(receipt.encoded)
        } catch {
            // A mail costs what a registration does.
            if case .refused(.codeSent) = error, let desk {
                throw Refusal(
                    await traced(.registrationMail) { _ in await desk.sendCode(to: applicant, at: clock.uptime()) })
            }
            if let site, !Self.mayHaveStored(error) { registrations?.giveBack(to: site) }
            throw Refusal(error)
        }
    }

    /// The parts keep nothing for an account that was erased; the next holder of its handle is another account.
    private func admit(_ handle: Handle) async {
        await traced(.registrationParts) { _ in
            for part in parts.all { await part.admit(handle) }
        }
    }

    private func admission(of applicant: RegistrationDesk.Applicant) -> RegistrationRight {
        if let desk { return desk.right(of: applicant, at: clock) }
        let invitation: Invitation? = if case .invitation(let shown) = applicant.proof { shown } else { nil }
        return registersByInvitation() ? .holder(of: invitation) : .anyone(holding: invitation)
    }

    /// Whether the account may be in the database although its registration has no receipt yet.
    private static func mayHaveStored(_ error: DirectoryError) -> Bool {
        switch error {
        case .refused(.unwitnessed), .refused(.unavailable), .stopped, .database: true
        case .refused: false
        }
    }

    private func update(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let caller = try await caller(of: request)
        let submission = try read { try StateSubmission(decoding: request.body) }
        do { return .native(try await directory.update(submission, by: caller).encoded) } catch {
            throw Refusal(error)
        }
    }

    private func addFriend(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let caller = try await caller(of: request)
        let handle = try JSONBody.handle(request.body)
        let friend: FriendAnswer
        let network = request.client.network
        do {
            friend = try await directory.addFriend(handle, by: caller, saying: request.body, from: network)
        } catch { throw Refusal(error) }
        return .json(try JSONBody.encode(friend))
    }

    private func acceptFriend(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let caller = try await caller(of: request)
        let handle = try JSONBody.handle(request.body)
        let friend: FriendAnswer
        do { friend = try await directory.acceptFriend(handle, by: caller, saying: request.body) } catch {
            throw Refusal(error)
        }
        return .json(try JSONBody.encode(friend))
    }

    private func blockFriend(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let caller = try await caller(of: request)
        let handle = try JSONBody.handle(request.body)
        let answer: FriendAnswer
        do { answer = try await directory.blockFriend(handle, by: caller) } catch { throw Refusal(error) }
        return .json(try JSONBody.encode(answer))
    }

    private func signedFriendRequest(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let caller = try await caller(of: request)
        let handle = try JSONBody.handle(request.body)
        do { return .native(try await directory.signedFriendRequest(of: handle, to: caller)) } catch {
            throw Refusal(error)
        }
    }

    private func friends(_ request: ReceivedRequest, after handle: Handle? = nil) async throws(Refusal) -> Answer {
        let caller = try await caller(of: request)
        guard handle != nil || request.body.isEmpty else { throw Refusal(.badRequest) }
        let friends: FriendList
        do { friends = try await directory.friends(of: caller, after: handle) } catch { throw Refusal(error) }
        return .json(try JSONBody.encode(friends))
    }

    /// The device that signed the request, within its account's rate, if the account is not suspended or the request protects it.
    func caller(of request: ReceivedRequest) async throws(Refusal) -> Caller {
        let (signature, content) = try signed(request)
        let signer: Signer
        do { signer = try await directory.signer(of: signature, content) } catch { throw Refusal(error) }
        if let wait = accountRate.take(of: signer.accountID, at: clock.uptime()) {
            throw Refusal(.accountRate, .tooManyRequests(after: wait))
        }
        let protectsAccount = request.destination.protectsAccount
        let caller: Caller
        do { caller = try directory.admit(signer, protectsAccount: protectsAccount) } catch { throw Refusal(error) }
        if let marks, !request.destination.isRepeatable { try await mark(signature, in: marks) }
        return caller
    }

    /// Each front end remembers the nonces that it saw; what must not come again at another one is remembered for all.
    private func mark(_ signature: RequestSignature, in marks: any SharedMarks) async throws(Refusal) {
        let end = signature.time + RequestSignature.maximumClockDifference + 1
        let isFirst: Bool
        do {
            isFirst = try await marks.take(
                Array(SHA256.hash(data: signature.deviceKey + signature.nonce)), until: end)
        } catch { throw Refusal(.unavailable) }
        guard isFirst else { throw Refusal(.replayed) }
    }

    private func signed(
        _ request: ReceivedRequest
    ) throws(Refusal) -> (RequestSignature, RequestSignature.Content) {
        let content = RequestSignature.Content(
            method: request.method, path: request.path, origin: directory.origin, body: request.body)
        return (try signature(request.signature), content)
    }

    private func signature(_ header: String?) throws(Refusal) -> RequestSignature {
        guard let header, let signature = try? RequestSignature(headerValue: Array(header.utf8)) else {
            throw Refusal(.notSigned)
        }
        return signature
    }

    // MARK: The parts beside the directory

    private func answer(_ entry: PartTable.Entry, _ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let caller: Caller? =
            switch entry.route.access {
            case .open: nil
            case .signed: try await caller(of: request)
            }
        let question = PartRequest(route: entry.route, body: request.body, caller: caller, client: request.client)
        do { return .native(try await entry.part.answer(question)) } catch { throw Refusal(error.code) }
    }

    // MARK: The log's files

    private func checkpoint() async throws(Refusal) -> Answer {
        let note: [UInt8]
        do { note = try await directory.checkpoint() } catch { throw Refusal(error) }
        return .checkpoint(note)
    }

    private func file(_ tile: Tile) async throws(Refusal) -> Answer {
        let bytes: [UInt8]?
        do { bytes = try await directory.tile(tile) } catch { throw Refusal(error) }
        guard let bytes else { throw Refusal(.notFound) }
        return .tile(bytes)
    }

    // MARK: For browsers

    private func page(_ page: ExplorerFiles.Page, _ request: ReceivedRequest) throws(Refusal) -> Answer {
        guard let explorer = parts.explorer else { throw Refusal(.notFound) }
        return try explorer.answer(page, acceptsBrotli: request.acceptsBrotli)
    }

    // MARK: For operators

    private func health() async -> Answer {
        await directory.condition().isAlive ? .text("ok\n") : .refusal(.unavailable)
    }

    private func ready() async -> Answer {
        guard operators != .elsewhere else { return .refusal(.notFound) }
        return readiness.answer(of: await directory.condition(), at: clock.time())
    }

    private func printMetrics(_ request: ReceivedRequest) async throws(Refusal) -> Answer {
        let isShown =
            switch operators {
            case .loopback: request.client.isLoopback
            case .everyone: true
            case .elsewhere: false
            }
        guard isShown else { throw Refusal(.notFound) }
        let text = metrics.text(await directory.condition(), readiness, at: clock.time())
        return Answer(mediaType: PrometheusText.mediaType, body: text)
    }

    private func read<Value>(_ parse: () throws -> Value) throws(Refusal) -> Value {
        do { return try parse() } catch { throw Refusal(.badRequest) }
    }
}

/// The log has failed for good.
struct LogStopped: Error {}
