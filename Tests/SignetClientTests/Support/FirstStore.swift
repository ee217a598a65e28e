// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import KeyTransparency
import TransparencyLog

/// A store as version 1 of it was written, before there were epochs and histories.
enum FirstStore {
    static func write(to path: String, _ peer: PinnedPeer, _ view: LogView) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    PRAGMA application_id = 0x53474E54; PRAGMA user_version = 1;
                    CREATE TABLE pinned_peer (
                        handle BLOB PRIMARY KEY NOT NULL, identity_key BLOB NOT NULL, version INTEGER NOT NULL,
                        state_hash BLOB NOT NULL, devices BLOB NOT NULL, pinned_at INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE log_view (origin BLOB PRIMARY KEY NOT NULL, view BLOB NOT NULL) STRICT, WITHOUT ROWID;
                    CREATE TABLE evidence (
                        number INTEGER PRIMARY KEY AUTOINCREMENT, kept_at INTEGER NOT NULL, fault BLOB NOT NULL,
                        known BLOB NOT NULL, received BLOB NOT NULL, UNIQUE (fault, known, received)
                    ) STRICT;
                    CREATE TABLE person (handle BLOB PRIMARY KEY NOT NULL, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                    CREATE TABLE own_record (
                        one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1), pending BLOB,
                        highest_device_number INTEGER NOT NULL
                    ) STRICT;
                    """)
            try db.execute(
                sql: "INSERT INTO pinned_peer VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    Data(peer.handle.bytes), Data(peer.identityKey), Int64(bitPattern: peer.version),
                    Data(peer.stateHash), Data(peer.devices.flatMap(bytes)), Int64(bitPattern: peer.pinnedAt),
                ])
            let view = Data(bytes(view))
            try db.execute(sql: "INSERT INTO log_view VALUES (?, ?)", arguments: [origin, view])
            let fork = Data(big(2) + big(0) + big(0))
            try db.execute(
                sql: "INSERT INTO evidence (kept_at, fault, known, received) VALUES (1, ?, ?, ?)",
                arguments: [fork, view, view])
        }
        try queue.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// A store from the statements that make it.
    static func write(to path: String, dump: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in try db.execute(sql: dump) }
        try queue.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    private static let origin = Data("example.org/log".utf8)

    private static func bytes(_ device: PinnedDevice) -> [UInt8] {
        [UInt8(device.number >> 8), UInt8(device.number & 255)] + device.signingKey + device.keysHash
    }

    private static func bytes(_ view: LogView) -> [UInt8] {
        big(view.head.size) + view.head.root.bytes + [0, UInt8(origin.count)] + origin + view.note
    }

    private static func big(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(number >> (56 - 8 * $0) & 255) } }
}
