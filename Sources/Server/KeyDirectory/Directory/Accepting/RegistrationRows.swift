// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import SQLStores
import SignetAPI
import TransparencyLog
import VRF

/// The rows of new accounts that are written together: what `AccountRow`, `DeviceRow` and `DirectoryDatabase` write for one, in as few
/// statements for many.
enum RegistrationRows {
    typealias Outcome = AcceptanceQueue.Outcome

    /// Looks which of the accounts may be written, and writes these.
    ///
    /// - Returns: for each, in their order: its account; nil if the handle has one, maybe by this very state; `handleTaken` for a handle whose
    ///   account was erased; `keyInUse` if a device of another account, or of one before it here, has one of the keys.
    static func insert(
        _ registrations: [Registration], handsOver: Bool, in database: SQLTransaction
    ) throws -> [Outcome] {
        guard !registrations.isEmpty else { return [] }
        var known = try Known(registrations, in: database)
        var outcomes = registrations.map { registration in known.judge(registration) }
        let fresh = registrations.indices.filter { outcomes[$0] == nil }
        let accounts = try write(fresh.map { registrations[$0] }, handsOver: handsOver, in: database)
        for (place, account) in zip(fresh, accounts) { outcomes[place] = .success(account) }
        return outcomes.map { $0 ?? .failure(.database) }
    }

    /// What is taken: in the database, and by accounts before this one.
    private struct Known {
        private var handles: Set<[UInt8]>
        private let erased: Set<[UInt8]>
        private var keys: Set<[UInt8]>

        init(_ registrations: [Registration], in database: SQLTransaction) throws {
            func found(_ query: String, _ keys: [[UInt8]]) throws -> Set<[UInt8]> {
                Set(try database.rows(query, in: keys).map { try $0.bytes(0) })
            }
            handles = try found("SELECT handle FROM accounts WHERE handle IN", registrations.map(\.handle.bytes))
            erased = try found("SELECT label FROM erased WHERE label IN", registrations.map(\.index))
            keys = try found(
                "SELECT signing_key FROM devices WHERE revoked IS NULL AND signing_key IN",
                registrations.flatMap(\.devices).map(\.key))
        }

        /// The outcome of what is not written; nil if it is, and then its handle and keys are taken.
        mutating func judge(_ registration: Registration) -> Outcome? {
            if handles.contains(registration.handle.bytes) { return .success(nil) }
            if erased.contains(registration.index) { return .failure(.refused(.handleTaken)) }
            let own = registration.devices.map(\.key)
            guard Set(own).count == own.count, keys.isDisjoint(with: own) else { return .failure(.refused(.keyInUse)) }
            handles.insert(registration.handle.bytes)
            keys.formUnion(own)
            return nil
        }
    }

    private static func write(
        _ registrations: [Registration], handsOver: Bool, in database: SQLTransaction
    ) throws -> [AccountRow] {
        let accounts = try accounts(of: registrations, in: database)
        let written = Array(zip(accounts.map(\.id), registrations))
        try database.insert(
            into: "devices (account, number, signing_key, key_hash, leaf, added)",
            written.flatMap { account, registration in
                registration.devices.map { device in
                    [
                        account, device.number, device.key, device.keyHash, device.leaf.bytes,
                        Int64(clamping: registration.row.version),
                    ]
                }
            })
        let states = try database.insert(
            into: "states (account, \(StateRow.columns), statement, cards, time)",
            written.map { account, registration in registration.state(of: account) }, returning: "id")
        if handsOver {
            let waiting = try states.map { try $0.integer(0) }.sorted()
            try database.insert(into: "waiting (state)", waiting.map { [$0] })
        }
        try AuditEvent.registered.record(written.map { (account: $0, time: $1.time) }, in: database)
        return accounts
    }

    /// Their rows in `accounts`, which an engine may give back in any order.
    private static func accounts(
        of registrations: [Registration], in database: SQLTransaction
    ) throws -> [AccountRow] {
        let rows = try database.insert(
            into: "accounts (handle, vrf_hash, vrf_proof, label)",
            registrations.map { [$0.handle.bytes, $0.label.bytes, $0.proof.bytes, $0.index] }, returning: "handle, id")
        let numbers = Dictionary(try rows.map { (try $0.bytes(0), try $0.integer(1)) }) { first, _ in first }
        return try registrations.map { registration in
            guard let id = numbers[registration.handle.bytes] else { throw DamagedRow() }
            return AccountRow(id: id, registration)
        }
    }
}

extension Registration {
    /// Its label as the log shows it, 32 bytes.
    fileprivate var index: [UInt8] { LabelIndex(label).bytes }

    fileprivate func state(of account: Int64) -> SQLArguments {
        [
            account, Int64(clamping: row.version), Int(row.kind.rawValue), row.encoding, row.opening, row.leaf.bytes,
            signature.headerValue, cards, Int64(clamping: time),
        ]
    }
}
