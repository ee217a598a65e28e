// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import NotesAPI
import OPAQUE
public import SealedNotes
public import SignetClient

/// How much work a guess at a password costs an attacker who has the server's database and its secrets, such as its
/// operator, offline. The server is never asked which it was: the envelope opens under one alone.
public enum PasswordStrength: Hashable, Sendable, CaseIterable {
    /// Argon2id, 3 passes over 64 MiB.
    case standard
    /// Argon2id, 3 passes over 256 MiB.
    case strong
}

extension NoteBook {
    /// Sets the notes password, or puts another in its place: the account's key is wrapped again, and no note is
    /// touched.
    ///
    /// The server learns neither the password nor anything it could check a guess with.
    ///
    /// - Parameters:
    ///   - password: UTF-8 in normal form C, as the person types it everywhere.
    ///   - loginKey: a second secret that a login needs beside the password from now on; nil for none.
    /// - Throws: ``NotesError``; ``NotesError/weakPassword(_:)``: nothing was sent.
    ///
    /// Security: without a login key, the server's operator can try passwords, offline and without limit.
    public func setPassword(
        _ password: SecretBytes, loginKey: LoginKey? = nil, strength: PasswordStrength = .strong
    ) async throws(NotesError) {
        if let weakness = SecretWeakness.first(of: password, knowing: [author.handle.description]) {
            throw .weakPassword(weakness)
        }
        let password = password.mixed(with: loginKey)
        try await settleAccountKey()
        guard let account else { throw .noAccountKey }
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

    /// Gets the account's key with the notes password, on a device that does not have it or was locked.
    ///
    /// - Parameter loginKey: the one that the password was set with.
    /// - Throws: ``NotesError``; ``NotesError/wrongPassword``: or the login key is wrong, missing or one too many.
    public func unlock(password: SecretBytes, loginKey: LoginKey? = nil) async throws(NotesError) {
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
        let key = try sealed { () throws(SealedNoteError) in
            try AccountKeyWrap(decoding: grant.wrap).open(exportKey: outcome.exportKey, of: author.handle)
        }
        try await takeAccountKey(key)
    }

    // MARK: Recovery key

    /// Makes a recovery key to be printed and kept safe. An earlier one opens nothing any more.
    ///
    /// - Throws: ``NotesError``.
    public func makeRecoveryKey() async throws(NotesError) -> RecoveryKey {
        try await settleAccountKey()
        guard let account else { throw .noAccountKey }
        let recovery = RecoveryKey.generate()
        let wrap = try sealed { () throws(SealedNoteError) in try AccountKeyWrap(account, recoveryKey: recovery) }
        try await changeAccountKeys { keys throws(NotesError) in
            AccountKeys(
                version: keys.version, password: keys.password, recovery: wrap.encoded, devices: keys.devices)
        }
        return recovery
    }

    /// Gets the account's key with the printed recovery key.
    ///
    /// - Throws: ``NotesError``; ``NotesError/wrongPassword``: it opens nothing of this account.
    public func unlock(recoveryKey: RecoveryKey) async throws(NotesError) {
        guard let bytes = try await calls.accountKeys().recovery else { throw .wrongPassword }
        let key: AccountMasterKey
        do {
            key = try AccountKeyWrap(decoding: bytes).open(recoveryKey: recoveryKey, of: author.handle)
        } catch { throw .wrongPassword }
        try await takeAccountKey(key)
    }

    // MARK: Lock

    /// Forgets the account's key on this device, and opens no note before ``unlock(password:)`` or
    /// ``unlock(recoveryKey:)``.
    ///
    /// - Throws: ``NotesError/nothingUnlocks``: the account has neither a password nor a recovery key.
    ///
    /// Security: a lock against a person who uses this device, not against a thief of its keys: what was encrypted to
    /// the device opens with them.
    public func lock() async throws(NotesError) {
        let keys = try await calls.accountKeys()
        guard keys.password != nil || keys.recovery != nil else { throw .nothingUnlocks }
        try write { tables in
            var row = try tables.account()
            row.isLocked = true
            try tables.set(row)
            try tables.forgetAccountKeys()
        }
        (accounts, held, broken, index) = ([:], [:], [:], nil)
    }

    // MARK: Steps

    /// Keeps the key, wrapped to this device, and sees to it that the server has that wrap too.
    func takeAccountKey(_ key: AccountMasterKey) async throws(NotesError) {
        forgetPeople()
        try await keepWrapped(key)
        try await settleAccountKey()
        try loadAll()
    }

    /// Keeps a key for this device alone.
    func keepWrapped(_ key: AccountMasterKey) async throws(NotesError) {
        let own = try await ownLookup()
        guard let recipient = WrapRecipient.devices(of: own).first(where: { $0.author == author }) else {
            throw .client(.misuse(.deviceNotAddedYet))
        }
        let wrap = try sealed { () throws(SealedNoteError) in
            try AccountDeviceWrap(key, to: recipient, sender: author, with: secrets.sign)
        }
        try write { tables in
            var row = try tables.account()
            row.isLocked = false
            try tables.set(row)
            try tables.keep(wrap)
        }
        accounts[key.epoch] = key
    }

    /// - Parameter change: what is to stand in the place of what the server has; nil: that stays.
    /// - Returns: whether anything was changed.
    @discardableResult
    func changeAccountKeys(
        _ change: (AccountKeys) throws(NotesError) -> AccountKeys?
    ) async throws(NotesError) -> Bool {
        for _ in 0..<8 {
            guard let next = try change(try await calls.accountKeys()) else { return false }
            let outcome: AccountKeysOutcome = try await calls.call(.putAccountKeys, AccountKeysChange(next))
            switch outcome {
            case .applied: return true
            case .conflict: continue
            case .notRegistered: throw .malformedAnswer
            }
        }
        throw .keepsMoving
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

    func sealed<Value>(_ make: () throws(SealedNoteError) -> Value) throws(NotesError) -> Value {
        do { return try make() } catch { throw .sealed(error) }
    }
}

extension PasswordStrength {
    fileprivate var stretching: KeyStretching { self == .standard ? .standard : .strong }
}

extension ClientRegistration {
    fileprivate init(password: SecretBytes) throws(OPAQUEError) {
        self = try password.lent { span throws(OPAQUEError) in try ClientRegistration(password: span) }
    }

    fileprivate func finish(
        _ response: RegistrationResponse, password: SecretBytes, parameters: LoginParameters,
        stretching: KeyStretching
    ) throws(OPAQUEError) -> (record: RegistrationRecord, exportKey: SymmetricKey) {
        try password.lent { span throws(OPAQUEError) in
            try finish(response, password: span, parameters: parameters, stretching: stretching)
        }
    }
}

extension ClientLogin {
    fileprivate init(password: SecretBytes) throws(OPAQUEError) {
        self = try password.lent { span throws(OPAQUEError) in try ClientLogin(password: span) }
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
        try password.lent { span throws(OPAQUEError) in
            try finish(response, password: span, parameters: parameters, stretching: stretching)
        }
    }
}

extension SecretBytes {
    fileprivate func mixed(with loginKey: LoginKey?) -> SecretBytes {
        guard let loginKey else { return self }
        return withBytes { loginKey.mixed(with: $0) }.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    fileprivate func lent<Result, Failure: Error>(
        _ use: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withBytes { bytes throws(Failure) in try use(bytes.bindMemory(to: UInt8.self).span) }
    }
}
