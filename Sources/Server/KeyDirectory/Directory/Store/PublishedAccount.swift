// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DurableStorage
import KeyTransparency
import LogEngine
import SQLStores
import TransparencyLog
import VRF

/// An account as a published checkpoint shows it: its latest state whose record that checkpoint covers.
struct PublishedAccount: Sendable {
    /// A device that is active at that state.
    struct Device: Sendable {
        let signingKey: [UInt8]
        let keyHash: [UInt8]
        /// Its leaf's index in the log.
        let index: UInt64
    }

    let account: AccountRow
    let state: StateRow
    /// The state record's index in the log.
    let index: UInt64
    /// In rising order of number, as in the state.
    let devices: [Device]

    /// Whether the database has no newer state that still waits for the log.
    let isNewest: Bool
    /// How many entries a checkpoint must have to cover it all.
    let neededSize: UInt64

    /// Looks an account up in the database.
    ///
    /// - Parameter places: where the leaves stand in the checkpoint that is to be answered with.
    /// - Returns: nil if the checkpoint covers no state of the account.
    static func find(
        _ account: AccountRow?, in database: SQLTransaction, at places: LeafPlaces
    ) throws -> PublishedAccount? {
        guard let account else { return nil }
        var seen = 0
        let newest = try StateRow.newest(of: account.id, in: database) { leaf in
            seen += 1
            return places.index(of: leaf) != nil
        }
        guard let state = newest, let index = places.index(of: state.leaf) else { return nil }
        let devices = try DeviceRow.active(of: account.id, at: state.version, in: database).map { row in
            // Appended before the state record, in the same group or an earlier one.
            guard let index = places.index(of: row.leaf) else { throw DamagedRow() }
            return Device(signingKey: row.signingKey, keyHash: row.keyHash, index: index)
        }
        return PublishedAccount(
            account: account, state: state, index: index, devices: devices, isNewest: seen == 1)
    }

    private init(account: AccountRow, state: StateRow, index: UInt64, devices: [Device], isNewest: Bool) {
        self.account = account
        self.state = state
        self.index = index
        self.devices = devices
        self.isNewest = isNewest
        neededSize = devices.reduce(index) { max($0, $1.index) } + 1
    }

    /// The hashes of the active devices' keys, as the eCall and friend routes write them.
    var publicKeyHashs: [String] { devices.map { text(Base64.encode($0.keyHash)) } }
}

/// Where leaves stand within one published checkpoint.
struct LeafPlaces: Sendable {
    let log: DurableLog
    /// The checkpoint's size.
    let size: UInt64

    /// The index of the first entry with this leaf hash, if the checkpoint covers it.
    func index(of leaf: TreeHash) -> UInt64? {
        log.index(ofLeaf: leaf).flatMap { $0 < size ? $0 : nil }
    }
}
