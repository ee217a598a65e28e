// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import PinnedHTTP
import SignetAPI
import SignetTesting
import Testing
import TransparencyLog

@testable import SignetClient

/// A client of a directory with several front ends, one of which has not come as far as the others. It keeps no evidence against an honest
/// directory, and says in time what an honest directory would not do.
@Suite struct FrontEndTests {
    private let alice: Handle
    private let bob: Handle

    init() throws {
        alice = try Handle(typed: Array("alice@example.org".utf8))
        bob = try Handle(typed: Array("bob@example.org".utf8))
    }

    /// A clock whose waits are over at once.
    private var impatient: FrontEnd { FrontEnd { _ in } }

    /// A client that has seen a person register at the front end that is ahead, at the one that is behind.
    private func late(
        _ fronts: TwoFrontEnds, after seconds: UInt64 = 0
    ) async throws -> (client: Client<InMemoryStore>, store: InMemoryStore, size: UInt64) {
        let store = InMemoryStore()
        _ = try await fronts.ahead.person("bob@example.org")
        _ = try await fronts.ahead.client(nil, remembering: store).lookup(bob)
        let now = Surroundings.system.now() + seconds
        let client = try fronts.behind.client(nil, remembering: store, now: { now })
        return (client, store, try #require(try await client.logView()).head.size)
    }

    private func error<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> ClientError? {
        do {
            _ = try await body()
            return nil
        } catch let error as ClientError { return error }
    }

    /// The mishap: a front end that believes to be the only one makes an honest client keep evidence of a rollback.
    @Test func aFrontEndThatShowsLessGivesEvidenceOfARollback() async throws {
        try await TwoFrontEnds.run(nil) { fronts in
            let (client, store, _) = try await late(fronts)
            guard case .lookup(let refusal) = try await error({ try await client.lookup(alice) }),
                case .consistency(let contradiction) = refusal.error
            else {
                Issue.record("no contradiction")
                return
            }
            #expect(contradiction.fault == .rollback)
            #expect(try await store.evidence().count == 1)
            guard case .log(.contradiction) = try await error({ try await client.logTail(1) }) else {
                Issue.record("no contradiction in the log's files")
                return
            }
        }
    }

    @Test func aFrontEndThatIsBehindGivesNoEvidence() async throws {
        try await TwoFrontEnds.run(impatient) { fronts in
            let (client, store, size) = try await late(fronts)
            for error in [
                try await error { try await client.lookup(alice) }, try await error { try await client.logTail(1) },
                try await error { try await client.verifyLog() },
                try await error { try await client.history(of: alice, since: OwnWatch.beginning.history) },
            ] {
                #expect(error == .refused(.behind, retryAfter: 1))
                #expect(error?.family == .environment)
            }
            #expect(try await store.evidence().isEmpty)
            // Nor is anything less than before believed.
            #expect(try await client.logView()?.head.size == size)
        }
    }

    /// The attack: a log went back, and all its servers say that they are behind.
    @Test func whoIsBehindForTooLongShowsLess() async throws {
        try await TwoFrontEnds.run(impatient) { fronts in
            let (client, store, shown) = try await late(fronts, after: KnownSize.patience + 60)
            for error in [
                try await error { try await client.lookup(alice) }, try await error { try await client.logTail(1) },
                try await error { try await client.history(of: alice, since: OwnWatch.beginning.history) },
            ] {
                guard case .showsLess(let size, _) = error else {
                    Issue.record("\(error.debugDescription)")
                    continue
                }
                #expect(size == shown)
                #expect(error?.family == .peer)
            }
            #expect(try await store.evidence().isEmpty)
        }
    }

    /// Exactly at the bound, by the time that the witnesses vouched for.
    @Test func theBoundIsTenMinutesAfterTheViewWasCosigned() async throws {
        try await TwoFrontEnds.run(impatient) { fronts in
            let (client, _, _) = try await late(fronts)
            let view = try #require(try await client.logView())
            let shown = try #require(try SignedNote(decoding: view.note).lastCosigned)
            let behind = ClientError.refused(.behind, retryAfter: nil)
            #expect(behind.judged(knowing: view, at: shown + 600) == behind)
            #expect(behind.judged(knowing: view, at: shown + 601) == .showsLess(than: view.head.size, since: shown))
            #expect(behind.judged(knowing: view, at: 0) == behind)
            #expect(behind.judged(knowing: nil, at: .max) == behind)
            let other = ClientError.refused(.unavailable, retryAfter: nil)
            #expect(other.judged(knowing: view, at: .max) == other)
        }
    }

    /// A front end that comes as far while the client asks again.
    @Test func theClientAsksAgain() async throws {
        try await TwoFrontEnds.run(impatient) { fronts in
            let (_, store, _) = try await late(fronts)
            let behind = TransportResponse(
                status: 503, mediaType: "application/json", retryAfter: 1, body: Array(#"{"error":"behind"}"#.utf8))
            let transport = ScriptedTransport(try NIOTransport(to: fronts.ahead.profile)) { request, number in
                request.path == Route.lookup.path && number < 3 ? .answer(behind) : .pass
            }
            let client = try fronts.ahead.client(nil, over: transport, remembering: store)
            guard case .registered = try await client.lookup(alice) else {
                Issue.record("not registered")
                return
            }
            #expect(transport.paths.count == 3)
        }
    }

    /// The mishap and its mend: one front end takes a registration, and the new device asks another one for something.
    @Test(arguments: [false, true]) func aNewDeviceIsNotRefusedForGoodAtAFrontEndThatIsBehind(
        isKnown: Bool
    ) async throws {
        try await TwoFrontEnds.run(impatient) { fronts in
            let secrets = try DeviceSecrets.generate(
                for: Handle(typed: Array("carol@example.org".utf8)), withIdentity: true)
            let store = InMemoryStore()
            _ = try await fronts.ahead.client(secrets, remembering: store).createAccount(secrets)
            let client = try fronts.behind.client(secrets, remembering: isKnown ? store : InMemoryStore())
            let found = try await error { try await client.friends(of: secrets) }
            #expect(found == (isKnown ? .refused(.behind, retryAfter: 1) : .refused(.notYourAccount, retryAfter: nil)))
        }
    }

    /// The mishap and its mend: one front end takes a registration, another is asked whether the log shows it.
    @Test(arguments: [false, true]) func aRegistrationIsNotMissedAtAFrontEndThatIsBehind(isKnown: Bool) async throws {
        try await TwoFrontEnds.run(isKnown ? impatient : nil) { fronts in
            let carol = try Handle(typed: Array("carol@example.org".utf8))
            let secrets = try DeviceSecrets.generate(for: carol, withIdentity: true)
            let transport = SplitTransport(
                registering: try NIOTransport(to: fronts.ahead.profile),
                asking: try NIOTransport(to: fronts.behind.profile))
            let store = InMemoryStore()
            let client = try fronts.ahead.client(secrets, over: transport, remembering: store)
            let found = try await error { try await client.createAccount(secrets) }
            #expect(found == (isKnown ? .refused(.behind, retryAfter: 1) : .notWhatWasSent))
            // Nothing is lost: the next try finds it.
            let again = try fronts.ahead.client(secrets, remembering: store)
            if isKnown { #expect(try await again.finishPending(secrets) != nil) }
        }
    }
}
