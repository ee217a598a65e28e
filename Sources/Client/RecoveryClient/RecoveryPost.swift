// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import KeyTransparency
import SignetAPI
package import SignetClient
import SocialRecovery

/// The calls to the server's mailbox, and verified lookups of whom one writes to.
package struct RecoveryPost<Store: ClientStore>: Sendable {
    package let client: Client<Store>
    package let secrets: DeviceSecrets

    /// Post of one device.
    package init(_ client: Client<Store>, _ secrets: DeviceSecrets) {
        self.client = client
        self.secrets = secrets
    }

    func now() -> UInt64 { client.surroundings.now() }

    // MARK: Whom one writes to

    /// A person whom the user added, with keys that are verified and accepted.
    func person(_ handle: Handle) async throws(RecoveryClientError) -> LookupVerdict {
        let verdict = try await lookup(handle)
        guard verdict.keys != nil else { throw .notAccepted(handle) }
        return verdict
    }

    func lookup(_ handle: Handle) async throws(RecoveryClientError) -> LookupVerdict {
        try await asking { () throws(ClientError) in try await client.lookup(handle).verdict }
    }

    func asking<Value>(_ body: () async throws(ClientError) -> Value) async throws(RecoveryClientError) -> Value {
        do { return try await body() } catch { throw .client(error) }
    }

    /// Every state of the own account that the log has and the directory shows, in order.
    func ownStates() async throws(RecoveryClientError) -> [AccountState] {
        let history = try await asking { () throws(ClientError) in
            try await client.history(of: secrets.handle, since: OwnWatch.beginning.history)
        }
        return (history?.entries ?? []).compactMap { entry in
            if case .state(_, let state) = entry { state } else { nil }
        }
    }

    // MARK: The mailbox

    func call(
        _ route: RecoveryRoute, _ body: [UInt8], mayRepeat: Bool = true
    ) async throws(RecoveryClientError) -> [UInt8] {
        let signer = route.access == .signed ? secrets : nil
        do { return try await client.call(route, body, signedBy: signer, mayRepeat: signer == nil && mayRepeat) } catch
        {
            throw .client(error)
        }
    }

    /// As ``call(_:_:mayRepeat:)``; nil when the server has it not.
    func find(_ route: RecoveryRoute, _ body: [UInt8]) async throws(RecoveryClientError) -> [UInt8]? {
        do { return try await call(route, body) } catch {
            guard case .client(.refused(.notFound, _)) = error else { throw error }
            return nil
        }
    }

    /// A commitment of an account as its verified state names it; nil when the server has it not.
    func promise(of owner: Handle, _ hash: [UInt8]) async throws(RecoveryClientError) -> RecoveryPromise? {
        let query = RecoveryPromise.Query(owner: owner, commitment: hash)
        guard let answer = try await find(.commitment, query.encoded) else { return nil }
        guard let promise = try? RecoveryPromise(decoding: answer), promise.commitment.hash == hash else {
            throw .malformedAnswer
        }
        return promise
    }

    func verdict(_ route: RecoveryRoute, _ body: [UInt8]) async throws(RecoveryClientError) -> RecoveryVerdict {
        let answer = try await call(route, body)
        guard answer.count == 1, let verdict = RecoveryVerdict(rawValue: answer[0]) else { throw .malformedAnswer }
        return verdict
    }

    /// Seals a letter to a person's first device and leaves it with the server.
    func send(_ letter: GuardianLetter, to person: LookupVerdict) async throws(RecoveryClientError) {
        guard let key = person.lookup.state.devices.first?.keys.kem,
            let sealed = letter.sealed(from: secrets.handle, to: person.handle, key: key)
        else { throw .notAccepted(person.handle) }
        let draft = RecoveryLetter.Draft(to: person.handle, body: sealed)
        switch try await verdict(.send, draft.encoded) {
        case .taken: return
        case .full: throw .boxFull(person.handle)
        case .nobody, .notGuardian: throw .notAccepted(person.handle)
        }
    }

    /// Every letter to this account that this device can open, and the numbers of those that it cannot and may drop: on
    /// the account's first device, to which all are sealed, those that cannot be opened; on another device none.
    func letters() async throws(RecoveryClientError) -> (
        letters: [(number: UInt64, sender: Handle, letter: GuardianLetter)], unreadable: [UInt64]
    ) {
        var found: [(number: UInt64, sender: Handle, letter: GuardianLetter)] = []
        var unreadable: [UInt64] = []
        var last: UInt64 = 0
        while true {
            let body = (0..<8).reversed().map { UInt8(truncatingIfNeeded: last >> (8 * UInt64($0))) }
            let answer = try await call(.letters, body)
            guard let list = try? RecoveryLetterList(decoding: answer).letters else { throw .malformedAnswer }
            guard let end = list.last?.number, end > last else { break }
            last = end
            for letter in list {
                let read = try? secrets.withSealingKey { key in
                    try GuardianLetter(opening: letter.body, from: letter.sender, to: secrets.handle, with: key)
                }
                if let read {
                    found.append((letter.number, letter.sender, read))
                } else {
                    unreadable.append(letter.number)
                }
            }
        }
        if !unreadable.isEmpty, try await !isFirstDevice() { unreadable = [] }
        return (found, unreadable)
    }

    private func isFirstDevice() async throws(RecoveryClientError) -> Bool {
        try await lookup(secrets.handle).lookup.state.devices.first?.keys.signing == secrets.keys.signing
    }

    func drop(_ numbers: [UInt64]) async throws(RecoveryClientError) {
        var rest = numbers[...]
        while !rest.isEmpty {
            _ = try await call(.drop, RecoveryDrop(Array(rest.prefix(RecoveryDrop.maximumCount))).encoded)
            rest = rest.dropFirst(RecoveryDrop.maximumCount)
        }
    }
}
