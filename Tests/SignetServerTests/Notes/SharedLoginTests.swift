// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Crypto
import KeyDirectory
import KeyTransparency
import NIOCore
import NoteStore
import NotesAPI
import OPAQUE
import SignetAPI
import Synchronization
import Testing

@testable import SignetServer

/// Two login desks over one store, as two front ends have them: each ends what the other began, once, and all guesses count together.
@Suite struct SharedLoginTests {
    private static let password = Array("correct horse".utf8)

    /// What the front ends of one test have in common, and a clock that stands still until it is moved.
    private final class Fronts: Sendable {
        let store: NoteArchive
        let desks: [LoginServer]
        let alice: Handle
        private let time = Seconds()

        func advance(_ seconds: UInt64) { time.value.withLock { $0 += seconds } }

        init(
            _ data: DataDirectory, _ limits: LoginLimits = LoginLimits(), secrets: [FrontEndSecret],
            countsTogether: Bool = true, marks: (any SharedMarks)? = nil, counter: (any AttemptCounter)? = nil
        ) throws {
            store = try NoteArchive(at: data.path + "/notes.sqlite", clock: { 1_800_000_000 }, logger: silent)
            alice = try Handle(typed: Array("alice@example.org".utf8))
            let keys = try LoginServerKeys.generate()
            let marks = marks ?? LocalMarks(clock: { 1_800_000_000 })
            let counter = counter ?? LocalAttemptCounter(remembering: 1024) { 1_800_000_000_000_000_000 }
            let seconds = time
            let clock = ServerClock(
                time: { seconds.value.withLock { $0 } }, uptime: { seconds.value.withLock { $0 * 1_000_000_000 } })
            let store = store
            desks = secrets.map { secret in
                LoginServer(
                    store, keys: keys, limits: limits,
                    sharing: SharedLogins(secret, marks: marks, attempts: countsTogether ? counter : nil), clock: clock)
            }
        }

        func register(version: UInt64 = 0) async throws {
            let registration = try ClientRegistration(password: SharedLoginTests.password.span)
            let evaluated = try desks[0].evaluate(
                RegistrationBeginning(message: registration.request.encoded), for: alice)
            let (record, _) = try registration.finish(
                RegistrationResponse(decoding: evaluated.message), password: SharedLoginTests.password.span,
                parameters: SharedLoginTests.parameters(alice), stretching: .identity)
            _ = try await desks[0].register(
                RegistrationEnd(version: version, record: record.encoded, wrap: [4, 5, 6]), for: alice)
        }

        /// The first message of a login at a desk, and the second one for any.
        func begin(
            at desk: Int, from number: Int = 9
        ) async throws -> (end: LoginEnd, key: SymmetricKey, challenge: LoginChallenge) {
            let login = try ClientLogin(password: SharedLoginTests.password.span)
            let challenge = try await desks[desk].begin(
                LoginBeginning(handle: alice, message: login.request.encoded),
                from: SharedLoginTests.client(number))
            let outcome = try login.finish(
                LoginResponse(decoding: challenge.message), password: SharedLoginTests.password.span,
                parameters: SharedLoginTests.parameters(alice), stretching: .identity)
            return (
                try LoginEnd(login: challenge.login, message: outcome.proof.encoded), outcome.sessionKey, challenge
            )
        }

        /// Whether a guess is answered; it is never ended.
        func guess(_ handle: Handle, at desk: Int, from number: Int = 9) async throws -> Bool {
            let login = try ClientLogin(password: Array("guess".utf8).span)
            do {
                _ = try await desks[desk].begin(
                    LoginBeginning(handle: handle, message: login.request.encoded),
                    from: SharedLoginTests.client(number))
                return true
            } catch let error as PartRefusal where error.code == .tooManyRequests {
                return false
            }
        }
    }

    private static func parameters(_ handle: Handle) throws -> LoginParameters {
        try LoginParameters(context: LoginBinding.context, clientIdentity: handle.bytes)
    }

    private static func client(_ number: Int) -> ClientAddress {
        ClientAddress(try? SocketAddress(ipAddress: "10.0.\(number / 256).\(number % 256)", port: 1))
    }

    private func with(
        _ body: (DataDirectory, FrontEndSecret) async throws -> Void
    ) async throws {
        try await withDataDirectory { data in try await body(data, FrontEndSecret()) }
    }

