// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient

/// The account master key on this device: made once by the first device, handed from device to device, and kept here
/// encrypted to this device. After a device was lost there is another, of the next epoch.
extension NoteBook {
    /// Opens what an earlier sync has kept.
    func openStoredAccountKeys() throws(NotesError) {
        for wrap in try read({ try $0.accountKeys() }) {
            // It was judged when it was kept.
            let own = AuthorKeys(pinned: [wrap.sender.device], of: author.handle)
            do { accounts[wrap.epoch] = try wrap.open(with: device, own: own) } catch { throw .accountKey(error) }
        }
    }

    /// Fetches the key, or makes it if the account has none, and hands it to own devices that lack it.
    func settleAccountKey() async throws(NotesError) {
        for _ in 0..<8 {
            let own = try await ownLookup()
            let there = try await calls.accountKeys()
            try fetchAccountKey(there, own)
            guard let key = account ?? newAccountKey(there) else { throw .noAccountKey }
            let next = try handed(key, to: own, there)
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
        let bare = try handed(key, to: own, AccountKeys(version: 0))
        let isReplaced = try await changeAccountKeys { there throws(NotesError) in
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

    /// Takes the key that an own device, or an earlier try of this one, has left for this device, if it is newer.
    private func fetchAccountKey(_ there: AccountKeys, _ own: VerifiedLookup) throws(NotesError) {
        guard let bytes = there.devices[author.device] else { return try checkNothingNewer(there, own) }
        do {
            let wrap = try AccountDeviceWrap(decoding: bytes)
            guard wrap.epoch > account?.epoch ?? 0 else { return }
            let key = try wrap.open(with: device, own: keys(own))
            try keep(key, there)
        } catch let error as SealedNoteError {
            throw .accountKey(error)
        } catch let error as NotesError { throw error } catch { throw .malformedAnswer }
    }

    /// Another device has given the account a newer key, and not to this one yet: a second key of that epoch must not be made here.
    private func checkNothingNewer(_ there: AccountKeys, _ own: VerifiedLookup) throws(NotesError) {
        let devices = keys(own).devices
        let isNewer = there.devices.values.contains { bytes in
            guard let wrap = try? AccountDeviceWrap(decoding: bytes) else { return false }
            return devices.contains(wrap.sender.device) && wrap.epoch > account?.epoch ?? 0
        }
        guard !isNewer else { throw .noAccountKey }
    }

    private func newAccountKey(_ there: AccountKeys) -> AccountMasterKey? {
        there.version == 0 ? AccountMasterKey.generate(for: author.handle, epoch: 1) : nil
    }

    /// The stored wraps with one for each own device, signed by a device that is one now, and none for others.
    private func handed(
        _ key: AccountMasterKey, to own: VerifiedLookup, _ there: AccountKeys
    ) throws(NotesError) -> AccountKeys {
        let current = Set(own.state.devices.map(\.keys.signing))
        var devices: [[UInt8]: [UInt8]] = [:]
        for recipient in WrapRecipient.devices(of: own) {
            let device = recipient.author.device
            let old = there.devices[device].flatMap { try? AccountDeviceWrap(decoding: $0) }
            if let old, current.contains(old.sender.device), old.recipientKeys == recipient.keysHash {
                devices[device] = old.encoded
            } else {
                devices[device] = try wrap(key, recipient)
            }
        }
        return AccountKeys(
            version: there.version, password: there.password, recovery: there.recovery, devices: devices)
    }

    private func wrap(_ key: AccountMasterKey, _ recipient: WrapRecipient) throws(NotesError) -> [UInt8] {
        try sealed { () throws(SealedNoteError) in
            try AccountDeviceWrap(key, to: recipient, sender: author, with: secrets.sign).encoded
        }
    }

    /// Keeps the key for offline use, wrapped to this device.
    private func keep(_ key: AccountMasterKey, _ keys: AccountKeys) throws(NotesError) {
        guard accounts[key.epoch] == nil else { return }
        accounts[key.epoch] = key
        if let bytes = keys.devices[author.device] {
            try write { tables in try tables.keep(AccountDeviceWrap(decoding: bytes)) }
        }
        try loadAll()
    }
}
