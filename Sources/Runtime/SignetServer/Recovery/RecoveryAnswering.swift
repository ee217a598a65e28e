package import KeyDirectory
import KeyTransparency
package import RecoveryStore
package import SignetAPI

/// The mailbox of guardians, owners and new devices. It keeps and hands out; it opens nothing.
package struct RecoveryAnswering: PartAnswering {
    private let store: MailboxStore
    private let directory: Directory
    private let clock: @Sendable () -> UInt64

    /// The mailbox beside a directory.
    package init(_ store: MailboxStore, beside directory: Directory, clock: @escaping @Sendable () -> UInt64) {
        self.store = store
        self.directory = directory
        self.clock = clock
    }

    /// Every recovery route.
    package var routes: [any PartRoute] { RecoveryRoute.allCases }

    /// Lets go of the store.
    package func close() async { store.close() }

    /// One function a route.
    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        guard let route = request.route as? RecoveryRoute else { throw PartRefusal(.notFound) }
        if let caller = request.caller { return try await answer(route, request.body, by: caller.handle) }
        switch route {
        case .file: return try await file(request.body)
        case .ask: return try await ask(request.body)
        case .answers: return try await answers(request.body)
        default: throw PartRefusal(.notSigned)
        }
    }

    private func answer(
        _ route: RecoveryRoute, _ body: [UInt8], by caller: Handle
    ) async throws(PartRefusal) -> [UInt8] {
        switch route {
        case .storeFile: try await storeFile(body, of: caller)
        case .send: try await send(body, from: caller)
        case .letters: try await letters(body, to: caller)
        case .drop: try await drop(body, to: caller)
        case .asked: try await asked(body)
        case .answer: try await answer(body, from: caller)
        case .file, .ask, .answers: throw PartRefusal(.badRequest)
        }
    }

    // MARK: Signed by a device of an account

    private func storeFile(_ body: [UInt8], of owner: Handle) async throws(PartRefusal) -> [UInt8] {
        let file = try read { try RecoveryFile(decoding: body) }
        try await stored { () throws(MailboxStoreError) in try await store.keep(file, of: owner, at: clock()) }
        return []
    }

    private func send(_ body: [UInt8], from sender: Handle) async throws(PartRefusal) -> [UInt8] {
        let draft = try read { try RecoveryLetter.Draft(decoding: body) }
        guard try await state(of: draft.recipient) != nil else { return [RecoveryVerdict.nobody.rawValue] }
        let verdict = try await stored { () throws(MailboxStoreError) in
            try await store.keep(draft, from: sender, at: clock())
        }
        return [verdict.rawValue]
    }

    private func letters(_ body: [UInt8], to recipient: Handle) async throws(PartRefusal) -> [UInt8] {
        let after = try number(body)
        return try await stored { () throws(MailboxStoreError) in
            try await store.letters(to: recipient, after: after).encoded
        }
    }

    private func drop(_ body: [UInt8], to recipient: Handle) async throws(PartRefusal) -> [UInt8] {
        let last = try number(body)
        try await stored { () throws(MailboxStoreError) in try await store.drop(lettersTo: recipient, upTo: last) }
        return []
    }

    private func asked(_ body: [UInt8]) async throws(PartRefusal) -> [UInt8] {
        let owner = try read { try Handle(canonical: body) }
        let asked = try await stored { () throws(MailboxStoreError) in try await store.request(of: owner) }
        guard let asked else { throw PartRefusal(.notFound) }
        return asked.encoded
    }

    private func answer(_ body: [UInt8], from sender: Handle) async throws(PartRefusal) -> [UInt8] {
        let answer = try read { try RecoveryAnswer(decoding: body) }
        let verdict = try await stored { () throws(MailboxStoreError) in
            try await store.keep(answer, from: sender, at: clock())
        }
        return [verdict.rawValue]
    }

    // MARK: Open: a new device has no account device yet

    private func file(_ body: [UInt8]) async throws(PartRefusal) -> [UInt8] {
        guard body.count > 32 else { throw PartRefusal(.badRequest) }
        let owner = try read { try Handle(canonical: Array(body.dropFirst(32))) }
        let file = try await stored { () throws(MailboxStoreError) in
            try await store.file(under: Array(body.prefix(32)), of: owner)
        }
        guard let file else { throw PartRefusal(.notFound) }
        return file
    }

    /// Nothing is kept for strangers but what the log shows.
    private func ask(_ body: [UInt8]) async throws(PartRefusal) -> [UInt8] {
        let asking = try read { try RecoveryAsking(decoding: body) }
        guard try await state(of: asking.owner)?.pendingRecovery == asking.start.hash else {
            throw PartRefusal(.notFound)
        }
        try await stored { () throws(MailboxStoreError) in try await store.keep(asking, at: clock()) }
        return []
    }

    private func answers(_ body: [UInt8]) async throws(PartRefusal) -> [UInt8] {
        let collection = try read { try RecoveryCollection(decoding: body) }
        let answers = try await stored { () throws(MailboxStoreError) in try await store.answers(collection) }
        guard let answers else { throw PartRefusal(.notFound) }
        return answers.encoded
    }

    // MARK: Reading

    private func state(of handle: Handle) async throws(PartRefusal) -> AccountState? {
        do { return try await directory.publishedState(of: handle) } catch { throw PartRefusal(.unavailable) }
    }

    private func number(_ body: [UInt8]) throws(PartRefusal) -> UInt64 {
        guard body.count == 8 else { throw PartRefusal(.badRequest) }
        return body.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func read<Value>(_ parse: () throws -> Value) throws(PartRefusal) -> Value {
        do { return try parse() } catch { throw PartRefusal(.badRequest) }
    }

    private func stored<Value>(
        _ body: () async throws(MailboxStoreError) -> Value
    ) async throws(PartRefusal) -> Value {
        do { return try await body() } catch { throw PartRefusal(.unavailable) }
    }
}
