// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import KeyTransparency
import SQLStores
import SignetAPI
import VRF

/// An account's row: its handle, and what the VRF made of it when it was registered.
struct AccountRow: Sendable {
    let id: Int64
    let handle: Handle
    let label: VRFHash
    let vrfProof: VRFProof
    /// Since when the operator refuses its requests, in seconds since 1970; nil if they are taken.
    let suspendedAt: UInt64?
    /// Since when the handle waits for another person, in seconds since 1970; nil if it is this account's.
    let releasedAt: UInt64?

    private static let columns = "SELECT id, handle, vrf_hash, vrf_proof, suspended, released FROM accounts"

    /// The account of a handle.
    static func find(_ handle: Handle, in database: SQLTransaction) throws -> AccountRow? {
        try database.row("\(columns) WHERE handle = ?", [handle.bytes]).map(AccountRow.init)
    }

    /// The rows behind the bytes of a handle, in their order, each with these bytes; nil for an account whose row is damaged.
    static func page(
        after start: [UInt8], count: Int, in database: SQLTransaction
    ) throws -> [(handle: [UInt8], account: AccountRow?)] {
        try database.rows("\(columns) WHERE handle > ? ORDER BY handle LIMIT ?", [start, count]).map {
            (try $0.bytes(1), try? AccountRow($0))
        }
    }

    /// The account with this number.
    static func find(id: Int64, in database: SQLTransaction) throws -> AccountRow? {
        try database.row("\(columns) WHERE id = ?", [id]).map(AccountRow.init)
    }

    private init(
        id: Int64, handle: Handle, label: VRFHash, vrfProof: VRFProof, suspendedAt: UInt64? = nil,
        releasedAt: UInt64? = nil
    ) {
        self.id = id
        self.handle = handle
        self.label = label
        self.vrfProof = vrfProof
        self.suspendedAt = suspendedAt
        self.releasedAt = releasedAt
    }

    /// The row of an account that was just written.
    init(id: Int64, _ registration: Registration) {
        self.init(id: id, handle: registration.handle, label: registration.label, vrfProof: registration.proof)
    }

    private init(_ row: SQLRow) throws {
        guard let label = VRFHash(try row.bytes(2)) else { throw DamagedRow() }
        self.init(
            id: try row.integer(0), handle: try Handle(canonical: row.bytes(1)), label: label,
            vrfProof: try VRFProof(row.bytes(3)),
            suspendedAt: try row.optionalInteger(4).map { UInt64(clamping: $0) },
            releasedAt: try row.optionalInteger(5).map { UInt64(clamping: $0) })
    }

    /// Writes the row of a new account.
    ///
    /// - Throws: `DirectoryError/refused(_:)` with `handleTaken`: the handle is registered, or was until it was erased.
    static func insert(
        _ handle: Handle, label: VRFHash, proof: VRFProof, in database: SQLTransaction
    ) throws -> AccountRow {
        let index = LabelIndex(label).bytes
        guard try find(handle, in: database) == nil,
            try database.row("SELECT 1 FROM erased WHERE label = ?", [index]) == nil
        else { throw DirectoryError.refused(.handleTaken) }
        let id = try database.insert(
            "INSERT INTO accounts (handle, vrf_hash, vrf_proof, label) VALUES (?, ?, ?, ?)",
            [handle.bytes, label.bytes, proof.bytes, index])
        return AccountRow(id: id, handle: handle, label: label, vrfProof: proof)
    }
}
