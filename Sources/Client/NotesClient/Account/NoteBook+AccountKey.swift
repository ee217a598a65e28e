// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient

/// The account master key on this device: made once by the first device, handed from device to device, and kept here
/// encrypted to this device. After a device was lost there is another, of the next epoch.
extension NoteBook {
    /// Fetches the key, or makes it if the account has none, and hands it to own devices that lack it.
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

    /// Gives the account another master key, of which a lost device knows nothing, and every note of one's own another key.
    ///
    /// The notes password and the recovery key open nothing any more: they have to be set again.
    ///
    /// - Returns: how many notes have a new key.
    /// - Throws: ``NotesError``. Interrupted, it may be done again; every note opens meanwhile.
    public func rotate() async throws(NotesError) -> Int {
        _ = try await sync()
        try await replaceAccountKey()
        return try await finishRotation()
    }

    /// Gives every note of one's own the key that it is due, after a rotation or ``prepareRemoval(of:isKeepingKeys:)``.
    ///
    /// - Returns: how many notes of one's own there are.
    /// - Throws: ``NotesError``: what stood in the way of the sync is said here.
    public func finishRotation() async throws(NotesError) -> Int {
        _ = try await sync()
        let mine = ownNotes()
        for note in mine where try isDue(note) { try await rekey(note) }
        try await advanceAccountHead()
        return mine.count
    }

    /// Gives the account a key of the next epoch. If another device of the account does so at the same moment, the one that the server
    /// had first is the account's, and the other is given up: of one epoch there is one key.
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

    /// Notes of one's own that open here.
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

    /// Keeps the key for offline use, wrapped to this device.
    private func keep(_ key: AccountMasterKey, _ there: AccountKeys) throws(NotesError) {
        guard keyring.keys[key.epoch] == nil else { return }
        keyring.add(key)
        if let bytes = there.devices[author.device] {
            try write { tables in try tables.keep(AccountDeviceWrap(decoding: bytes)) }
        }
        try loadAll()
    }

    // MARK: A key from elsewhere

    /// Keeps the key, wrapped to this device, and sees to it that the server has that wrap too.
    func takeAccountKey(_ key: AccountMasterKey) async throws(NotesError) {
        forgetPeople()
        try await keepWrapped(key)
        try await settleAccountKey()
        try loadAll()
    }

    /// Keeps a key for this device alone.
    func keepWrapped(_ key: AccountMasterKey) async throws(NotesError) {
        let wrap = try keyring.wrapForThisDevice(key, try await ownLookup())
        try files.changeAccount({ $0.isLocked = false }, and: { try $0.keep(wrap) })
        keyring.add(key)
    }
}

extension NoteCalls {
    /// Changes the account's keys at the server, again if another device was quicker.
    ///
    /// - Parameter change: what is to stand in the place of what the server has; nil: that stays.
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
