// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Crypto
import KeyDirectory
import KeyTransparency
package import NoteStore
import NotesAPI
import SignetAPI

#if canImport(CSodium)
    package import OPAQUE
    import Synchronization

    /// The server's side of logins with a password, which it never sees.
    ///
    /// Security: an account that does not exist, and one without a password, is answered in the same form, length and work,
    /// and counts against the same limits. A login that no proof follows is a guess, and counts: ``LoginAttempts``; one that
    /// succeeds is given back.
    package final class LoginServer: Sendable {
        private struct Session {
            let login: PendingLogin
            let attempt: LoginAttempts.Attempt
            /// nil where there is nothing to log in to.
            let grant: LoginGrant?
            let end: UInt64
        }

        /// How many logins may be between their two messages, and for how long, in nanoseconds.
        private static let capacity = 4096
        private static let lifetime: UInt64 = 60 * 1_000_000_000

        private let keys: LoginServerKeys
        private let store: NoteArchive
        private let clock: ServerClock
        private let attempts: LoginAttempts
        private let limits: LoginLimits
        private let shared: SharedLogins?
        private let sessions = Mutex<[(name: [UInt8], session: Session)]>([])

        /// A desk with the server's secrets.
        ///
        /// - Parameter shared: what it has in common with other front ends; nil: it is the only one.
        package init(
            _ store: NoteArchive, keys: LoginServerKeys, limits: LoginLimits, sharing shared: SharedLogins? = nil,
            clock: ServerClock = .system
        ) {
            self.store = store
            self.keys = keys
            self.clock = clock
            self.limits = limits
            self.shared = shared
            attempts = LoginAttempts(limits)
        }

        /// A device of the account signed a request from this address: its logins from there wait for no stranger.
        func remember(_ handle: Handle, at client: ClientAddress) {
            attempts.remember(LoginAttempts.Place(handle: handle, client: client))
        }

        // MARK: Registration

        func evaluate(
            _ request: RegistrationBeginning, for handle: Handle
        ) throws(PartRefusal) -> RegistrationEvaluation {
            do {
                let response = try keys.respond(
                    to: RegistrationRequest(decoding: request.message), credential: handle.bytes)
                return try RegistrationEvaluation(message: response.encoded)
            } catch { throw PartRefusal(.badRequest) }
        }

        func register(_ end: RegistrationEnd, for handle: Handle) async throws -> AccountKeysOutcome {
            guard (try? RegistrationRecord(decoding: end.record)) != nil else { throw PartRefusal(.badRequest) }
            return try await store.register(end, of: handle)
        }

        // MARK: Login

        func begin(
            _ beginning: LoginBeginning, from client: ClientAddress
        ) async throws(PartRefusal) -> LoginChallenge {
            let place = LoginAttempts.Place(handle: beginning.handle, client: client)
            let attempt = try await attempt(at: place)
            let known: (record: [UInt8], grant: LoginGrant)?
            do { known = try await store.registration(of: beginning.handle) } catch { throw PartRefusal(.unavailable) }
            do {
                let login = try login(beginning, known?.record)
                let name = try keep(login.pending, attempt, known?.grant)
                return try LoginChallenge(login: name, message: login.response.encoded)
            } catch { throw PartRefusal(.badRequest) }
        }

        /// Takes an attempt here first, which costs nothing, and then with all front ends.
        private func attempt(at place: LoginAttempts.Place) async throws(PartRefusal) -> LoginAttempts.Attempt {
            guard let attempt = attempts.take(place, at: clock.uptime()) else { throw PartRefusal(.tooManyRequests) }
            guard let shared, let counter = shared.attempts else { return attempt }
            let isTaken: Bool
            do { isTaken = try await counter.take(attempt.keys(limits, under: shared.attemptKey)) } catch {
                attempts.undo(attempt)
                throw PartRefusal(.unavailable)
            }
            guard isTaken else {
                attempts.undo(attempt)
                throw PartRefusal(.tooManyRequests)
            }
            return attempt
        }

        /// Reading a record takes time: if there is none, a decoy record is read instead.
        private func login(_ beginning: LoginBeginning, _ stored: [UInt8]?) throws -> ServerLogin {
            let padding = [UInt8](repeating: 0, count: RegistrationRecord.byteCount - keys.publicKey.count)
            let record = try RegistrationRecord(decoding: stored ?? keys.publicKey + padding)
            return try ServerLogin(
                LoginRequest(decoding: beginning.message), record: stored == nil ? nil : record,
                credential: beginning.handle.bytes, keys: keys,
                parameters: LoginParameters(
                    context: LoginBinding.context, clientIdentity: beginning.handle.bytes))
        }

        func end(_ end: LoginEnd) async throws(PartRefusal) -> LoginAnswer {
            guard let session = try await take(end.login),
                let proof = try? LoginProof(decoding: end.message), let key = try? session.login.finish(proof),
                let sealed = try? session.grant?.sealed(under: key, login: end.login)
            else { return .refused }
            attempts.giveBack(session.attempt)
            if let shared {
                // Otherwise it stays counted as a guess, and comes back in time.
                try? await shared.attempts?.giveBack(session.attempt.keys(limits, under: shared.attemptKey))
            }
            return .granted(sealed)
        }

        // MARK: Between the two messages

        /// Keeps a login, or seals it to the client where another front end may have to end it.
        ///
        /// - Returns: its name.
        private func keep(
            _ login: PendingLogin, _ attempt: LoginAttempts.Attempt, _ grant: LoginGrant?
        ) throws -> [UInt8] {
            if let shared {
                return try SealedLogin(
                    end: clock.time() + Self.lifetime / 1_000_000_000, pending: login, version: grant?.version ?? 0,
                    attempt: attempt
                ).sealed(under: shared.sealing.current)
            }
            let (now, name) = (clock.uptime(), Self.randomName())
            let session = Session(login: login, attempt: attempt, grant: grant, end: now + Self.lifetime)
            sessions.withLock { sessions in
                let expired = sessions.prefix { $0.session.end <= now }.count
                sessions.removeFirst(max(expired, sessions.count - Self.capacity + 1))
                sessions.append((name, session))
            }
            return name
        }

        /// A login that is in time, once.
        private func take(_ name: [UInt8]) async throws(PartRefusal) -> Session? {
            if let shared { return try await open(name, shared) }
            let session = sessions.withLock { sessions in
                sessions.firstIndex { $0.name == name }.map { sessions.remove(at: $0).session }
            }
            return session.flatMap { clock.uptime() < $0.end ? $0 : nil }
        }

        /// What the login gives out is read again: if the account has other keys by now, it gives out nothing.
        private func open(_ name: [UInt8], _ shared: SharedLogins) async throws(PartRefusal) -> Session? {
            let now = clock.time()
            guard let login = SealedLogin(opening: name, under: shared.sealing.accepted(at: now)), now < login.end
            else { return nil }
            let grant: LoginGrant?
            do {
                guard try await shared.marks.take(Array(SHA256.hash(data: name)), until: login.end) else { return nil }
                grant = try await store.registration(of: login.attempt.place.handle)?.grant
            } catch { throw PartRefusal(.unavailable) }
            return Session(
                login: login.pending, attempt: login.attempt,
                grant: grant.flatMap { $0.version == login.version ? $0 : nil }, end: 0)
        }

        private static func randomName() -> [UInt8] {
            var generator = SystemRandomNumberGenerator()
            return (0..<LoginChallenge.nameByteCount).map { _ in .random(in: .min ... .max, using: &generator) }
        }
    }
#else
    /// There are no logins without libsodium, and nothing of this type.
    package enum LoginServer: Sendable {
        func evaluate(
            _ request: RegistrationBeginning, for handle: Handle
        ) throws(PartRefusal) -> RegistrationEvaluation {
            switch self {}
        }
        func register(_ end: RegistrationEnd, for handle: Handle) async throws -> AccountKeysOutcome { switch self {} }
        func begin(_ beginning: LoginBeginning, from client: ClientAddress) async throws(PartRefusal) -> LoginChallenge
        {
            switch self {}
        }
        func end(_ end: LoginEnd) async throws(PartRefusal) -> LoginAnswer { switch self {} }
        func remember(_ handle: Handle, at client: ClientAddress) { switch self {} }
    }
#endif