    @Test func aLoginBegunAtOneFrontEndEndsAtAnother() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret, secret])
            try await fronts.register()
            let (end, key, challenge) = try await fronts.begin(at: 0)
            #expect(challenge.login.count == LoginChallenge.sealedNameByteCount)
            guard case .granted(let sealed) = try await fronts.desks[1].end(end) else {
                Issue.record("refused")
                return
            }
            #expect(
                try LoginGrant(opening: sealed, with: key, login: end.login)
                    == LoginGrant(version: 1, wrap: [4, 5, 6]))
            fronts.store.close()
        }
    }

    /// The mishap.
    @Test func withoutASharedSecretAnotherFrontEndRefusesIt() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret, FrontEndSecret()])
            try await fronts.register()
            #expect(try await fronts.desks[1].end(fronts.begin(at: 0).end) == .refused)
            fronts.store.close()
        }
    }

    /// The attack: who has copied the second message sends it to each front end.
    @Test func aLoginEndsOnceAtAllFrontEndsTogether() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret, secret])
            try await fronts.register()
            let end = try await fronts.begin(at: 0).end
            #expect(try await fronts.desks[1].end(end) != .refused)
            for desk in fronts.desks { #expect(try await desk.end(end) == .refused) }
            fronts.store.close()
        }
    }

    /// The attack: guesses at one login. The first that is wrong ends it.
    @Test func aWrongProofEndsALoginForAllFrontEnds() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret, secret])
            try await fronts.register()
            let end = try await fronts.begin(at: 0).end
            let wrong = try LoginEnd(login: end.login, message: [UInt8](repeating: 7, count: 64))
            #expect(try await fronts.desks[1].end(wrong) == .refused)
            #expect(try await fronts.desks[0].end(end) == .refused)
            fronts.store.close()
        }
    }

    @Test(arguments: [(59, true), (60, false)] as [(UInt64, Bool)])
    func aSealedLoginExpiresAfterAMinute(seconds: UInt64, isGranted: Bool) async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret, secret])
            try await fronts.register()
            let end = try await fronts.begin(at: 0).end
            fronts.advance(seconds)
            #expect(try await (fronts.desks[1].end(end) != .refused) == isGranted)
            fronts.store.close()
        }
    }

    @Test func aLoginIsRefusedIfTheAccountHasOtherKeysByThen() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret, secret])
            try await fronts.register()
            let end = try await fronts.begin(at: 0).end
            try await fronts.register(version: 1)
            #expect(try await fronts.desks[1].end(end) == .refused)
            fronts.store.close()
        }
    }

    /// Every bit of what the client holds for the server.
    @Test func aSealedLoginThatWasChangedIsRefused() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret])
            try await fronts.register()
            let end = try await fronts.begin(at: 0).end
            for place in end.login.indices {
                var login = end.login
                login[place] ^= 1
                #expect(try await fronts.desks[0].end(LoginEnd(login: login, message: end.message)) == .refused)
            }
            #expect(try await fronts.desks[0].end(end) != .refused)
            fronts.store.close()
        }
    }

    /// Names of all lengths, known and unknown, get boxes of one length, none of which repeats.
    @Test func aSealedLoginSaysNothingOfTheAccount() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret])
            try await fronts.register()
            var names: Set<[UInt8]> = []
            for handle in ["alice@example.org", "b@example.org", String(repeating: "c", count: 60) + "@example.org"] {
                let login = try ClientLogin(password: Array("guess".utf8).span)
                let challenge = try await fronts.desks[0].begin(
                    LoginBeginning(handle: Handle(typed: Array(handle.utf8)), message: login.request.encoded),
                    from: Self.client(9))
                #expect(challenge.login.count == LoginChallenge.sealedNameByteCount)
                names.insert(challenge.login)
            }
            #expect(names.count == 3)
            fronts.store.close()
        }
    }

    // MARK: Guesses

    /// The attack, and its control: an attacker asks every front end in turn. The control multiplies the guesses.
    @Test(arguments: [(true, 2), (false, 6)]) func guessesAreCountedOverAllFrontEnds(
        countsTogether: Bool, count: Int
    ) async throws {
        var limits = LoginLimits()
        limits.account = LoginLimits.Rate(burst: 2, secondsPerAttempt: 3600)
        try await with { [limits] data, secret in
            let fronts = try Fronts(
                data, limits, secrets: [secret, secret, secret], countsTogether: countsTogether)
            var answered = 0
            for guess in 0..<12 { answered += try await fronts.guess(fronts.alice, at: guess % 3) ? 1 : 0 }
            #expect(answered == count)
            fronts.store.close()
        }
    }

    @Test func guessesFromManyAddressesAreCountedOverAllFrontEnds() async throws {
        var limits = LoginLimits()
        limits.strangers = LoginLimits.Rate(burst: 3, secondsPerAttempt: 3600)
        try await with { [limits] data, secret in
            let fronts = try Fronts(data, limits, secrets: [secret, secret])
            var answered = 0
            for guess in 0..<12 {
                answered += try await fronts.guess(fronts.alice, at: guess % 2, from: guess) ? 1 : 0
            }
            #expect(answered == 3)
            fronts.store.close()
        }
    }

    /// A desk that starts again has no memory of its own.
    @Test func guessesAreNotForgottenWhenAFrontEndStartsAgain() async throws {
        var limits = LoginLimits()
        limits.account = LoginLimits.Rate(burst: 2, secondsPerAttempt: 3600)
        try await with { [limits] data, secret in
            let counter = LocalAttemptCounter(remembering: 1024) { 1_800_000_000_000_000_000 }
            for round in 0..<3 {
                let fronts = try Fronts(data, limits, secrets: [secret], counter: counter)
                #expect(try await fronts.guess(fronts.alice, at: 0) == (round < 2))
                fronts.store.close()
            }
        }
    }

    @Test func aLoginThatEndsElsewhereIsNotCountedAsAGuess() async throws {
        var limits = LoginLimits()
        limits.account = LoginLimits.Rate(burst: 4, secondsPerAttempt: 3600)
        try await with { [limits] data, secret in
            let counter = LocalAttemptCounter(remembering: 1024) { 1_800_000_000_000_000_000 }
            let fronts = try Fronts(data, limits, secrets: [secret, secret], counter: counter)
            try await fronts.register()
            for login in 0..<4 {
                #expect(try await fronts.desks[1 - login % 2].end(fronts.begin(at: login % 2).end) != .refused)
            }
            let key = LoginAttempts.Attempt(
                place: LoginAttempts.Place(handle: fronts.alice, client: Self.client(9)), isStrange: true
            ).keys(limits, under: secret.keys(for: .attempts).current)
            for _ in 0..<4 { #expect(try await counter.take(key)) }
            fronts.store.close()
        }
    }

    /// What cannot be counted is not tried.
    @Test func withoutTheSharedCountNoLoginBegins() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret], counter: BrokenCounter())
            await #expect(throws: PartRefusal(.unavailable)) { try await fronts.guess(fronts.alice, at: 0) }
            fronts.store.close()
        }
    }

    @Test func withoutSharedMarksNoLoginEnds() async throws {
        try await with { data, secret in
            let fronts = try Fronts(data, secrets: [secret], marks: BrokenMarks())
            try await fronts.register()
            let end = try await fronts.begin(at: 0).end
            await #expect(throws: PartRefusal(.unavailable)) { try await fronts.desks[0].end(end) }
            fronts.store.close()
        }
    }

    /// A refused guess at one of three counts is none at the two others.
    @Test func anAttemptIsTakenOfAllCountsOrOfNone() async throws {
        let (key, counter) = (SymmetricKey(size: .bits256), LocalAttemptCounter(remembering: 8) { 1 })
        let one = LoginLimits.Rate(burst: 1, secondsPerAttempt: 3600)
        let (a, b) = (AttemptKey(1, [1], one, under: key), AttemptKey(2, [2], one, under: key))
        #expect(try await counter.take([a]))
        #expect(try await !counter.take([b, a]))
        #expect(try await counter.take([b]))
        try await counter.giveBack([a])
        #expect(try await counter.take([a]))
    }

    @Test func aNameOfACountSaysNothingWithoutTheSecret() {
        let rate = LoginLimits.Rate(burst: 1, secondsPerAttempt: 1)
        let keys = [SymmetricKey(size: .bits256), SymmetricKey(size: .bits256)]
        #expect(AttemptKey(1, [1], rate, under: keys[0]) != AttemptKey(1, [1], rate, under: keys[1]))
        #expect(AttemptKey(1, [1], rate, under: keys[0]) != AttemptKey(2, [1], rate, under: keys[0]))
    }
}

