// SPDX-License-Identifier: Apache-2.0

import DurableStorage
public import KeyTransparency
public import NotesAPI
package import SQLStores

extension NoteArchive {
    /// The wraps of an account's master key.
    ///
    /// - Throws: ``NoteStoreError``.
    public func accountKeys(of handle: Handle) async throws(NoteStoreError) -> AccountKeys {
        try await database.read { database in
            guard
                let row = try database.row(
                    "SELECT id, keys_version, password, recovery FROM accounts WHERE handle = ?", [handle.bytes])
            else { return AccountKeys(version: 0) }
            let devices = try database.rows(
                "SELECT device, wrap FROM device_wraps WHERE account = ?", [row.integer(0)]
            ).map { (try $0.bytes(0), try $0.bytes(1)) }
            return AccountKeys(
                version: try row.count(1), password: try row.optionalBytes(2), recovery: try row.optionalBytes(3),
                devices: Dictionary(devices) { first, _ in first })
        }
    }

    /// Puts a whole set of wraps in the place of the stored one, if that is the version it says.
    ///
    /// - Throws: ``NoteStoreError``.
    public func change(
        _ change: AccountKeysChange, of handle: Handle
    ) async throws(NoteStoreError) -> AccountKeysOutcome {
        try await write { transaction in
            let (keys, account) = (change.keys, try transaction.account(handle))
            let (version, login) = try transaction.database.keysState(of: account)
            guard version == keys.version else { return .conflict(version: version) }
            guard keys.password == nil || login != nil else { return .notRegistered }
            try transaction.run(
                "UPDATE accounts SET password = ?, recovery = ?, login = ? WHERE id = ?",
                [
                    keys.password, keys.recovery,
                    keys.password == nil ? nil : login, account,
                ])
            try transaction.run("DELETE FROM device_wraps WHERE account = ?", [account])
            for (device, wrap) in keys.devices {
                try transaction.run(
                    "INSERT INTO device_wraps (account, device, wrap) VALUES (?, ?, ?)",
                    [account, device, wrap])
            }
            return .applied(version: try transaction.advanceKeys(of: account))
        }
    }

    /// Puts a password's record and wrap in the place of the last one's, both or neither.
    ///
    /// - Throws: ``NoteStoreError``.
    public func register(
        _ registration: RegistrationEnd, of handle: Handle
    ) async throws(NoteStoreError) -> AccountKeysOutcome {
        try await write { transaction in
            let account = try transaction.account(handle)
            let (version, _) = try transaction.database.keysState(of: account)
            guard version == registration.version else { return .conflict(version: version) }
            try transaction.run(
                "UPDATE accounts SET login = ?, password = ? WHERE id = ?",
                [registration.record, registration.wrap, account])
            return .applied(version: try transaction.advanceKeys(of: account))
        }
    }

    /// What an account registered its password with, and what it gets for it; nil for no account and for no password.
    ///
    /// - Throws: ``NoteStoreError``.
    public func registration(
        of handle: Handle
    ) async throws(NoteStoreError) -> (record: [UInt8], grant: LoginGrant)? {
        try await database.read { database in
            let row = try database.row(
                "SELECT login, password, keys_version FROM accounts WHERE handle = ?", [handle.bytes])
            guard let row, let record = try row.optionalBytes(0), let wrap = try row.optionalBytes(1) else {
                return nil
            }
            return (record, LoginGrant(version: try row.count(2), wrap: wrap))
        }
    }

    /// Whether any account has registered a password: then the login's secrets must not be replaced.
    ///
    /// - Throws: ``NoteStoreError``.
    public func hasRegistrations() async throws(NoteStoreError) -> Bool {
        try await database.read { try Self.hasRegistrations($0) }
    }

    /// The same of a file that no server has open.
    package static func hasRegistrations(_ database: SQLTransaction) throws -> Bool {
        try database.row("SELECT 1 FROM accounts WHERE login IS NOT NULL LIMIT 1", []) != nil
    }

    /// Whether the secrets of logins are those under which people have registered passwords here; of the first that are asked for, it is
    /// taken down.
    ///
    /// - Parameter digest: 32 bytes, from which nobody can find them.
    /// - Throws: ``NoteStoreError``.
    package func isKnown(loginKeys digest: [UInt8]) async throws(NoteStoreError) -> Bool {
        try await database.write(at: clock()) { try $0.database.isKnown(secret: Self.loginKeys, digest: digest) }.value
    }

    /// Unsets every password, after the secrets under which they were registered were lost. Devices keep the keys that they have.
    ///
    /// - Throws: ``NoteStoreError``.
    package func forgetPasswords() async throws(NoteStoreError) {
        _ = try await database.write(at: clock()) { transaction in
            try transaction.run(
                "UPDATE accounts SET login = NULL, password = NULL, keys_version = keys_version + 1 WHERE login IS NOT NULL",
                [])
            try transaction.run("DELETE FROM secrets WHERE name = ?", [Self.loginKeys])
        }
    }

    /// The name of the secrets of logins among those that a database knows.
    package static let loginKeys = "login"
}

extension SQLTransaction {
    fileprivate func keysState(of account: Int64) throws -> (version: UInt64, login: [UInt8]?) {
        guard let row = try row("SELECT keys_version, login FROM accounts WHERE id = ?", [account]) else {
            throw DamagedRow()
        }
        return (try row.count(0), try row.optionalBytes(1))
    }
}

extension NoteTransaction {
    fileprivate func advanceKeys(of account: Int64) throws -> UInt64 {
        try run("UPDATE accounts SET keys_version = keys_version + 1 WHERE id = ?", [account])
        let row = try database.row("SELECT keys_version FROM accounts WHERE id = ?", [account])
        let version = try row?.count(0) ?? 0
        try append(.keys(version: version), to: account)
        return version
    }
}
