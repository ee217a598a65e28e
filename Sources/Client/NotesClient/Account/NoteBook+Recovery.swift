// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import SealedNotes
import SecretMemory
import SecretSharing
import SignetClient
public import SocialRecovery

/// The part of a person's notes that guardians guard, and its recovery on a device that has nothing else.
extension NoteBook {
    /// The entries that the recovery journal needs so that the notes open after a recovery: every account key that this
    /// device has. An account without a key gets one now.
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

    /// Applies what a recovery restored. Fetches what the previous devices have written, and gives the account and each
    /// of the user's own notes another key, because a holder of a previous device has the old ones. The notes password
    /// and the recovery key on paper become invalid with the old keys. If this is interrupted, call it again.
    ///
    /// - Parameters:
    ///   - entries: the entries of the journal.
    ///   - devices: Ed25519 keys, 32 bytes each, of the devices that the recovery removed, from the verified history.
    /// - Returns: how many notes open on this device.
    /// - Throws: ``NotesError``.
    ///
    /// Security: this device believes what previous devices signed only here, because there is no other source. It then
    /// signs after it, and believes the previous devices no longer.
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

    /// Signs each of the user's own notes with this device. A note with a reader whose keys the user has yet to accept
    /// is left for later.
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