/// Marks may be used once, and are remembered for as long as they could be used.
@Suite struct LocalMarksTests {
    @Test func aMarkIsTakenOnce() async throws {
        let marks = LocalMarks(clock: { 100 })
        #expect(try await marks.take([1], until: 160))
        #expect(try await !marks.take([1], until: 160))
        #expect(try await marks.take([2], until: 160))
    }

    /// The attack: an attacker fills the memory so that a mark is forgotten.
    @Test func aFullMemoryForgetsNoMarkThatIsInTime() async throws {
        let clock = MarkClock()
        let marks = LocalMarks(clock: { clock.now.withLock { $0 } })
        #expect(try await marks.take([1], until: 160))
        for number in 0..<65_535 as Range<UInt32> {
            _ = try await marks.take(withUnsafeBytes(of: number) { Array($0) }, until: 160)
        }
        await #expect(throws: LocalMarks.Full.self) { try await marks.take([9, 9], until: 160) }
        #expect(try await !marks.take([1], until: 160))
        clock.now.withLock { $0 = 160 }
        #expect(try await marks.take([9, 9], until: 220))
    }
}

private final class Seconds: Sendable {
    let value = Mutex<UInt64>(1_800_000_000)
}

private final class MarkClock: Sendable {
    let now = Mutex<UInt64>(100)
}

private struct BrokenCounter: AttemptCounter {
    struct Fault: Error {}
    func take(_ keys: [AttemptKey]) async throws -> Bool { throw Fault() }
    func giveBack(_ keys: [AttemptKey]) async throws { throw Fault() }
}

private struct BrokenMarks: SharedMarks {
    struct Fault: Error {}
    func take(_ mark: [UInt8], until: UInt64) async throws -> Bool { throw Fault() }
}
