// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import SealedNotes
import SecretMemory
import SecretSharing
import SignetClient
public import SocialRecovery

/// What guardians guard of a person's notes, and how it comes back to a device that has nothing else.
extension NoteBook {
    /// What the recovery journal has to hold, so that the notes open again after a recovery: every account key that this
    /// device has. An account without one gets one now.
    ///
    /// - Throws: ``NotesError``.
    public func recoveryEntries() async throws(NotesError) -> [JournalEntry] {
        try await settleAccountKey()
        return keyring.keys.sorted { $0.key < $1.key }.map { epoch, key in
            let octets = key.secret.withUnsafeBytes { bytes in
                SecretBytes(copying: bytes.bindMemory(to: UInt8.self).span)
            }
            return .accountKey(epoch: epoch, octets)
        }
    }

    /// Applies what a recovery restored: fetches what the devices from before have written, and gives the account and
    /// every note of one's own another key, because a holder of one of those devices has the old ones. The notes
    /// password and the recovery key on paper end with them. Interrupted, it may be done again.
    ///
    /// - Parameters:
    ///   - entries: of the journal.
    ///   - devices: Ed25519 keys, 32 bytes each, of the devices that the recovery removed, out of the verified history.
    /// - Returns: how many notes open here.
    /// - Throws: ``NotesError``.
    ///
    /// Security: what a previous device signed is believed this once, as there is no other source. Then this device
    /// signs on top of it, and none of them is believed any more.
    public func bringBack(
        _ entries: [JournalEntry], writtenBy devices: [[UInt8]]
    ) async throws(NotesError) -> Int {
        let keys = accountKeys(in: entries)
        guard let newest = keys.last else { return held.count }
        people.devicesOfBefore = devices
        defer {
            people.devicesOfBefore = []
            forgetPeople()
        }
        forgetPeople()
        for key in keys where keyring.keys[key.epoch] == nil { try await keepWrapped(key) }
        try await takeAccountKey(account ?? newest)
        _ = try await sync()
        if account?.epoch == newest.epoch {
            try await replaceAccountKey()
            _ = try await sync()
        }
        try await vouch()
        return held.count
    }

    private func accountKeys(in entries: [JournalEntry]) -> [AccountMasterKey] {
        var keys: [UInt32: AccountMasterKey] = [:]
        for case .accountKey(let epoch, let octets) in entries where epoch > 0 {
            var bytes = octets.withSpan { span in span.indices.map { span[$0] } }
            defer { bytes.wipe() }
            keys[epoch] = AccountMasterKey(handle: author.handle, epoch: epoch, secret: SymmetricKey(data: bytes))
        }
        return keys.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Puts this device's signature on top of every note of one's own. A note with a reader whose keys the user has yet
    /// to accept waits with them.
    private func vouch() async throws(NotesError) {
        for note in ownNotes() where held[note]?.control.entries.last?.author != author {
            do { try await rekey(note) } catch {
                switch error {
                case .changedKeys, .stranger: continue
                default: throw error
                }
            }
        }
        try await advanceAccountHead()
    }
}
