// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
package import KeyDirectory
package import KeyTransparency
package import RecoveryStore
package import SignetAPI

/// The mailbox of guardians, owners and new devices. It keeps and hands out; it opens nothing.
package struct RecoveryAnswering: PartAnswering {
    let store: MailboxStore
    let directory: Directory
    let clock: @Sendable () -> UInt64

    /// The mailbox beside a directory.
    package init(_ store: MailboxStore, beside directory: Directory, clock: @escaping @Sendable () -> UInt64) {
        self.store = store
        self.directory = directory
        self.clock = clock
    }

    /// Every recovery route.
    package var routes: [any PartRoute] { RecoveryRoute.allCases }

    /// What guardians, owners and new devices left for the account, and what it left for others.
    package func erase(_ handle: Handle) async throws { try await store.erase(handle) }

    /// Lets go of the store.
    package func close() async { store.close() }

    /// One function a route.
    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        guard let route = request.route as? RecoveryRoute else { throw PartRefusal(.notFound) }
        if let caller = request.caller { return try await answer(route, request.body, by: caller) }
        switch route {
        case .askedFile: return try await askedFile(request.body)
        case .commitment: return try await commitment(request.body)
        case .ask: return try await ask(request.body, from: request.client)
        case .answers: return try await answers(request.body)
        default: throw PartRefusal(.notSigned)
        }
    }

    private func answer(
        _ route: RecoveryRoute, _ body: [UInt8], by device: Caller
    ) async throws(PartRefusal) -> [UInt8] {
        let caller = device.handle
        return switch route {
        case .file: try await file(body, of: caller)
        case .storeFile: try await storeFile(body, of: caller)
        case .send: try await send(body, from: device)
        case .letters: try await letters(body, to: caller)
        case .drop: try await drop(body, to: caller)
        case .asked: try await asked(body, from: caller)
        case .answer: try await answer(body, from: caller)
        case .askedFile, .commitment, .ask, .answers: throw PartRefusal(.badRequest)
        }
    }

    // MARK: Signed by a device of an account

    private func send(_ body: [UInt8], from device: Caller) async throws(PartRefusal) -> [UInt8] {
        let draft = try read { try RecoveryLetter.Draft(decoding: body) }
        guard try await state(of: draft.recipient) != nil else { return [RecoveryVerdict.nobody.rawValue] }
        let isFriend = try await areFriends(draft.recipient, device)
        let verdict = try await stored { () throws(MailboxStoreError) in
            try await store.keep(draft, from: device.handle, isFriend: isFriend, at: clock())
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
        let letters = try read { try RecoveryDrop(decoding: body) }
        try await stored { () throws(MailboxStoreError) in try await store.drop(letters, to: recipient) }
        return []
    }

    /// Only a holder of a part of an account learns who asks for it.
    private func asked(_ body: [UInt8], from sender: Handle) async throws(PartRefusal) -> [UInt8] {
        let query = try read { try RecoveryQuery(decoding: body) }
        let asked = try await stored { () throws(MailboxStoreError) in try await store.request(query, from: sender) }
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

    private func file(_ commitment: [UInt8], of owner: Handle) async throws(PartRefusal) -> [UInt8] {
        guard commitment.count == 32 else { throw PartRefusal(.badRequest) }
        let file = try await stored { () throws(MailboxStoreError) in
            try await store.file(under: commitment, of: owner)
        }
        guard let file else { throw PartRefusal(.notFound) }
        return file
    }

    // MARK: Open: a new device has no account device yet

    /// Only while the log shows the request, and only for the device that made it.
    private func askedFile(_ body: [UInt8]) async throws(PartRefusal) -> [UInt8] {
        let fetch = try read { try RecoveryFetch(decoding: body) }
        let begun = try await stored { () throws(MailboxStoreError) in try await store.begun(fetch) }
        guard let begun, try await state(of: begun.owner)?.pendingRecovery == begun.start.hash else {
            throw PartRefusal(.notFound)
        }
        return try await file(begun.start.commitment.hash, of: begun.owner)
    }

    /// The 136 public bytes of a commitment that the account's log names.
    private func commitment(_ body: [UInt8]) async throws(PartRefusal) -> [UInt8] {
        let query = try read { try RecoveryPromise.Query(decoding: body) }
        guard try await named(by: query.owner).contains(query.commitment) else { throw PartRefusal(.notFound) }
        let file = try await stored { () throws(MailboxStoreError) in
            try await store.file(under: query.commitment, of: query.owner)
        }
        guard let file, let promise = RecoveryFile(commitment: query.commitment, bytes: file).promise else {
            throw PartRefusal(.notFound)
        }
        return promise.encoded
    }

    /// The hashes of the commitments that an account's log names: the one in force and the former one.
    func named(by owner: Handle) async throws(PartRefusal) -> [[UInt8]] {
        let state = try await state(of: owner)
        return [state?.recoveryCommitment, state?.formerRecovery?.commitment.hash].compactMap(\.self)
    }

    /// A request is kept when it is by a commitment of the account's; with a start only if the log shows that.
    private func ask(_ body: [UInt8], from client: ClientAddress) async throws(PartRefusal) -> [UInt8] {
        let asking = try read { try RecoveryAsking(decoding: body) }
        guard let state = try await state(of: asking.owner),
            state.isCommitted(to: asking.commitment, at: clock())
                || state.pendingRecovery == asking.start?.hash && asking.start != nil
        else { throw PartRefusal(.notFound) }
        guard asking.start == nil || state.pendingRecovery == asking.start?.hash else { throw PartRefusal(.notFound) }
        let number = try await stored { () throws(MailboxStoreError) in
            try await store.keep(asking, from: client.network, at: clock())
        }
        guard let number else { throw PartRefusal(.tooManyRequests) }
        return number.encoded
    }

    private func answers(_ body: [UInt8]) async throws(PartRefusal) -> [UInt8] {
        let collection = try read { try RecoveryCollection(decoding: body) }
        let answers = try await stored { () throws(MailboxStoreError) in try await store.answers(collection) }
        guard let answers else { throw PartRefusal(.notFound) }
        return answers.encoded
    }

    // MARK: Reading

    private func areFriends(_ handle: Handle, _ caller: Caller) async throws(PartRefusal) -> Bool {
        do { return try await directory.areFriends(handle, caller.handle) } catch { throw PartRefusal(.unavailable) }
    }

    private func state(of handle: Handle) async throws(PartRefusal) -> AccountState? {
        do { return try await directory.publishedState(of: handle) } catch { throw PartRefusal(.unavailable) }
    }

    private func number(_ body: [UInt8]) throws(PartRefusal) -> UInt64 {
        guard body.count == 8 else { throw PartRefusal(.badRequest) }
        return body.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func read<Value>(_ parse: () throws -> Value) throws(PartRefusal) -> Value {
        do { return try parse() } catch { throw PartRefusal(.badRequest) }
    }

    func stored<Value>(
        _ body: () async throws(MailboxStoreError) -> Value
    ) async throws(PartRefusal) -> Value {
        do { return try await body() } catch { throw PartRefusal(.unavailable) }
    }
}
