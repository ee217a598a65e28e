// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
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
            let login: ServerLogin
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
        private let sessions = Mutex<[(name: [UInt8], session: Session)]>([])

        /// A desk with the server's secrets.
        package init(_ store: NoteArchive, keys: LoginServerKeys, limits: LoginLimits, clock: ServerClock = .system) {
            self.store = store
            self.keys = keys
            self.clock = clock
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
            let now = clock.uptime()
            let place = LoginAttempts.Place(handle: beginning.handle, client: client)
            guard let attempt = attempts.take(place, at: now) else { throw PartRefusal(.tooManyRequests) }
            let known: (record: [UInt8], grant: LoginGrant)?
            do { known = try await store.registration(of: beginning.handle) } catch { throw PartRefusal(.unavailable) }
            do {
                let login = try login(beginning, known?.record)
                let name = Self.randomName()
                let session = Session(
                    login: login, attempt: attempt, grant: known?.grant, end: now + Self.lifetime)
                keep(session, as: name, at: now)
                return try LoginChallenge(login: name, message: login.response.encoded)
            } catch { throw PartRefusal(.badRequest) }
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

        func end(_ end: LoginEnd) -> LoginAnswer {
            let now = clock.uptime()
            guard let session = take(end.login), now < session.end,
                let proof = try? LoginProof(decoding: end.message), let key = try? session.login.finish(proof),
                let sealed = try? session.grant?.sealed(under: key, login: end.login)
            else { return .refused }
            attempts.giveBack(session.attempt)
            return .granted(sealed)
        }

        // MARK: Between the two messages

        private func keep(_ session: Session, as name: [UInt8], at now: UInt64) {
            sessions.withLock { sessions in
                let expired = sessions.prefix { $0.session.end <= now }.count
                sessions.removeFirst(max(expired, sessions.count - Self.capacity + 1))
                sessions.append((name, session))
            }
        }

        private func take(_ name: [UInt8]) -> Session? {
            sessions.withLock { sessions in
                sessions.firstIndex { $0.name == name }.map { sessions.remove(at: $0).session }
            }
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
        func end(_ end: LoginEnd) -> LoginAnswer { switch self {} }
        func remember(_ handle: Handle, at client: ClientAddress) { switch self {} }
    }
#endif
