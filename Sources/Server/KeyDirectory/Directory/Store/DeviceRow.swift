// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
import Foundation
import KeyTransparency
import SQLStores
import SignetAPI
import TransparencyLog
import VRF

/// A device of an account, as far as requests and log entries need it.
struct DeviceRow: Sendable {
    /// Ed25519, 32 bytes.
    let signingKey: [UInt8]
    /// SHA-256 of it.
    let keyHash: [UInt8]
    /// Leaf hash of the device leaf.
    let leaf: TreeHash

    /// The devices that an account has at a version, in rising order of number.
    static func active(of account: Int64, at version: UInt64, in database: SQLTransaction) throws -> [DeviceRow] {
        let version = Int64(clamping: version)
        return try database.rows(
            """
            SELECT signing_key, key_hash, leaf FROM devices
            WHERE account = ? AND added <= ? AND (revoked IS NULL OR revoked > ?) ORDER BY number
            """, [account, version, version]
        ).map { DeviceRow(signingKey: try $0.bytes(0), keyHash: try $0.bytes(1), leaf: try $0.leaf(2)) }
    }

    /// The accounts that have or had a device with this signing key, those that took it last first.
    static func accounts(withKey key: [UInt8], in database: SQLTransaction) throws -> [Int64] {
        try database.rows(
            "SELECT account FROM devices WHERE signing_key = ? ORDER BY revoked IS NOT NULL, account DESC", [key]
        ).map { try $0.integer(0) }
    }

    /// The accounts that have or had a device whose signing key has this SHA-256.
    static func accounts(withKeyHash hash: [UInt8], in database: SQLTransaction) throws -> [Int64] {
        try database.rows(
            "SELECT DISTINCT account FROM devices WHERE key_hash = ? ORDER BY account", [hash]
        ).map { try $0.integer(0) }
    }

    /// The highest number that an account ever gave a device; 0 if none.
    static func highestNumber(of account: Int64, in database: SQLTransaction) throws -> UInt16 {
        let row = try database.row("SELECT COALESCE(MAX(number), 0) FROM devices WHERE account = ?", [account])
        guard let number = UInt16(exactly: try row?.integer(0) ?? 0) else { throw DamagedRow() }
        return number
    }

    /// Makes the devices of `state` the account's active ones from its version on.
    ///
    /// - Throws: `DirectoryError/refused(_:)` with `keyInUse`: another account's device has one of the keys.
    static func replace(
        of account: Int64, with state: AccountState, label: VRFHash, in database: SQLTransaction
    ) throws {
        let version = Int64(clamping: state.version)
        let known = Set(try activeNumbers(of: account, in: database))
        let listed = Set(state.devices.map(\.number))
        for number in known.subtracting(listed) {
            try database.run(
                "UPDATE devices SET revoked = ? WHERE account = ? AND number = ?", [version, account, number])
        }
        for device in state.devices where !known.contains(device.number) {
            try insert(device, of: account, added: version, label: label, in: database)
        }
    }

    private static func activeNumbers(of account: Int64, in database: SQLTransaction) throws -> [UInt16] {
        try database.rows("SELECT number FROM devices WHERE account = ? AND revoked IS NULL", [account]).map { row in
            guard let number = UInt16(exactly: try row.integer(0)) else { throw DamagedRow() }
            return number
        }
    }

    private static func insert(
        _ device: DeviceRecord, of account: Int64, added: Int64, label: VRFHash, in database: SQLTransaction
    ) throws {
        let key = device.keys.signing
        let holder = try database.row("SELECT 1 FROM devices WHERE signing_key = ? AND revoked IS NULL", [key])
        guard holder == nil else { throw DirectoryError.refused(.keyInUse) }
        let leaf = TreeHash.leaf(DeviceLeaf(label: label, device: device.keys).entry)
        try database.run(
            "INSERT INTO devices (account, number, signing_key, key_hash, leaf, added) VALUES (?, ?, ?, ?, ?, ?)",
            [account, device.number, key, Array(SHA256.hash(data: key)), leaf.bytes, added])
    }
}
