// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Foundation
import KeyTransparency
import NoteStore
import NotesAPI
import OPAQUE
import ProtocolTesting
import Synchronization
import Testing

@testable import SignetServer

/// Logins with a password over a real TLS socket, and what they tell a client that guesses.
@Suite struct LoginTests {
    private static let password = Array("correct horse".utf8)

    private func parameters(_ handle: Handle) throws -> LoginParameters {
        try LoginParameters(context: LoginBinding.context, clientIdentity: handle.bytes)
    }

    private func register(_ alice: NotesPerson, _ notes: NotesClient, version: UInt64 = 0) async throws {
        let registration = try ClientRegistration(password: Self.password.span)
        let evaluated: RegistrationEvaluation? = try await notes.call(
            .beginRegistration, RegistrationBeginning(message: registration.request.encoded), by: alice)
        let (record, _) = try registration.finish(
            RegistrationResponse(decoding: #require(evaluated).message), password: Self.password.span,
            parameters: parameters(alice.writer.handle), stretching: .identity)
        let end = try RegistrationEnd(version: version, record: record.encoded, wrap: [4, 5, 6])
        let outcome: AccountKeysOutcome? = try await notes.call(.endRegistration, end, by: alice)
        #expect(outcome == .applied(version: version + 1))
    }

    /// The first message of a login, and its answer.
    private func begin(
        _ handle: Handle, _ password: [UInt8], _ client: TestClient
    ) async throws -> (login: ClientLogin, answer: HTTPAnswer?) {
        let login = try ClientLogin(password: password.span)
        let body = try LoginBeginning(handle: handle, message: login.request.encoded)
        return (login, try await client.call(NoteRoute.beginLogin, body.encoded))
    }

    private func finish(
        _ login: ClientLogin, _ answer: HTTPAnswer?, _ handle: Handle, _ password: [UInt8]
    ) throws -> (end: LoginEnd, outcome: ClientLogin.Outcome) {
        let challenge = try LoginChallenge(decoding: #require(answer).body)
        let outcome = try login.finish(
            LoginResponse(decoding: challenge.message), password: password.span, parameters: parameters(handle),
            stretching: .identity)
        return (try LoginEnd(login: challenge.login, message: outcome.proof.encoded), outcome)
    }

    @Test func aPasswordAloneFetchesTheWrapOfTheMasterKey() async throws {
        try await withNotes { notes in
            let alice = try await notes.join("alice")
            try await register(alice, notes)
            let handle = alice.writer.handle
            let (login, answer) = try await begin(handle, Self.password, notes.client)
            let (end, outcome) = try finish(login, answer, handle, Self.password)
            let granted = try await notes.client.call(NoteRoute.endLogin, end.encoded)
            guard case .granted(let sealed) = try LoginAnswer(decoding: #require(granted).body) else {
                Issue.record("refused")
                return
            }
            let grant = try LoginGrant(opening: sealed, with: outcome.sessionKey, login: end.login)
            #expect(grant == LoginGrant(version: 1, wrap: [4, 5, 6]))
            // The same proof again, for a login that has ended.
            let again = try await notes.client.call(NoteRoute.endLogin, end.encoded)
            #expect(try LoginAnswer(decoding: #require(again).body) == .refused)
        }
    }

    @Test func aClientWithAWrongPasswordCannotFinishTheLogin() async throws {
        try await withNotes { notes in
            let alice = try await notes.join("alice")
            try await register(alice, notes)
            let wrong = Array("battery staple".utf8)
            let (login, answer) = try await begin(alice.writer.handle, wrong, notes.client)
            #expect(throws: OPAQUEError.notOpened) {
                try finish(login, answer, alice.writer.handle, wrong)
            }
        }
    }

    /// An account with another password, an account without one, and no account.
    @Test func anUnknownHandleIsAnsweredLikeAKnownOne() async throws {
        try await withNotes { notes in
            let (alice, bob) = try await (notes.join("alice"), notes.join("bob"))
            try await register(alice, notes)
            let nobody = try Handle(typed: Array("nobody@example.org".utf8))
            var answers: [[String]] = []
            for handle in [alice.writer.handle, bob.writer.handle, nobody] {
                let (login, answer) = try await begin(handle, Array("guess".utf8), notes.client)
                #expect(throws: OPAQUEError.notOpened) { try finish(login, answer, handle, Array("guess".utf8)) }
                let challenge = try LoginChallenge(decoding: #require(answer).body)
                let guess = try LoginEnd(login: challenge.login, message: [UInt8](repeating: 7, count: 64))
                let end = try await notes.client.call(NoteRoute.endLogin, guess.encoded)
                answers.append(
                    [answer, end].map { answer in
                        let headers = answer?.headers.filter { $0.key != "date" }.sorted { $0.key < $1.key }
                        return "\(answer?.status ?? 0) \(answer?.body.count ?? 0) \(headers ?? [])"
                    } + ["\(end?.body ?? [])"])
            }
            #expect(Set(answers).count == 1)
        }
    }

    @Test func guessesAreLimitedForKnownAndUnknownHandles() async throws {
        var limits = LoginLimits()
        limits.account = LoginLimits.Rate(burst: 2, secondsPerAttempt: 3600)
        try await withNotes(limits) { notes in
            let alice = try await notes.join("alice")
            try await register(alice, notes)
            let nobody = try Handle(typed: Array("nobody@example.org".utf8))
            for handle in [alice.writer.handle, nobody] {
                var statuses: [Int?] = []
                for _ in 0..<3 {
                    statuses.append(try await begin(handle, Array("guess".utf8), notes.client).answer?.status)
                }
                #expect(statuses == [200, 200, 429])
            }
        }
    }

    /// The attack: a person who knows the handle uses up the attempts of unknown addresses, from as many addresses as
    /// they like. The owner logs in from an address where one of their devices has been.
    @Test func guessesFromOtherAddressesDoNotLockOutTheOwner() async throws {
        var limits = LoginLimits()
        limits.strangers = LoginLimits.Rate(burst: 3, secondsPerAttempt: 3600)
        try await withNotes(limits) { notes in
            let alice = try await notes.join("alice")
            try await register(alice, notes)
            let handle = alice.writer.handle
            var statuses: [Int?] = []
            for number in 2...9 {
                var stranger = notes.client
                stranger.source = "127.0.0.\(number)"
                statuses.append(try await begin(handle, Array("guess".utf8), stranger).answer?.status)
            }
            #expect(statuses == [200, 200, 200, 429, 429, 429, 429, 429])
            let (login, answer) = try await begin(handle, Self.password, notes.client)
            try #require(answer?.status == 200)
            let (end, _) = try finish(login, answer, handle, Self.password)
            let granted = try await notes.client.call(NoteRoute.endLogin, end.encoded)
            #expect(granted?.body.first == 1)
        }
    }

    @Test func aSuccessfulLoginIsNotCountedAsAGuess() async throws {
        var limits = LoginLimits()
        limits.account = LoginLimits.Rate(burst: 1, secondsPerAttempt: 3600)
        limits.address = limits.account
        try await withNotes(limits) { notes in
            let alice = try await notes.join("alice")
            try await register(alice, notes)
            let handle = alice.writer.handle
            for _ in 0..<3 {
                let (login, answer) = try await begin(handle, Self.password, notes.client)
                let (end, _) = try finish(login, answer, handle, Self.password)
                let granted = try await notes.client.call(NoteRoute.endLogin, end.encoded)
                #expect(granted?.body.first == 1)
            }
        }
    }

    @Test func guessesOfAnAddressAreLimitedOverAllAccounts() async throws {
        var limits = LoginLimits()
        limits.address = LoginLimits.Rate(burst: 2, secondsPerAttempt: 3600)
        try await withNotes(limits) { notes in
            var statuses: [Int?] = []
            for name in ["a", "b", "c"] {
                let handle = try Handle(typed: Array("\(name)@example.org".utf8))
                statuses.append(try await begin(handle, Array("guess".utf8), notes.client).answer?.status)
            }
            #expect(statuses == [200, 200, 429])
        }
    }

    @Test func aLoginInProgressEndsWithThePasswordItBeganWith() async throws {
        try await withNotes { notes in
            let alice = try await notes.join("alice")
            try await register(alice, notes)
            let handle = alice.writer.handle
            let (login, answer) = try await begin(handle, Self.password, notes.client)
            try await register(alice, notes, version: 1)
            // The login in progress ends with the password with which it began.
            let (end, outcome) = try finish(login, answer, handle, Self.password)
            let granted = try await notes.client.call(NoteRoute.endLogin, end.encoded)
            guard case .granted(let sealed) = try LoginAnswer(decoding: #require(granted).body) else {
                Issue.record("refused")
                return
            }
            #expect(try LoginGrant(opening: sealed, with: outcome.sessionKey, login: end.login).version == 1)
        }
    }

    @Test func aLoginExpiresAfterAMinute() async throws {
        try await withDataDirectory { data in
            let store = try NoteArchive(at: data.path + "/notes.sqlite", clock: { 1_800_000_000 }, logger: silent)
            let uptime = Uptime()
            let desk = LoginServer(
                store, keys: try .generate(), limits: LoginLimits(),
                clock: ServerClock(time: { 0 }, uptime: { uptime.nanoseconds.withLock { $0 } }))
            let handle = try Handle(typed: Array("alice@example.org".utf8))
            let (registration, client) = (try ClientRegistration(password: Self.password.span), ClientAddress(nil))
            let evaluated = try desk.evaluate(
                RegistrationBeginning(message: registration.request.encoded), for: handle)
            let (record, _) = try registration.finish(
                RegistrationResponse(decoding: evaluated.message), password: Self.password.span,
                parameters: parameters(handle), stretching: .identity)
            _ = try await desk.register(RegistrationEnd(version: 0, record: record.encoded, wrap: [1]), for: handle)
            for (seconds, isGranted) in [(59, true), (60, false)] as [(UInt64, Bool)] {
                let login = try ClientLogin(password: Self.password.span)
                let challenge = try await desk.begin(
                    LoginBeginning(handle: handle, message: login.request.encoded), from: client)
                let outcome = try login.finish(
                    LoginResponse(decoding: challenge.message), password: Self.password.span,
                    parameters: parameters(handle), stretching: .identity)
                uptime.nanoseconds.withLock { $0 += seconds * 1_000_000_000 }
                let answer = try await desk.end(LoginEnd(login: challenge.login, message: outcome.proof.encoded))
                #expect((answer != .refused) == isGranted)
            }
            store.close()
        }
    }
}

private final class Uptime: Sendable {
    let nanoseconds = Mutex<UInt64>(1)
}
