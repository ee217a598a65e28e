import KeyTransparency
import NoteLog
import SealedNotes
import SignetAPI
import SignetClient

/// The account master key on this device: made once by the first device, handed from device to device, and kept here
/// encrypted to this device.
extension NoteBook {
    /// Opens what an earlier sync has kept.
    func openStoredAccountKey() throws(NotesError) {
        let wrap = try read { try $0.account() }.deviceWrap
        guard let wrap else { return }
        // It was judged when it was kept.
        let own = AuthorKeys(pinned: [wrap.sender.device], of: author.handle)
        do { account = try wrap.open(with: device, own: own) } catch { throw .accountKey(error) }
    }

    /// Fetches the key, or makes it if the account has none, and hands it to own devices that lack it.
    func settleAccountKey() async throws(NotesError) {
        for _ in 0..<8 {
            let own = try await ownLookup()
            let there = try await calls.accountKeys()
            if account == nil { try fetchAccountKey(there, own) }
            guard let key = account ?? newAccountKey(there) else { throw .noAccountKey }
            let next = try handed(key, to: own, there)
            let isSettled = next == there
            if isSettled { return try keepAccountKey(key, own, there) }
            let outcome: AccountKeysOutcome = try await calls.call(.putAccountKeys, AccountKeysChange(next))
            switch outcome {
            case .applied: return try keepAccountKey(key, own, next)
            case .conflict: continue
            case .notRegistered: throw .malformedAnswer
            }
        }
        throw .keepsMoving
    }

    /// Takes the key that another own device, or an earlier try of this one, has left for this device.
    private func fetchAccountKey(_ there: AccountKeys, _ own: VerifiedLookup) throws(NotesError) {
        guard let bytes = there.devices[author.device] else { return }
        do {
            let wrap = try AccountDeviceWrap(decoding: bytes)
            account = try wrap.open(with: device, own: AuthorKeys(own))
        } catch { throw .accountKey(error) }
    }

    private func newAccountKey(_ there: AccountKeys) -> AccountMasterKey? {
        there.version == 0 ? AccountMasterKey.generate(for: author.handle, epoch: 1) : nil
    }

    /// The stored wraps with one for each own device, and none for others.
    private func handed(
        _ key: AccountMasterKey, to own: VerifiedLookup, _ there: AccountKeys
    ) throws(NotesError) -> AccountKeys {
        var devices: [[UInt8]: [UInt8]] = [:]
        for recipient in WrapRecipient.devices(of: own) {
            let device = recipient.author.device
            if let wrap = there.devices[device] {
                devices[device] = wrap
            } else {
                devices[device] = try wrap(key, recipient)
            }
        }
        return AccountKeys(
            version: there.version, password: there.password, recovery: there.recovery, devices: devices)
    }

    func wrap(_ key: AccountMasterKey, _ recipient: WrapRecipient) throws(NotesError) -> [UInt8] {
        do {
            return try AccountDeviceWrap(key, to: recipient, sender: author, with: secrets.sign).encoded
        } catch { throw .sealed(error) }
    }

    /// Keeps the key for offline use, wrapped to this device.
    func keepAccountKey(
        _ key: AccountMasterKey, _ own: VerifiedLookup, _ keys: AccountKeys
    ) throws(NotesError) {
        let isNew = account == nil
        account = key
        try write { tables in
            var row = try tables.account()
            guard row.deviceWrap == nil, let bytes = keys.devices[author.device] else { return }
            row.deviceWrap = try AccountDeviceWrap(decoding: bytes)
            try tables.set(row)
        }
        if isNew { try loadAll() }
    }
}
