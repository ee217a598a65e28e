// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import NotesAPI
import OPAQUE
import SealedNotes
import SecretMemory
import SignetClient

/// How much work a guess at a password costs whoever has the server's database and its secrets: its operator, offline. The
/// server is never asked which it was: the envelope opens under one alone.
public enum PasswordStrength: Hashable, Sendable, CaseIterable {
    /// Argon2id, 3 passes over 64 MiB.
    case standard
    /// Argon2id, 3 passes over 256 MiB.
    case strong
}

/// What a device and the server say to each other about the notes password, so that the server learns neither the password nor anything
/// it could check a guess with. It keeps nothing.
struct PasswordExchange<Store: ClientStore>: Sendable {
    let calls: NoteCalls<Store>
    let author: Author

    /// Puts the account's key under a password at the server.
    func register(
        _ account: AccountMasterKey, under password: SecretBytes, loginKey: LoginKey?, strength: PasswordStrength
    ) async throws(NotesError) {
        let password = password.mixed(with: loginKey)
        let registration = try login { () throws(OPAQUEError) in try ClientRegistration(password: password) }
        let evaluation: RegistrationEvaluation = try await calls.call(
            .beginRegistration,
            try body { () throws(NoteBodyError) in
                try RegistrationBeginning(message: registration.request.encoded)
            })
        let parameters = try loginParameters()
        let (record, exportKey) = try login { () throws(OPAQUEError) in
            try registration.finish(
                RegistrationResponse(decoding: evaluation.message), password: password, parameters: parameters,
                stretching: strength.stretching)
        }
        let wrap = try sealed { () throws(SealedNoteError) in try AccountKeyWrap(account, exportKey: exportKey) }
        try await end(record, wrap)
    }

    private func end(_ record: RegistrationRecord, _ wrap: AccountKeyWrap) async throws(NotesError) {
        for _ in 0..<8 {
            let version = try await calls.accountKeys().version
            let end = try body { () throws(NoteBodyError) in
                try RegistrationEnd(version: version, record: record.encoded, wrap: wrap.encoded)
            }
            let outcome: AccountKeysOutcome = try await calls.call(.endRegistration, end)
            if case .applied = outcome { return }
        }
        throw .keepsMoving
    }

    /// The account's key from the server.
    func accountKey(password: SecretBytes, loginKey: LoginKey?) async throws(NotesError) -> AccountMasterKey {
        let password = password.mixed(with: loginKey)
        let login = try login { () throws(OPAQUEError) in try ClientLogin(password: password) }
        let beginning = try body { () throws(NoteBodyError) in
            try LoginBeginning(handle: author.handle, message: login.request.encoded)
        }
        let challenge: LoginChallenge = try await calls.call(.beginLogin, beginning, isSigned: false)
        let parameters = try loginParameters()
        let outcome = try self.login { () throws(OPAQUEError) in
            try login.finish(LoginResponse(decoding: challenge.message), password: password, parameters: parameters)
        }
        let end = try body { () throws(NoteBodyError) in
            try LoginEnd(login: challenge.login, message: outcome.proof.encoded)
        }
        let answer: LoginAnswer = try await calls.call(.endLogin, end, isSigned: false)
        guard case .granted(let bytes) = answer else { throw .wrongPassword }
        let grant: LoginGrant
        do {
            grant = try LoginGrant(opening: bytes, with: outcome.sessionKey, login: challenge.login)
        } catch { throw .malformedAnswer }
        return try sealed { () throws(SealedNoteError) in
            try AccountKeyWrap(decoding: grant.wrap).open(exportKey: outcome.exportKey, of: author.handle)
        }
    }

    private func loginParameters() throws(NotesError) -> LoginParameters {
        try login { () throws(OPAQUEError) in
            try LoginParameters(context: LoginBinding.context, clientIdentity: author.handle.bytes)
        }
    }

    private func login<Value>(_ step: () throws(OPAQUEError) -> Value) throws(NotesError) -> Value {
        do { return try step() } catch {
            switch error {
            case .notOpened, .invalidPassword: throw .wrongPassword
            case .outOfMemory: throw .client(.keystore(.notEnoughMemory))
            case .unavailable, .invalidParameters: throw .client(.keystore(.unavailable))
            case .malformed, .serverNotAuthentic, .clientNotAuthentic: throw .malformedAnswer
            }
        }
    }

    private func body<Body>(_ make: () throws(NoteBodyError) -> Body) throws(NotesError) -> Body {
        do { return try make() } catch { throw .malformedAnswer }
    }

    private func sealed<Value>(_ make: () throws(SealedNoteError) -> Value) throws(NotesError) -> Value {
        do { return try make() } catch { throw .sealed(error) }
    }
}

extension PasswordStrength {
    fileprivate var stretching: KeyStretching { self == .standard ? .standard : .strong }
}

extension ClientRegistration {
    fileprivate init(password: SecretBytes) throws(OPAQUEError) {
        self = try password.withSpan { span throws(OPAQUEError) in try ClientRegistration(password: span) }
    }

    fileprivate func finish(
        _ response: RegistrationResponse, password: SecretBytes, parameters: LoginParameters,
        stretching: KeyStretching
    ) throws(OPAQUEError) -> (record: RegistrationRecord, exportKey: SymmetricKey) {
        try password.withSpan { span throws(OPAQUEError) in
            try finish(response, password: span, parameters: parameters, stretching: stretching)
        }
    }
}

extension ClientLogin {
    fileprivate init(password: SecretBytes) throws(OPAQUEError) {
        self = try password.withSpan { span throws(OPAQUEError) in try ClientLogin(password: span) }
    }

    /// With what passwords are stretched with today, else with what they were: one login at the server.
    fileprivate func finish(
        _ response: LoginResponse, password: SecretBytes, parameters: LoginParameters
    ) throws(OPAQUEError) -> Outcome {
        do { return try finish(response, password: password, parameters: parameters, stretching: .strong) } catch {
            guard error == .notOpened else { throw error }
            return try finish(response, password: password, parameters: parameters, stretching: .standard)
        }
    }

    private func finish(
        _ response: LoginResponse, password: SecretBytes, parameters: LoginParameters, stretching: KeyStretching
    ) throws(OPAQUEError) -> Outcome {
        try password.withSpan { span throws(OPAQUEError) in
            try finish(response, password: span, parameters: parameters, stretching: stretching)
        }
    }
}

extension SecretBytes {
    fileprivate func mixed(with loginKey: LoginKey?) -> SecretBytes {
        guard let loginKey else { return self }
        return withBytes { loginKey.mixed(with: $0) }.withUnsafeBytes { SecretBytes(copying: $0) }
    }
}
