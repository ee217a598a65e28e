// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
public import SealedNotes
public import SecretMemory
public import SignetClient

extension NoteBook {
    /// Sets or replaces the notes password. This wraps the account's key again, and touches no note.
    ///
    /// The exchange does not show the server the password.
    ///
    /// - Parameters:
    ///   - password: UTF-8 in normal form C, as the person types it everywhere.
    ///   - loginKey: a second secret that a login needs besides the password from now on; nil for none.
    /// - Throws: ``NotesError``; ``NotesError/weakPassword(_:)``: nothing was sent.
    ///
    /// Security: without a login key, the server's operator can try passwords, offline and without limit.
    public func setPassword(
        _ password: SecretBytes, loginKey: LoginKey? = nil, strength: PasswordStrength = .strong
    ) async throws(NotesError) {
        if let weakness = SecretWeakness.first(of: password, knowing: [author.handle.description]) {
            throw .weakPassword(weakness)
        }
        try await settleAccountKey()
        guard let account else { throw .noAccountKey }
        try await passwords.register(account, under: password, loginKey: loginKey, strength: strength)
    }

    /// Gets the account's key with the notes password, on a device that does not have it or was locked.
    ///
    /// - Parameter loginKey: the login key with which the password was set.
    /// - Throws: ``NotesError``; ``NotesError/wrongPassword``, also if the login key is wrong, missing or not expected.
    public func unlock(password: SecretBytes, loginKey: LoginKey? = nil) async throws(NotesError) {
        let key = try await passwords.accountKey(password: password, loginKey: loginKey)
        try await takeAccountKey(key)
    }

    // MARK: Recovery key

    /// Makes a recovery key to be printed and kept safe. An earlier one no longer opens anything.
    ///
    /// - Throws: ``NotesError``.
    public func makeRecoveryKey() async throws(NotesError) -> RecoveryKey {
        try await settleAccountKey()
        guard let account else { throw .noAccountKey }
        let recovery = RecoveryKey.generate()
        let wrap = try sealed { () throws(SealedNoteError) in try AccountKeyWrap(account, recoveryKey: recovery) }
        try await calls.changeAccountKeys { keys throws(NotesError) in
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

    /// Forgets the account's key on this device. No note opens until ``unlock(password:)`` or ``unlock(recoveryKey:)``.
    ///
    /// - Throws: ``NotesError/nothingUnlocks``: the account has neither a password nor a recovery key.
    ///
    /// Security: this locks out a person who uses the device, but not a thief of its keys, which open everything that
    /// was encrypted to the device.
    public func lock() async throws(NotesError) {
        let keys = try await calls.accountKeys()
        guard keys.password != nil || keys.recovery != nil else { throw .nothingUnlocks }
        try files.changeAccount({ $0.isLocked = true }, and: { try $0.forgetAccountKeys() })
        keyring.removeAll()
        opened.removeAll()
    }

    private var passwords: PasswordExchange<Store> { PasswordExchange(calls: calls, author: author) }

    func sealed<Value>(_ make: () throws(SealedNoteError) -> Value) throws(NotesError) -> Value {
        do { return try make() } catch { throw .sealed(error) }
    }
}
