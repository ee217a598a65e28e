// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
import SignetClient

/// The revocation of a device of the account. What the device wrote before counts, nothing that it writes afterwards
/// does, and it gets no later keys.
extension NoteBook {
    /// Records that a device is about to be revoked. Call this before asking the directory to revoke it. If the rest is
    /// interrupted, the first ``sync()`` that finds the device revoked completes it.
    ///
    /// - Parameters:
    ///   - number: the owner's running number for the device.
    ///   - isKeepingKeys: whether the account and its notes keep their keys, because the device was not lost.
    /// - Throws: ``NotesError``.
    public func prepareRemoval(of number: UInt16, isKeepingKeys: Bool) async throws(NotesError) {
        forgetPeople()
        let devices = try await ownLookup().state.devices
        guard let device = devices.first(where: { $0.number == number }) else { return }
        try write { try $0.set(DeviceRemoval(device: device.keys.signing, isKeepingKeys: isKeepingKeys)) }
    }

    /// Devices that were to be removed, and that the directory's log no longer lists.
    func removalsToSettle() async throws(NotesError) -> [DeviceRemoval] {
        let current = Set(try await ownLookup().state.devices.map(\.keys.signing))
        try await noticeRemovals(leaving: current)
        return try read { try $0.removals() }.filter { !current.contains($0.device) }
    }

    /// If another device removed one and did not settle what that one wrote, this device settles it and keeps the keys.
    /// Once a remaining device has signed the account's head after the removed device's last head, this device believes
    /// nothing more of the removed one.
    private func noticeRemovals(leaving current: Set<[UInt8]>) async throws(NotesError) {
        let known = try read { try $0.ownDevices() }
        guard known != current else { return }
        var gone = known.subtracting(current)
        if !gone.isEmpty {
            let newest = try await fetchHeads()?.heads.last?.author.device
            if newest.map({ !gone.contains($0) }) ?? true { gone = [] }
        }
        try write { [gone] tables in
            let planned = Set(try tables.removals().map(\.device))
            for device in gone.subtracting(planned) {
                try tables.set(DeviceRemoval(device: device, isKeepingKeys: true))
            }
            try tables.set(ownDevices: current)
        }
    }

    /// Gives the account a key that a removed device does not know, if the account still has an earlier key. A key that
    /// the removed device itself made last counts as an earlier one.
    func replaceAccountKey(knownTo removals: [DeviceRemoval]) async throws(NotesError) {
        guard let account else { return }
        var isDue = false
        for var removal in removals where !removal.isKeepingKeys {
            if removal.accountEpoch == 0 {
                removal.accountEpoch = account.epoch
                try write { [removal] in try $0.set(removal) }
            }
            isDue = isDue || removal.accountEpoch == account.epoch
        }
        if isDue { try await replaceAccountKey() }
    }

    /// Whether a reader who has not seen the note yet would have to believe one of these devices.
    func stands(_ note: NoteID, on removals: [DeviceRemoval]) throws(NotesError) -> Bool {
        let devices = Set(removals.map(\.device))
        guard !devices.isEmpty else { return false }
        let held = try heldNote(note)
        let epoch = held.control.state.epoch
        let authors =
            [held.control.entries.last?.author, held.revisions.head?.record.author]
            + held.children.filter { $0.record.record.epoch == epoch }.map(\.record.record.author)
        return authors.contains { $0.map { $0.handle == author.handle && devices.contains($0.device) } ?? false }
    }
}
