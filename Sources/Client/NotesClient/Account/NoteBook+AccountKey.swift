// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient

/// The account master key on this device. The first device makes it, the devices hand it to each other, and each stores
/// it encrypted to itself. After a device was lost, the account gets another one, of the next epoch.
extension NoteBook {
    /// Fetches the key, or makes it if the account has none, and hands it to devices of the account that lack it.
    func settleAccountKey() async throws(NotesError) {
        for _ in 0..<8 {
            let own = try await ownLookup()
            let there = try await calls.accountKeys()
            try fetchAccountKey(there, own)
            guard let key = account ?? newAccountKey(there) else { throw .noAccountKey }
            let next = try keyring.handed(key, to: own, there)
            if next == there { return try keep(key, next) }
            let outcome: AccountKeysOutcome = try await calls.call(.putAccountKeys, AccountKeysChange(next))
            switch outcome {
            case .applied: return try keep(key, next)
            case .conflict: continue
            case .notRegistered: throw .malformedAnswer
            }
        }
        throw .keepsMoving
    }

    /// Gives the account another master key, which a lost device does not know, and gives each of the user's own notes
    /// another key.
    ///
    /// The notes password and the recovery key no longer open anything, and have to be set again.
    ///
    /// - Returns: how many notes have a new key.
    /// - Throws: ``NotesError``. If it is interrupted, call it again; every note opens in the meantime.
    public func rotate() async throws(NotesError) -> Int {
        _ = try await sync()
        try await replaceAccountKey()
        return try await finishRotation()
    }

    /// Gives each of the user's own notes the new key that it needs after a rotation or
    /// ``prepareRemoval(of:isKeepingKeys:)``.
    ///
    /// - Returns: how many notes of their own the user has.
    /// - Throws: ``NotesError``; also what the sync only reports.
    public func finishRotation() async throws(NotesError) -> Int {
        _ = try await sync()
        let mine = ownNotes()
        for note in mine where try isDue(note) { try await rekey(note) }
        try await advanceAccountHead()
        return mine.count
    }

    /// Gives the account a key of the next epoch. An epoch has only one key: if another device of the account does the
    /// same at this moment, the key that reaches the server first becomes the account's, and the other one is given up.
    func replaceAccountKey() async throws(NotesError) {
        guard let old = account else { throw .noAccountKey }
        let (epoch, overflow) = old.epoch.addingReportingOverflow(1)
        guard !overflow else { throw .keepsMoving }
        let own = try await ownLookup()
        let key = AccountMasterKey.generate(for: author.handle, epoch: epoch)
        let bare = try keyring.handed(key, to: own, AccountKeys(version: 0))
        let isReplaced = try await calls.changeAccountKeys { there throws(NotesError) in
            try fetchAccountKey(there, own)
            guard account?.epoch == old.epoch else { return nil }
            return AccountKeys(version: there.version, devices: bare.devices)
        }
        if isReplaced { try keep(key, bare) }
    }

    /// The user's own notes that open on this device.
    func ownNotes() -> [NoteID] {
        held.values.filter {
            $0.control.state.owner == author.handle && !$0.control.state.isDeleted && $0.currentKey != nil
        }.map(\.note).sorted()
    }

    private func fetchAccountKey(_ there: AccountKeys, _ own: VerifiedLookup) throws(NotesError) {
        if let key = try keyring.newer(in: there, from: people.keys(own)) { try keep(key, there) }
    }

    private func newAccountKey(_ there: AccountKeys) -> AccountMasterKey? {
        there.version == 0 ? AccountMasterKey.generate(for: author.handle, epoch: 1) : nil
    }

    /// Stores the key for offline use, wrapped to this device.
    private func keep(_ key: AccountMasterKey, _ there: AccountKeys) throws(NotesError) {
        guard keyring.keys[key.epoch] == nil else { return }
        keyring.add(key)
        if let bytes = there.devices[author.device] {
            try write { tables in try tables.keep(AccountDeviceWrap(decoding: bytes)) }
        }
        try loadAll()
    }

    // MARK: A key from elsewhere

    /// Stores the key, wrapped to this device, and makes sure that the server has that wrap too.
    func takeAccountKey(_ key: AccountMasterKey) async throws(NotesError) {
        forgetPeople()
        try await keepWrapped(key)
        try await settleAccountKey()
        try loadAll()
    }

    /// Stores a key for this device alone.
    func keepWrapped(_ key: AccountMasterKey) async throws(NotesError) {
        let wrap = try keyring.wrapForThisDevice(key, try await ownLookup())
        try files.changeAccount({ $0.isLocked = false }, and: { try $0.keep(wrap) })
        keyring.add(key)
    }
}

extension NoteCalls {
    /// Changes the account's keys at the server, and tries again if another device changed them first.
    ///
    /// - Parameter change: returns what replaces the keys at the server; nil to leave them as they are.
    /// - Returns: whether anything was changed.
    @discardableResult
    nonisolated(nonsending) func changeAccountKeys(
        _ change: (AccountKeys) throws(NotesError) -> AccountKeys?
    ) async throws(NotesError) -> Bool {
        for _ in 0..<8 {
            guard let next = try change(try await accountKeys()) else { return false }
            let outcome: AccountKeysOutcome = try await call(.putAccountKeys, AccountKeysChange(next))
            switch outcome {
            case .applied: return true
            case .conflict: continue
            case .notRegistered: throw .malformedAnswer
            }
        }
        throw .keepsMoving
    }
}
